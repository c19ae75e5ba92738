package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"larder.local/internal/redisdb"
	"larder.local/ordering"
)

const (
	// probeEvery is the interval of test writes while replicas do not acknowledge.
	probeEvery = time.Second
	// detectTimeout limits the wait for the first acknowledgement of a replica.
	detectTimeout = 500 * time.Millisecond
	// infoTimeout limits one check of Redis's settings and replicas.
	infoTimeout = 2 * time.Second
	// retrySilent and retrySettings are the Retry-After times of errors. The first is for Redis or
	// replicas that do not respond, the second for settings that a person must change.
	retrySilent   = 5 * time.Second
	retrySettings = time.Minute
)

// durability makes sure that Redis keeps what it acknowledges (policies O14 and O14b). It checks the settings of Redis, and
// commits transactions with as many replicas as required.
type durability struct {
	cfg      *ordering.Config
	embedded bool // Redis is inside the process
	store    *store
	history  *history

	flight   singleflight.Group // for reading the settings
	mu       sync.Mutex
	observed map[string]observed // by connection
}

// observed is what this instance knows of the Redis with a connection's records, and of its replicas.
type observed struct {
	facts  facts // what Redis has said about itself
	readAt time.Time
	// failing is true if the last WAIT was not acknowledged. No call is opened until a probe is.
	failing bool
	probing bool
	probed  time.Time
	// confirmed is true once as many replicas as required have acknowledged a write of this process.
	confirmed bool
	// waitRefused is how Redis refused the last WAIT, such as NOPERM (policy O14b).
	waitRefused string
}

// known returns what is known of the Redis with a connection's records.
func (d *durability) known(connection string) (known observed) {
	d.note(connection, func(o *observed) { known = *o })
	return known
}

// note changes what is known of the Redis with a connection's records.
func (d *durability) note(connection string, change func(o *observed)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.observed[connection]
	change(&o)
	d.observed[connection] = o
}

// required returns how many replicas must acknowledge a commit (policy O14).
func (d *durability) required(connection string) int {
	return required(d.cfg, d.history.state(connection).known())
}

func required(cfg *ordering.Config, r remembered) int {
	switch {
	case cfg.WaitReplicas != nil:
		return *cfg.WaitReplicas
	case r.replicated:
		return 1
	default:
		return 0
	}
}

// waits reports whether orders may have to wait for replicas: no operator has turned that off.
func (d *durability) waits() bool { return d.cfg.WaitReplicas == nil || *d.cfg.WaitReplicas > 0 }

// commit commits a transaction, waits until as many replicas have it as policy O14 requires, and
// returns the new state of the order. With errReplicas the change is made and the order returned,
// but too few replicas have acknowledged it in time.
//
// While replicas do not acknowledge, commit does not wait for them: it would delay the results of other
// orders. The caller repeats the change later (policy O14).
func (d *durability) commit(ctx context.Context, c *tx) (*order, error) {
	wait := d.required(c.connection())
	if wait > 0 && d.recovered(ctx, c.connection()) != nil {
		o, err := d.store.apply(ctx, c)
		return o, cmp.Or(err, errReplicas)
	}
	o, err := d.commitTo(ctx, c, wait)
	if err != nil || o.revision == "" || d.required(o.Connection) <= wait {
		return o, err
	}
	// Another instance has seen a replica in the meantime. WAIT covers only writes of its own
	// connection, so write again.
	switch _, err = d.commitTo(ctx, d.store.newTx(o), d.required(o.Connection)); {
	case errors.Is(err, errMoved):
		err = fmt.Errorf("%w: the order was changed concurrently", errReplicas)
	case err != nil:
		err = errors.Join(errReplicas, err) // the first commit is written
	}
	return o, err
}

// commitTo commits a transaction to a number of replicas.
func (d *durability) commitTo(ctx context.Context, c *tx, wait int) (*order, error) {
	o, r, err := d.store.commit(ctx, c, wait, d.cfg.WaitTimeout)
	d.note(c.connection(), func(known *observed) {
		if r.acknowledged >= 0 {
			known.waitRefused = r.waitRefused
		}
		if err != nil || wait == 0 {
			return
		}
		if known.failing = r.acknowledged < wait; known.failing {
			known.probed = time.Now()
			err = fmt.Errorf("%w: %d of %d", errReplicas, r.acknowledged, wait)
		} else {
			known.confirmed = true
		}
	})
	return o, err
}

