package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"larder/internal/redisdb"
	"larder/ordering"
)

const (
	// infoTimeout limits one check of Redis's settings and replicas.
	infoTimeout = 2 * time.Second
	// retrySilent and retrySettings are the Retry-After times of errors. The first is for Redis or
	// replicas that do not respond, the second for settings that a person must change.
	retrySilent   = 5 * time.Second
	retrySettings = time.Minute
)

// guard checks whether Redis can store orders durably. It checks the settings and replicas of Redis
// (policies O14 and O14b), and whether Redis was restored from a backup or lost orders (policy O14a).
type guard struct {
	*writer

	flight singleflight.Group // for reading the settings
}

// Ready returns nil if a new order of the connection can be stored durably, otherwise a
// *ordering.NotReadyError (policy O14). It caches the result of the check for five seconds. While
// no replica has been seen, it caches the result for one second. If Redis did not respond, the next
// call checks again. The result is no guarantee: Begin ensures that every sent order has a record.
func (g *guard) Ready(ctx context.Context, connection string) error {
	s := g.state(connection)
	s.mu.Lock()
	known, readAt := s.facts, s.settingsReadAt
	s.mu.Unlock()
	if time.Since(readAt) >= trustedFor {
		asked := g.flight.DoChan("ready "+connection, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), infoTimeout+g.cfg.WaitTimeout)
			defer cancel()
			return g.checkSettings(ctx, connection)
		})
		select {
		case <-ctx.Done():
			return unreachable(ctx.Err())
		case answer := <-asked:
			if answer.Err != nil {
				return answer.Err
			}
			known, _ = answer.Val.(facts)
		}
	}
	return g.durabilityError(known, s.known(), g.recovered(ctx, connection))
}

// checkSettings reads the settings of the Redis server that has the connection's records. It
// detects whether writes must wait for replicas, and caches the result.
func (g *guard) checkSettings(ctx context.Context, connection string) (facts, error) {
	at, s := time.Now(), g.state(connection)
	f, err := g.readFacts(ctx, connection)
	if err != nil {
		return f, unreachable(err)
	}
	if f.refused == "" { // without scripts, nothing else can be asked
		_, err = g.Health(ctx, connection) // learns whether a replica ever acknowledged a write
		switch format, other := errors.AsType[*ordering.FormatError](err); {
		case other:
			return f, &ordering.NotReadyError{Msg: format.Msg(), RetryAfter: retrySettings, Err: format}
		case err != nil:
			return f, unreachable(err)
		}
		if err := g.confirm(ctx, connection, f); err != nil && !errors.Is(err, errReplicas) {
			if redisdb.RefusedCommand(err) == "" {
				return f, unreachable(err)
			}
			f.refused = redisdb.SafeText(redisdb.AsRefused(err)) // with the other faults
		}
		if !s.known().replicated && !g.embedded {
			at = at.Add(probeEvery - trustedFor) // check again soon: the first replica may connect at any time
		}
	}
	s.mu.Lock()
	s.facts, s.settingsReadAt = f, at
	s.mu.Unlock()
	return f, nil
}

// confirm makes a test write if WAIT must still show that enough replicas acknowledge writes, or whether any
// does. With errReplicas too few have acknowledged it.
func (g *guard) confirm(ctx context.Context, connection string, f facts) error {
	known, required := g.state(connection).known(), g.required(connection)
	switch {
	case g.embedded || f.waitRefused != "":
		return nil
	case required > 0 && !known.failing && (!known.confirmed || f.online() < required):
		return g.probe(ctx, connection)
	case !known.replicated && f.attached() > 0:
		return g.detect(ctx, connection)
	}
	return nil
}

func unreachable(err error) error {
	return &ordering.NotReadyError{Msg: "Redis " + redisdb.SafeText(err), RetryAfter: retrySilent, Err: err}
}

// keptPredecessors is the number of replaced epochs that Redis keeps. An instance that remembers an
// older epoch pauses new orders again.
const keptPredecessors = 32

