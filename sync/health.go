package sync

import (
	"context"
	"errors"
	"math/rand/v2"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/redisdb"
	"larder/internal/sleep"
)

const (
	// pingInterval is how often a Redis that is well is asked again.
	pingInterval = 5 * time.Second
	// firstPing and lastPing bound the pauses while it is not.
	firstPing = 250 * time.Millisecond
	lastPing  = 5 * time.Second
	// pingLimit bounds one question.
	pingLimit = 2 * time.Second
)

// health is whether Redis answers and takes what larder writes. Syncs pause
// while it does not: there is no lease and no version without it (policy S5).
type health struct {
	log       logrus.FieldLogger
	suspected sleep.Signal // set when a run met trouble

	mu     stdsync.Mutex
	up     bool
	fault  error         // of the last question
	logged string        // why syncs pause, as the log has it; "" when it has logged nothing or that they go on
	open   chan struct{} // closed while up
}

func newHealth(log logrus.FieldLogger) *health {
	return &health{log: log, suspected: sleep.NewSignal(), open: make(chan struct{})}
}

// watch asks until ctx ends, more often while Redis is away or refuses, and
// calls back each time it has come (the first time too). In doubt it asks for
// more: whether larder may publish as well.
func (h *health) watch(ctx context.Context, ask func(ctx context.Context, doubt bool) error, onRecover func(context.Context, bool)) {
	pause := firstPing
	doubt := true
	for first := true; ctx.Err() == nil; {
		asked, cancel := context.WithTimeout(ctx, pingLimit)
		err := ask(asked, doubt)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if h.set(err) {
			onRecover(ctx, first)
			first = false
		}
		if err == nil {
			pause = firstPing
			select {
			case <-ctx.Done():
			case <-time.After(pingInterval):
				doubt = false
			case <-h.suspected:
				doubt = true
			}
			continue
		}
		doubt = true
		// Half of the pause is left to chance, so that instances do not all
		// come back at once.
		_ = sleep.For(ctx, pause/2+rand.N(pause/2)) //nolint:gosec // no secret
		pause = min(2*pause, lastPing)
	}
}

// set notes an answer; true when Redis has just come up. Each change of state,
// and of what keeps it from being up, is one line in the log.
func (h *health) set(err error) (came bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.up
	h.up, h.fault = err == nil, err
	if err != nil {
		if was {
			h.open = make(chan struct{})
		}
		h.pause(err)
	}
	if err != nil || was {
		return false
	}
	close(h.open)
	if h.logged != "" {
		does := "takes writes"
		if h.logged == noAnswer {
			does = "answers"
		}
		h.log.WithField("event", "sync.resumed").Infof("Redis %s again: catching up", does)
	}
	h.logged = ""
	return true
}

// noAnswer is the state of a Redis that does not answer.
const noAnswer = "does not answer"

// pause says why syncs pause, unless that has been said. The caller holds the
// lock.
func (h *health) pause(err error) {
	why, until, class := noAnswer, "it does", ""
	if refused, ok := errors.AsType[*redisdb.RefusedError](err); ok {
		why, until, class = "refuses writes: "+refused.Reason(), "it takes them", refused.Class
	}
	if h.logged == why {
		return
	}
	h.logged = why
	entry := h.log.WithError(err).WithField("event", "sync.paused")
	if class != "" {
		entry = entry.WithField("class", class)
	}
	entry.Warnf("Redis %s: syncs pause until %s", why, until)
}

// lastFault returns the fault that the last question found; nil where there was
// none.
func (h *health) lastFault() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fault
}

func (h *health) isUp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up
}

// suspect asks for a question soon: a run could not reach Redis.
func (h *health) suspect() { h.suspected.Set() }

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