// recovered returns nil unless the last WAIT failed. In that case it writes a probe, at most once per second
// and with single flight. No call is opened until replicas acknowledge a probe (policy O14).
func (d *durability) recovered(ctx context.Context, connection string) error {
	failing, mine := false, false
	d.note(connection, func(known *observed) {
		failing = known.failing
		if mine = failing && !known.probing && time.Since(known.probed) >= probeEvery; mine {
			known.probing, known.probed = true, time.Now() // even if Redis fails and WAIT is not reached
		}
	})
	if !failing {
		return nil
	}
	if mine {
		err := d.probe(ctx, connection)
		d.note(connection, func(known *observed) { known.probing = false })
		if err == nil {
			return nil
		}
	}
	return d.missingReplicas(connection)
}

// probe makes a write and waits until enough replicas have it.
func (d *durability) probe(ctx context.Context, connection string) error {
	_, err := d.commitTo(ctx, d.store.blank(connection, modeProbe), d.required(connection))
	return err
}

// acknowledged returns nil if as many replicas as the rule requires acknowledge a write now. So Redis is no former
// master that lacks what its successor has.
func (d *durability) acknowledged(ctx context.Context, connection string) error {
	if d.required(connection) == 0 {
		return nil
	}
	err := d.recovered(ctx, connection)
	if err == nil {
		err = d.probe(ctx, connection)
	}
	if errors.Is(err, errReplicas) {
		err = d.missingReplicas(connection)
	}
	return err
}

// detect finds out whether a replica acknowledges writes. The first acknowledgement enables the
// replica rule permanently (policy O14). A replica that is only connected does not count: it may be
// copying the data for the first time, or be a backup program.
func (d *durability) detect(ctx context.Context, connection string) error {
	r, err := d.store.run(ctx, d.store.blank(connection, modeProbe), 1, detectTimeout)
	if r.acknowledged >= 0 {
		d.note(connection, func(known *observed) { known.waitRefused = r.waitRefused })
	}
	if err != nil || r.acknowledged < 1 {
		return err
	}
	return d.probe(ctx, connection) // stores the rule, also in the replica
}

// checkSettings reads the settings of the Redis server that has the connection's records. It
// detects whether writes must wait for replicas, and caches the result.
func (d *durability) checkSettings(ctx context.Context, connection string) error {
	at := time.Now()
	f, err := d.readFacts(ctx, connection)
	if err != nil {
		return unreachable(err)
	}
	if f.refused == "" { // without scripts, nothing else can be asked
		_, err = d.store.readPause(ctx, connection) // learns whether a replica ever acknowledged a write
		switch format, other := errors.AsType[*ordering.FormatError](err); {
		case other:
			notReady := &ordering.NotReadyError{Msg: format.Msg(), RetryAfter: retrySettings, Err: format}
			if more, ok := errors.AsType[*ordering.NotReadyError](d.durabilityError(f, connection, nil)); ok {
				notReady.Msg += ". Also: " + more.Msg
			}
			return notReady
		case err != nil:
			return unreachable(err)
		}
		if err := d.confirm(ctx, connection, f); err != nil && !errors.Is(err, errReplicas) {
			if redisdb.RefusedCommand(err) == "" {
				return unreachable(err)
			}
			f.refused = redisdb.RefusedText(d.store.prefix, err) // with the other faults
		}
		if !d.history.state(connection).known().replicated && !d.embedded {
			at = at.Add(probeEvery - trustedFor) // check again soon: the first replica may connect at any time
		}
	}
	d.note(connection, func(known *observed) { known.facts, known.readAt = f, at })
	return nil
}

// confirm makes a test write if WAIT must still show that enough replicas acknowledge writes, or whether any
// does. With errReplicas too few have acknowledged it.
func (d *durability) confirm(ctx context.Context, connection string, f facts) error {
	required := d.required(connection)
	switch known := d.known(connection); {
	case d.embedded || f.waitRefused != "":
		return nil
	case required > 0 && !known.failing && (!known.confirmed || f.online() < required):
		return d.probe(ctx, connection)
	case !d.history.state(connection).known().replicated && f.attached() > 0:
		return d.detect(ctx, connection)
	}
	return nil
}

func unreachable(err error) error {
	return &ordering.NotReadyError{Msg: "Redis " + redisdb.SafeText(err), RetryAfter: retrySilent, Err: err}
}