// Watch compares the commits that this instance remembers with those in Redis. It pauses new orders
// if Redis was restored (policy O14a), and learns the commits of other instances. It also makes a
// test write if replicas do not acknowledge (policy O14). Every instance calls it regularly.
func (g *guard) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	defer g.save(connection, s)       // even if Redis does not respond
	ready := g.Ready(ctx, connection) // detects whether writes must wait for replicas
	if err := g.watchState(ctx, s, connection); err != nil {
		return ordering.JournalHealth{}, failed("watch", connection, err)
	}
	if !g.healthOf(s).PausedAt.IsZero() && g.restoreAccepted() {
		if err := g.autoAccept(ctx, connection); err != nil {
			return ordering.JournalHealth{}, err
		}
	}
	health := g.healthOf(s)
	var notReady *ordering.NotReadyError
	if errors.As(ready, &notReady) && notReady.Err == nil {
		health.NotReady = notReady.Msg
	}
	s.mu.Lock()
	health.Accepted, s.accepted = s.accepted, false
	s.mu.Unlock()
	if notReady != nil && notReady.Err != nil && !errors.Is(ready, errReplicas) {
		return health, ready // Redis does not answer
	}
	return health, nil
}

func (g *guard) watchState(ctx context.Context, s *state, connection string) error {
	known, required := s.known(), g.required(connection)
	r, _, err := g.run(ctx, g.blank(connection, modeWatch), 0, 0)
	if err != nil || required == 0 || r.mark == known.Mark && r.epoch == known.Epoch {
		return err
	}
	// Other instances have committed. Remember their mark only after enough replicas have a write.
	if err = g.recovered(ctx, connection); err == nil {
		err = g.probe(ctx, connection)
	}
	if errors.Is(err, errReplicas) {
		return nil // the mark is not remembered yet; JournalHealth.Failing shows this
	}
	return err
}

// Health returns the current health of the journal. Unlike Watch, it does not compare commits.
func (g *guard) Health(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	var kept struct {
		Paused     string `redis:"paused"`
		Replicated string `redis:"replicated"`
	}
	if err := g.checkFormat(ctx, connection); err != nil {
		return ordering.JournalHealth{}, failed("health", connection, err)
	}
	reply := g.write.HMGet(ctx, g.keys.JournalState(connection), "paused", "replicated")
	if err := reply.Scan(&kept); err != nil {
		return ordering.JournalHealth{}, failed("health", connection, err)
	}
	s.mu.Lock()
	s.replicated = s.replicated || kept.Replicated == yes
	s.mu.Unlock()
	h := g.healthOf(s)
	if kept.Paused != "" {
		h.PausedAt = pausedSince(kept.Paused)
	}
	return h, nil
}

// Accept accepts the records that Redis has now. It ends the pause with a new epoch (policy O14a).
func (g *guard) Accept(ctx context.Context, connection string) (bool, error) {
	s := g.state(connection)
	keys := []string{g.keys.JournalState(connection), g.keys.Orders(connection)}
	accepted, err := acceptScript.Run(ctx, g.write, keys, rand.Text(), s.known().Epoch, keptPredecessors).Bool()
	if err != nil {
		return false, failed("accept", connection, err)
	}
	_, _, _ = g.run(ctx, g.blank(connection, modeWatch), 0, 0) // learns the epoch; if it fails, the next Watch does
	return accepted, nil
}

// autoAccept calls Accept without an operator (ordering.accept_restore). The next Watch reports it.
func (g *guard) autoAccept(ctx context.Context, connection string) error {
	accepted, err := g.Accept(ctx, connection)
	s := g.state(connection)
	s.mu.Lock()
	s.accepted = s.accepted || accepted
	s.mu.Unlock()
	return err
}

// orAccept calls change. If the journal was restored and ordering.accept_restore allows it, it
// accepts the restore and calls change again.
func (g *guard) orAccept(ctx context.Context, connection string, change func() error) error {
	err := change()
	if !is[*ordering.RestoredError](err) || !g.restoreAccepted() {
		return err
	}
	if err = g.autoAccept(ctx, connection); err == nil {
		err = change()
	}
	return err
}
