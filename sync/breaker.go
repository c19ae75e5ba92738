package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/sync/runlog"
)

const (
	// breakerRestaurants is how many restaurants whose last run had succeeded must fail to open the circuit breaker of
	// their connection, and how many are read to try the service.
	breakerRestaurants = 3
	// breakerPause is about how long nothing is read then.
	breakerPause = 15 * time.Second
	// maxTrial is the time after which a trial counts as over, whatever became of its runs.
	maxTrial = 10 * time.Minute
	// ownFailures is the number of failures in a row after which a restaurant's scheduled reads pause.
	ownFailures = 3
)

// waitingError means that a run did not ask the ordering service because of a circuit breaker (policy S10).
type waitingError struct {
	why   string
	pause time.Duration
}

func (e *waitingError) Error() string {
	return fmt.Sprintf("waiting: %s; next attempt in %s", e.why, max(e.pause.Round(time.Second), time.Second))
}

// opensBreaker reports whether failed reads open the breaker of a connection; menus is the number of its menus. failed has
// the menus that failed since the last success; the value reports whether the menu's last run had succeeded.
func opensBreaker(failed map[menu.RestaurantID]bool, menus int) bool {
	succeeded := 0
	for _, had := range failed {
		if had {
			succeeded++
		}
	}
	return succeeded >= breakerRestaurants || len(failed) >= menus
}

// breaker is the circuit breaker of a connection. It opens if the service fails for several restaurants. While it is
// open, up to three restaurants are read every 15 s; the first success closes it (policy S10).
type breaker struct {
	mu     stdsync.Mutex
	log    logrus.FieldLogger
	failed map[menu.RestaurantID]bool // see opensBreaker
	open   bool
	since  time.Time
	tryAt  time.Time
	trial  map[menu.RestaurantID]bool // the restaurants that may be read; true: its read has begun
}

// admit reports whether a target may be read now; otherwise it returns a *waitingError.
func (b *breaker) admit(t *Target, scheduled bool, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	begun, chosen := b.trial[t.ID]
	switch {
	case b.open && (!chosen || begun):
		return &waitingError{"recent requests to the ordering service failed (circuit breaker open)", b.tryAt.Sub(now)}
	case b.open:
		b.trial[t.ID] = true
	case scheduled && t.failures >= ownFailures && now.Sub(t.failedAt).Abs() < breakerPause:
		return &waitingError{"the last requests for this restaurant failed", t.failedAt.Add(breakerPause).Sub(now)}
	}
	return nil
}

// record records the result of a read of a menu of the set. succeeded reports whether the menu's last run had succeeded.
func (b *breaker) record(t *Target, err error, succeeded bool, set *targetSet, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.trial, t.ID)
	service, _ := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil, service != nil && !service.Fault() && service.Status != 0 && service.Operation != upstream.OpToken:
		t.failures, t.readAt = 0, now
		if clear(b.failed); b.open {
			b.open, b.trial = false, nil
			b.log.WithFields(logrus.Fields{"event": "upstream.recovered", "seconds": int(now.Sub(b.since).Seconds())}).
				Info("the ordering service answers again")
		}
		return
	case service == nil || !service.Fault():
		return // the service was not asked
	}
	maps.DeleteFunc(b.failed, func(id menu.RestaurantID, _ bool) bool { return set.byID[id] == nil }) // no longer configured
	menus := set.counts[t.Connection]
	b.failed[t.ID] = b.failed[t.ID] || succeeded && t.failures == 0
	t.failures, t.failedAt = t.failures+1, now
	pause := breakerPause + rand.N(breakerPause/5) // so that instances do not all ask at the same time
	switch {
	case b.open && len(b.trial) == 0:
		b.tryAt = now.Add(pause)
	case !b.open && opensBreaker(b.failed, menus):
		b.open, b.since, b.tryAt = true, now, now.Add(pause)
		b.log.WithError(err).WithFields(logrus.Fields{"event": "upstream.unreachable", "restaurants": menus}).
			Warn("the ordering service fails; its restaurants keep their last good menus, and up to three of them are read every 15 s")
	}
}

// nextTrial returns the restaurants of the next trial if it is due: up to three, those first that last succeeded. A
// restaurant that has failed more often comes later, so that the trials read all restaurants in turn.
func (b *breaker) nextTrial(menus []*Target, connection string, now time.Time) []*Target {
	b.mu.Lock()
	defer b.mu.Unlock()
	isBegun := slices.Contains(slices.Collect(maps.Values(b.trial)), true) && now.Sub(b.tryAt) < maxTrial
	if !b.open || isBegun || now.Before(b.tryAt) && b.tryAt.Sub(now) <= 2*breakerPause { // else the clock was set back
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(menus), func(t *Target) bool { return t.Connection != connection })
	slices.SortStableFunc(own, func(x, y *Target) int { return cmp.Or(cmp.Compare(x.failures, y.failures), y.readAt.Compare(x.readAt)) })
	own = own[:min(len(own), breakerRestaurants)]
	b.trial, b.tryAt = map[menu.RestaurantID]bool{}, now.Add(breakerPause)
	for _, t := range own {
		b.trial[t.ID] = false
	}
	return own
}

// startTrials queues the restaurants that try a service whose circuit breaker is open.
func (s *Scheduler) startTrials(now time.Time) {
	for name, b := range s.breakers {
		for _, t := range b.nextTrial(s.set.Load().menus, name, now) {
			s.push(t, bySchedule, runlog.TriggerCron, time.Time{}, true)
		}
	}
}

// BreakerState returns the state of a connection's circuit breaker for reads: closed, open, or half-open during a trial.
func (r *Runner) BreakerState(connection string) string {
	b := r.breakers[connection]
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.open:
		return "closed"
	case len(b.trial) > 0:
		return "half-open"
	default:
		return "open"
	}
}

// readMenu fetches the menu view unless a circuit breaker prevents it. first is false if the same menu is read again with more
// memory.
func readMenu(ctx context.Context, p *pipelineRun, st state, first bool, seen upstream.Validator, most int64) (upstream.Menu, error) {
	r, t := p.runner, p.target
	b := r.breakers[t.Connection]
	if first {
		if err := b.admit(t, p.run.Trigger != runlog.TriggerManual, r.deps.Clock()); err != nil {
			return upstream.Menu{}, err
		}
	}
	if p.run.Trigger == runlog.TriggerManual && !slices.Equal(p.run.By, []string{refreshMenuBy}) {
		t.source.AskTokenAgain()
	}
	answer, err := t.source.MenuView(ctx, t.upstream, seen, most)
	had := st.current.Version > 0 && st.current.LastOutcome != string(runlog.OutcomeFailed)
	b.record(t, err, had, r.set.Load(), r.deps.Clock())
	return answer, err
}
