package journal

import (
	"context"
	"crypto/rand"
	"errors"

	"larder/ordering"
)

// keptPredecessors is how many replaced epochs are kept: an instance that was
// away for more acceptances than these pauses once more.
const keptPredecessors = 32

// Watch compares what this instance remembers with Redis (policy O14a): every
// instance pauses a restored journal, also one that places nothing, and knows
// what the others have committed. It also probes replicas that do not
// acknowledge (policy O14).
func (j *Journal) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := j.state(connection)
	defer j.save(connection, s)       // also when Redis does not answer: what is remembered is known
	ready := j.Ready(ctx, connection) // finds out which rule of replicas applies
	if err := j.watchState(ctx, s, connection); err != nil {
		return ordering.JournalHealth{}, failed("watch", err)
	}
	if !j.healthOf(s).PausedAt.IsZero() && j.cfg.RestoreAccepted() {
		if err := j.autoAccept(ctx, connection); err != nil {
			return ordering.JournalHealth{}, err
		}
	}
	health := j.healthOf(s)
	s.mu.Lock()
	health.Accepted, s.accepted = s.accepted, false
	s.mu.Unlock()
	var notReady *ordering.NotReadyError
	if errors.As(ready, &notReady) && notReady.Err != nil && !errors.Is(ready, ErrReplicas) {
		return health, ready // Redis does not answer
	}
	return health, nil
}

func (j *Journal) watchState(ctx context.Context, s *state, connection string) error {
	known, required := s.known(), j.required(s)
	r, _, err := j.run(ctx, j.blank(connection, modeWatch), 0, 0)
	if err != nil || required == 0 || r.mark == known.Mark && r.epoch == known.Epoch {
		return err
	}
	// Others have committed. A mark is remembered when enough replicas have it,
	// which takes a write.
	if err = j.recovered(ctx, connection); err == nil {
		err = j.probe(ctx, connection)
	}
	if errors.Is(err, ErrReplicas) {
		return nil // it is not remembered yet, which health says
	}
	return err
}

// Health returns what Watch returns, without comparing anything.
func (j *Journal) Health(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := j.state(connection)
	var kept struct {
		Paused     string `redis:"paused"`
		Replicated string `redis:"replicated"`
	}
	if err := j.write.HMGet(ctx, j.keys.JournalState(connection), "paused", "replicated").Scan(&kept); err != nil {
		return ordering.JournalHealth{}, failed("health", err)
	}
	s.mu.Lock()
	s.replicated = s.replicated || kept.Replicated == yes
	s.mu.Unlock()
	h := j.healthOf(s)
	if kept.Paused != "" {
		h.PausedAt = pausedSince(kept.Paused)
	}
	return h, nil
}

func (j *Journal) healthOf(s *state) ordering.JournalHealth {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ordering.JournalHealth{
		Replicas: j.rule(s.remembered), Automatic: j.cfg.WaitReplicas == nil, Seen: s.replicated,
		Failing: s.failing, PausedAt: s.pausedAt, Missing: s.missing,
	}
}

// Accept makes the records as Redis has them the start of a new epoch, and ends
// the pause (policy O14a).
func (j *Journal) Accept(ctx context.Context, connection string) (bool, error) {
	s := j.state(connection)
	keys := []string{j.keys.JournalState(connection)}
	accepted, err := acceptScript.Run(ctx, j.write, keys, rand.Text(), s.known().Epoch, keptPredecessors).Bool()
	if err != nil {
		return false, failed("accept", err)
	}
	_, _, _ = j.run(ctx, j.blank(connection, modeWatch), 0, 0) // adopt it now; otherwise the next Watch does
	return accepted, nil
}

// acceptRestored accepts a restored journal where ordering.accept_restore allows
// it, and reports whether what failed with err because of it is to be tried again.
// Otherwise it returns why not.
func (j *Journal) acceptRestored(ctx context.Context, connection string, err error) (again bool, why error) {
	if _, restored := errors.AsType[*ordering.RestoredError](err); !restored || !j.cfg.RestoreAccepted() {
		return false, err
	}
	err = j.autoAccept(ctx, connection)
	return err == nil, err
}

// autoAccept accepts as ordering.accept_restore allows; the next Watch reports it.
func (j *Journal) autoAccept(ctx context.Context, connection string) error {
	accepted, err := j.Accept(ctx, connection)
	s := j.state(connection)
	s.mu.Lock()
	s.accepted = s.accepted || accepted
	s.mu.Unlock()
	return err
}
