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
func (g *guard) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	defer g.save(connection, s)       // also when Redis does not answer: what is remembered is known
	ready := g.Ready(ctx, connection) // finds out which rule of replicas applies
	if err := g.watchState(ctx, s, connection); err != nil {
		return ordering.JournalHealth{}, failed("watch", err)
	}
	if !g.healthOf(s).PausedAt.IsZero() && g.cfg.RestoreAccepted() {
		if err := g.autoAccept(ctx, connection); err != nil {
			return ordering.JournalHealth{}, err
		}
	}
	health := g.healthOf(s)
	s.mu.Lock()
	health.Accepted, s.accepted = s.accepted, false
	s.mu.Unlock()
	var notReady *ordering.NotReadyError
	if errors.As(ready, &notReady) && notReady.Err != nil && !errors.Is(ready, ErrReplicas) {
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
	// Others have committed. A mark is remembered when enough replicas have it,
	// which takes a write.
	if err = g.recovered(ctx, connection); err == nil {
		err = g.probe(ctx, connection)
	}
	if errors.Is(err, ErrReplicas) {
		return nil // it is not remembered yet, which health says
	}
	return err
}

// Health returns what Watch returns, without comparing anything.
func (g *guard) Health(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	var kept struct {
		Paused     string `redis:"paused"`
		Replicated string `redis:"replicated"`
	}
	if err := g.write.HMGet(ctx, g.keys.JournalState(connection), "paused", "replicated").Scan(&kept); err != nil {
		return ordering.JournalHealth{}, failed("health", err)
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

// Accept makes the records as Redis has them the start of a new epoch, and ends
// the pause (policy O14a).
func (g *guard) Accept(ctx context.Context, connection string) (bool, error) {
	s := g.state(connection)
	keys := []string{g.keys.JournalState(connection)}
	accepted, err := acceptScript.Run(ctx, g.write, keys, rand.Text(), s.known().Epoch, keptPredecessors).Bool()
	if err != nil {
		return false, failed("accept", err)
	}
	_, _, _ = g.run(ctx, g.blank(connection, modeWatch), 0, 0) // adopt it now; otherwise the next Watch does
	return accepted, nil
}

// autoAccept accepts as ordering.accept_restore allows; the next Watch reports it.
func (g *guard) autoAccept(ctx context.Context, connection string) error {
	accepted, err := g.Accept(ctx, connection)
	s := g.state(connection)
	s.mu.Lock()
	s.accepted = s.accepted || accepted
	s.mu.Unlock()
	return err
}

// orAccept calls change, once more if it fails because the journal was restored and
// ordering.accept_restore allows to accept that.
func (g *guard) orAccept(ctx context.Context, connection string, change func() error) error {
	err := change()
	if !is[*ordering.RestoredError](err) || !g.cfg.RestoreAccepted() {
		return err
	}
	if err = g.autoAccept(ctx, connection); err == nil {
		err = change()
	}
	return err
}
