package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

const (
	// watchEvery is the interval at which each journal is watched and pending results are written.
	watchEvery = time.Second
	// watchLimit limits one Watch; watchAtOnce is the number of connections watched concurrently.
	watchLimit  = 3 * time.Second
	watchAtOnce = 16
)

// Health returns the health of a connection's journal; ok is false before the first Watch.
func (o *Orders) Health(connection string) (JournalHealth, bool) {
	found, watched := o.health.Load(connection)
	health, _ := found.(JournalHealth)
	return health, watched
}

func (o *Orders) watchAll(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(watchAtOnce)
	for _, connection := range o.deps.Connections() {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, watchLimit)
			defer cancel()
			_ = o.Watch(limited, connection) // an unreachable Redis is reported elsewhere
			return nil
		})
	}
	_ = group.Wait()
}

// Watch checks the journal of a connection and logs changes of its health (policies O14 and O14a).
func (o *Orders) Watch(ctx context.Context, connection string) error {
	now, err := o.deps.Journal.Watch(ctx, connection)
	format, unreadable := errors.AsType[*FormatError](err)
	if err != nil && !unreadable {
		return err
	}
	now.Unreadable = unreadable
	before, watched := o.health.Swap(connection, now)
	last, _ := before.(JournalHealth)
	logEvent := func(level logrus.Level, event, msg string) {
		o.log.WithFields(logrus.Fields{"event": event, "connection": connection}).Log(level, msg)
	}
	emit := func(level logrus.Level, event, msg string) {
		logEvent(level, event, msg)
		o.deps.Observe(event, connection)
	}
	switch {
	case unreadable && !last.Unreadable:
		emit(logrus.ErrorLevel, "journal.format", format.Msg())
	case last.Unreadable && !unreadable:
		logEvent(logrus.InfoLevel, "journal.readable", "the order records can be read again")
	}
	if unreadable {
		return err
	}
	if rule := now.Rule(); rule != "" && !now.Embedded && (!watched || last.Rule() != rule) {
		level := logrus.InfoLevel
		if now.Replicas == 0 && (now.Seen || now.Attached > 0) {
			level = logrus.WarnLevel
		}
		logEvent(level, "journal.rule", rule)
	}
	if watched && now.NotReady != "" && now.NotReady != last.NotReady { // the daemon logs it at the start
		logEvent(logrus.WarnLevel, "order.not_ready", "no orders are placed: "+now.NotReady)
	}
	if now.Failing != last.Failing {
		if now.Failing {
			logEvent(logrus.ErrorLevel, "journal.replicas_missing",
				"too few replicas of Redis acknowledge writes: new orders are rejected until enough do")
		} else {
			logEvent(logrus.InfoLevel, "journal.replicas_back", "enough replicas of Redis acknowledge writes again")
		}
	}
	if now.Missing > last.Missing {
		emit(logrus.ErrorLevel, "journal.commits_lost", "Redis has lost changes of orders (ordering.wait_replicas is 0): "+
			"records of orders may be missing, and retried requests may create duplicate orders")
	}
	switch paused, was := !now.PausedAt.IsZero(), !last.PausedAt.IsZero(); {
	case now.Accepted:
		emit(logrus.WarnLevel, "journal.accepted", "Redis was restored or has lost its data; this was accepted (ordering.accept_restore)")
	case paused && !was:
		emit(logrus.ErrorLevel, "journal.restored", "Redis was restored or has lost orders: orders are paused on all instances "+
			"until an operator has looked for what is lost (docs/runbook/LarderJournalRestored.md) and accepts that: "+
			"larder order accept-restore")
	case was && !paused:
		emit(logrus.WarnLevel, "journal.accepted",
			"orders are possible again: an operator has accepted the journal, or Redis has the lost orders again")
	}
	return nil
}

// AcceptRestore ends the pause of a connection's orders, and reports whether there was one (policy O14a).
func (o *Orders) AcceptRestore(ctx context.Context, connection string) (bool, error) {
	accepted, err := o.deps.Journal.Accept(ctx, connection)
	if err == nil {
		_ = o.Watch(ctx, connection) // otherwise the next watch updates the health
	}
	return accepted, err
}

// Rule describes the replica rule that applies and what a failover of Redis can lose (policy O14). It is "" while the settings
// of Redis prevent orders: what they would wait for may not be known.
func (h JournalHealth) Rule() string {
	switch {
	case h.NotReady != "":
		return ""
	case h.Durability != "":
		return h.replicaRule() + "; " + h.Durability
	default:
		return h.replicaRule()
	}
}

func (h JournalHealth) replicaRule() string {
	const loses = ": a failover can lose orders that were acknowledged"
	switch {
	case h.Replicas == 0 && h.Automatic && h.Attached > 0:
		return "orders do not wait for a replica, because no replica of Redis has ever acknowledged a write, although " +
			AttachedText(h.Attached) + loses
	case h.Replicas == 0 && h.Automatic:
		return "orders do not wait for a replica, because no replica of Redis has ever acknowledged a write (" +
			AttachedText(h.Attached) + "): if it has hidden ones, a failover can lose orders"
	case h.Replicas == 0 && (h.Seen || h.Attached > 0):
		return "orders do not wait for a replica (ordering.wait_replicas is 0), although Redis has one" + loses
	case h.Replicas == 0:
		return "orders do not wait for a replica of Redis (ordering.wait_replicas is 0; " + AttachedText(h.Attached) + ")"
	case h.Automatic:
		return "each change of an order waits for one replica of Redis (automatic, because a replica has acknowledged writes): " +
			"a failover to a replica that has acknowledged loses nothing"
	default:
		return "each change of an order waits for ordering.wait_replicas replicas of Redis: " +
			"a failover to a replica that has acknowledged loses nothing"
	}
}

// AttachedText returns how many replicas Redis reports as attached; -1 is an unknown number.
func AttachedText(n int) string {
	switch n {
	case -1:
		return "it is not known how many replicas are attached"
	case 0:
		return "Redis reports no replica"
	case 1:
		return "1 replica is attached"
	default:
		return fmt.Sprintf("%d replicas are attached", n)
	}
}
