package sync

import (
	"context"
	"math/rand/v2"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	// calmPing is how often a Redis that answers is asked again.
	calmPing = 5 * time.Second
	// firstPing and lastPing bound the pauses while it does not answer.
	firstPing = 250 * time.Millisecond
	lastPing  = 5 * time.Second
	// pingLimit bounds one question.
	pingLimit = 2 * time.Second
)

// health is whether Redis answers. Syncs pause while it does not: there is no
// lease and no version without it (policy S5).
type health struct {
	log     logrus.FieldLogger
	suspect chan struct{} // holds a token when a run met trouble

	mu   stdsync.Mutex
	up   bool
	said bool          // a change of state has been logged
	open chan struct{} // closed while up
}

func newHealth(log logrus.FieldLogger) *health {
	return &health{log: log, suspect: make(chan struct{}, 1), open: make(chan struct{})}
}

// watch pings until ctx ends, more often while Redis is away, and calls back
// each time it has come (the first time too).
func (h *health) watch(ctx context.Context, ping func(context.Context) error, back func(context.Context, bool)) {
	pause := firstPing
	for first := true; ; {
		err := limited(ctx, ping)
		if ctx.Err() != nil {
			return
		}
		if h.set(err) {
			back(ctx, first)
			first = false
		}
		if err == nil {
			pause = firstPing
			if !h.rest(ctx, calmPing) {
				return
			}
			continue
		}
		// Half of the pause is left to chance, so that replicas do not all
		// come back at once.
		if !h.rest(ctx, pause/2+rand.N(pause/2)) { //nolint:gosec // no secret
			return
		}
		pause = min(2*pause, lastPing)
	}
}

func limited(ctx context.Context, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	return ping(ctx)
}

// rest waits; a suspicion ends the wait early while Redis is thought up.
func (h *health) rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	suspect := h.suspect
	if !h.isUp() {
		suspect = nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-suspect:
	}
	return true
}

// set notes an answer; true when Redis has just come up. Each change of state
// is one line in the log.
func (h *health) set(err error) (came bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	up := err == nil
	if up == h.up {
		if !up && !h.said { // down from the start
			h.said = true
			h.log.WithError(err).WithField("event", "sync.paused").Warn("Redis does not answer: syncs pause until it does")
		}
		return false
	}
	h.up = up
	if !up {
		h.open = make(chan struct{})
		h.said = true
		h.log.WithError(err).WithField("event", "sync.paused").Warn("Redis does not answer any more: syncs pause until it does")
		return false
	}
	close(h.open)
	if h.said {
		h.log.WithField("event", "sync.resumed").Info("Redis answers again: catching up")
	}
	return true
}

func (h *health) isUp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up
}

// doubt asks for a ping soon: a run could not reach Redis.
func (h *health) doubt() {
	select {
	case h.suspect <- struct{}{}:
	default:
	}
}

// wait returns true when Redis is up, false when ctx ends first.
func (h *health) wait(ctx context.Context) bool {
	h.mu.Lock()
	open := h.open
	h.mu.Unlock()
	select {
	case <-ctx.Done():
		return false
	case <-open:
		return ctx.Err() == nil
	}
}
