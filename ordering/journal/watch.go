package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"larder.local/ordering"
)

// Ready returns nil if a new order of the connection can be stored durably, otherwise a
// *ordering.NotReadyError (policy O14). It caches the result of the check for five seconds. While
// no replica has been seen, it caches the result for one second. If Redis did not respond, the next
// call checks again. The result is no guarantee: Begin ensures that every sent order has a record.
func (j *Journal) Ready(ctx context.Context, connection string) error {
	d := j.durability
	known := d.known(connection)
	if time.Since(known.readAt) >= trustedFor {
		asked := d.flight.DoChan("ready "+connection, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), infoTimeout+d.cfg.WaitTimeout)
			defer cancel()
			return nil, d.checkSettings(ctx, connection)
		})
		select {
		case <-ctx.Done():
			return unreachable(ctx.Err())
		case answer := <-asked:
			if answer.Err != nil {
				return answer.Err
			}
			known = d.known(connection)
		}
	}
	return d.durabilityError(known.facts, connection, d.recovered(ctx, connection))
}

// keptPredecessors is the number of replaced epochs that Redis keeps. An instance that remembers an
// older epoch pauses orders again.
const keptPredecessors = 32

// Watch compares the commits that this instance remembers with those in Redis. It pauses orders
// if Redis was restored (policy O14a), and learns the commits of other instances. It also makes a
// test write if replicas do not acknowledge (policy O14). Every instance calls it regularly.
func (j *Journal) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := j.history.state(connection)
	defer j.history.save(connection, s) // even if Redis does not respond
	ready := j.Ready(ctx, connection)   // detects whether writes must wait for replicas
	if err := j.watchState(ctx, s, connection); err != nil {
		return ordering.JournalHealth{}, failed("watch", connection, err)
	}
	if !j.healthOf(connection).PausedAt.IsZero() && j.history.restoreAccepted() {
		if err := j.autoAccept(ctx, connection); err != nil {
			return ordering.JournalHealth{}, err
		}
	}
	health := j.healthOf(connection)
	s.mu.Lock()
	health.Accepted, s.accepted = s.accepted, false
	s.mu.Unlock()
	notReady, ok := errors.AsType[*ordering.NotReadyError](ready)
	switch {
	case !ok, errors.Is(ready, errReplicas): // JournalHealth.Failing shows the latter
		return health, nil
	case notReady.Err == nil:
		health.NotReady = notReady.Msg
		return health, nil
	default:
		return health, ready // Redis does not answer
	}
}

// Paused compares as Watch does, and returns since when orders are paused. The time is zero if they are not, or if lost
// commits are accepted automatically. It returns *NotReadyError if too few replicas acknowledge a write: a former
// master lacks records that its successor has.
func (j *Journal) Paused(ctx context.Context, connection string) (time.Time, error) {
	if err := j.durability.acknowledged(ctx, connection); err != nil {
		return time.Time{}, failed("watch", connection, err)
	}
	r, err := j.store.run(ctx, j.store.blank(connection, modeWatch), 0, 0)
	if err != nil || j.history.restoreAccepted() {
		return time.Time{}, failed("watch", connection, err)
	}
	return r.pausedAt, nil
}

func (j *Journal) watchState(ctx context.Context, s *state, connection string) error {
	known, required := s.known(), j.durability.required(connection)
	r, err := j.store.run(ctx, j.store.blank(connection, modeWatch), 0, 0)
	if err != nil || required == 0 || r.mark == known.Mark && r.epoch == known.Epoch {
		return err
	}
	// Other instances have committed. Remember their mark only after enough replicas have a write.
	if err = j.durability.acknowledged(ctx, connection); errors.Is(err, errReplicas) {
		return nil // the mark is not remembered yet; JournalHealth.Failing shows this
	}
	return err
}

// Health returns the current health of the journal. Unlike Watch, it does not compare commits.
func (j *Journal) Health(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	pausedAt, err := j.store.readPause(ctx, connection)
	if err != nil {
		return ordering.JournalHealth{}, err
	}
	h := j.healthOf(connection)
	if !pausedAt.IsZero() {
		h.PausedAt = pausedAt
	}
	return h, nil
}

// readPause reads since when orders are paused, and learns whether a replica ever acknowledged a write.
func (s *store) readPause(ctx context.Context, connection string) (time.Time, error) {
	err := s.checkFormat(ctx, connection)
	kept := s.write.HMGet(ctx, s.keys.JournalState(connection), "paused", "replicated")
	if err = cmp.Or(err, kept.Err()); err != nil {
		return time.Time{}, failed("health", connection, err)
	}
	paused, _ := kept.Val()[0].(string)
	state := s.history.state(connection)
	state.mu.Lock()
	defer state.mu.Unlock()
	state.replicated = state.replicated || kept.Val()[1] == any(yes)
	return pausedSince(paused), nil
}

// healthOf returns what this instance knows of the journal's health.
func (j *Journal) healthOf(connection string) ordering.JournalHealth {
	known := j.durability.known(connection)
	s := j.history.state(connection)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ordering.JournalHealth{
		Replicas:   required(j.store.cfg, s.remembered),
		Automatic:  j.store.cfg.WaitReplicas == nil,
		Seen:       s.replicated,
		Embedded:   j.durability.embedded,
		Attached:   known.facts.attached(),
		Failing:    known.failing,
		Durability: j.durability.durabilityText(known.facts),
		PausedAt:   s.pausedAt,
		Missing:    s.missing,
	}
}

// Accept accepts the records that Redis has now. It ends the pause with a new epoch (policy O14a).
func (j *Journal) Accept(ctx context.Context, connection string) (bool, error) {
	s := j.history.state(connection)
	keys := []string{j.store.keys.JournalState(connection), j.store.keys.Orders(connection)}
	accepted, err := acceptScript.Run(ctx, j.store.write, keys, rand.Text(), s.known().Epoch, keptPredecessors).Bool()
	if err != nil {
		return false, failed("accept", connection, err)
	}
	_, _ = j.store.run(ctx, j.store.blank(connection, modeWatch), 0, 0) // learns the epoch; if it fails, the next Watch does
	return accepted, nil
}

// autoAccept calls Accept without an operator (ordering.accept_restore). The next Watch reports it.
func (j *Journal) autoAccept(ctx context.Context, connection string) error {
	accepted, err := j.Accept(ctx, connection)
	s := j.history.state(connection)
	s.mu.Lock()
	s.accepted = s.accepted || accepted
	s.mu.Unlock()
	return err
}

// orAccept calls change. If the journal was restored and ordering.accept_restore allows it, it
// accepts the restore and calls change again.
func orAccept[T any](ctx context.Context, j *Journal, connection string, change func() (T, error)) (T, error) {
	result, err := change()
	if !is[*ordering.RestoredError](err) || !j.history.restoreAccepted() {
		return result, err
	}
	if err = j.autoAccept(ctx, connection); err != nil {
		return result, err
	}
	return change()
}
