package ordering

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

const (
	// watchEvery is how often each connection's journal is watched, and late
	// results are written.
	watchEvery = time.Second
	// watchLimit bounds one look, watchAtOnce how many connections are looked at
	// together.
	watchLimit  = 3 * time.Second
	watchAtOnce = 16
)

// Health returns what is known of a connection's journal; false before it was
// watched for the first time.
func (o *Orders) Health(connection string) (JournalHealth, bool) {
	found, watched := o.health.Load(connection)
	health, _ := found.(JournalHealth)
	return health, watched
}

// watchAll looks at the journal of every connection.
func (o *Orders) watchAll(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(watchAtOnce)
	for _, connection := range o.deps.Connections() {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, watchLimit)
			defer cancel()
			_ = o.Watch(limited, connection) // a Redis that does not answer is reported elsewhere
			return nil
		})
	}
	_ = group.Wait()
}

// Watch looks at the journal of a connection, and logs what has changed
// (policies O14 and O14a).
func (o *Orders) Watch(ctx context.Context, connection string) error {
	now, err := o.deps.Journal.Watch(ctx, connection)
	if err != nil {
		return err
	}
	before, watched := o.health.Swap(connection, now)
	last, _ := before.(JournalHealth)
	logEvent := func(level logrus.Level, event, msg string) {
		o.log.WithFields(logrus.Fields{"event": event, "connection": connection}).Log(level, msg)
	}
	emit := func(level logrus.Level, event, msg string) {
		logEvent(level, event, msg)
		o.deps.Observe(Event{Name: event, Record: Record{Connection: connection}, At: o.deps.Clock()})
	}
	if !watched || last.Replicas != now.Replicas {
		level := logrus.InfoLevel
		if now.Seen && now.Replicas == 0 {
			level = logrus.WarnLevel
		}
		logEvent(level, "journal.rule", now.Rule())
	}
	if now.Failing != last.Failing {
		if now.Failing {
			logEvent(logrus.ErrorLevel, "journal.replicas_missing",
				"too few replicas of Redis acknowledge orders: no orders are placed until they do")
		} else {
			logEvent(logrus.InfoLevel, "journal.replicas_back", "the replicas of Redis acknowledge orders again")
		}
	}
	if now.Missing > last.Missing {
		emit(logrus.ErrorLevel, "journal.commits_lost", "Redis has lost changes of orders (ordering.wait_replicas is 0): "+
			"orders may be forgotten, and doubled when they are sent again")
	}
	switch paused, was := !now.PausedAt.IsZero(), !last.PausedAt.IsZero(); {
	case now.Accepted:
		emit(logrus.WarnLevel, "journal.accepted", "Redis was restored or has lost its data: accepted (ordering.accept_restore)")
	case paused && !was:
		emit(logrus.ErrorLevel, "journal.restored", "Redis was restored or has lost orders: new orders are paused on all instances "+
			"until an operator accepts the journal (larder order accept-restore)")
	case was && !paused:
		emit(logrus.WarnLevel, "journal.accepted", "the restored journal was accepted: orders are placed again")
	}
	return nil
}

// AcceptRestore ends the pause of a connection's creates, and reports whether
// there was one (policy O14a).
func (o *Orders) AcceptRestore(ctx context.Context, connection string) (bool, error) {
	accepted, err := o.deps.Journal.Accept(ctx, connection)
	if err == nil {
		_ = o.Watch(ctx, connection) // shows it at once; otherwise the next look does
	}
	return accepted, err
}

// Rule returns, for a person, which rule of replicas applies, and what a failover of
// Redis can lose (policy O14).
func (h JournalHealth) Rule() string {
	switch {
	case h.Replicas == 0 && h.Seen:
		return "orders wait for no replica of Redis, as ordering.wait_replicas says, although it has one: " +
			"a failover can lose orders that were acknowledged"
	case h.Replicas == 0 && h.Automatic:
		return "no replica of Redis has ever acknowledged a write, so orders wait for none: " +
			"nothing takes over without a replica, and what its disk loses is lost"
	case h.Replicas == 0:
		return "orders wait for no replica of Redis, as ordering.wait_replicas says"
	case h.Automatic:
		return "each change of an order waits for one replica of Redis (automatic, a replica has acknowledged writes): " +
			"a failover loses nothing while a replica that has acknowledged can take over"
	default:
		return "each change of an order waits for as many replicas of Redis as ordering.wait_replicas says: " +
			"a failover loses nothing while a replica that has acknowledged can take over"
	}
}
