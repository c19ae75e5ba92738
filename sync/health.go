package sync

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
)

const (
	// pingInterval is the time between two probes of a healthy Redis.
	pingInterval = 5 * time.Second
	// firstPing and lastPing limit the pauses between probes of an unhealthy one.
	firstPing = 250 * time.Millisecond
	lastPing  = 5 * time.Second
	// rightsInterval is the time between two tests of all rights at a healthy Redis.
	rightsInterval = time.Minute
	// pingLimit limits the time of one probe.
	pingLimit = 2 * time.Second
)

// health is whether Redis responds and accepts writes. Syncs pause while it does
// not, because leases and versions need it (policy S5).
type health struct {
	log       logrus.FieldLogger
	suspected sleep.Signal // set when a run failed to reach Redis

	mu     stdsync.Mutex
	up     bool
	fault  error         // of the last probe
	logged string        // the logged reason for the pause; "" if syncs run
	open   chan struct{} // closed while up
}

func newHealth(log logrus.FieldLogger, suspected sleep.Signal) *health {
	return &health{log: log, suspected: suspected, open: make(chan struct{})}
}

// watch probes Redis until ctx ends, more often while it is unhealthy. It calls onRecover after the first
// successful probe and after each recovery. In doubt, and every minute, the probe also tests all rights.
func (h *health) watch(ctx context.Context, ask func(ctx context.Context, doubt bool) error, onRecover func(context.Context, bool)) {
	pause := firstPing
	doubt, tested := true, time.Now()
	for first := true; ctx.Err() == nil; {
		if doubt {
			tested = time.Now()
		}
		err := ask(ctx, doubt)
		if err != nil && doubt && h.isUp() && !errors.As(err, new(*redisdb.RefusedError)) {
			err = ask(ctx, false) // a slow Redis may be too slow only for the test of all rights
		}
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
				doubt = time.Since(tested) >= rightsInterval
			case <-h.suspected:
				doubt = true
			}
			continue
		}
		doubt = true
		// Half of the pause is random, so that instances do not all reconnect at the same time.
		_ = sleep.For(ctx, pause/2+rand.N(pause/2))
		pause = min(2*pause, lastPing)
	}
}

// set records the result of a probe. It reports whether Redis has just recovered.
// It logs each change of the state and of its reason once.
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
		return false
	}
	if !was {
		close(h.open)
	}
	if h.logged != "" {
		does := "accepts writes"
		if h.logged == noAnswer {
			does = "answers"
		}
		h.log.WithField("event", "sync.resumed").Infof("Redis %s again; catching up", does)
		h.logged = ""
	}
	return !was
}

// noAnswer is the reason of a Redis that does not respond.
const noAnswer = "does not answer"

// pause logs why syncs pause, unless the log has this reason already. The caller holds the lock.
func (h *health) pause(err error) {
	why, until := redisdb.SafeText(err), "it does not"
	entry := h.log.WithError(err).WithField("event", "sync.paused")
	if refused, ok := errors.AsType[*redisdb.RefusedError](err); ok {
		until, entry = "it accepts them", entry.WithField("class", refused.Class)
	} else if strings.HasPrefix(why, noAnswer) {
		why, until = noAnswer, "it does"
	}
	if h.logged != why {
		h.logged = why
		entry.Warnf("Redis %s; syncs pause until %s", why, until)
	}
}

// lastFault returns the error of the last probe; nil if it succeeded.
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

// suspect requests a probe soon, because a run could not reach Redis.
func (h *health) suspect() { h.suspected.Set() }

// wait waits until Redis is up. It returns false if ctx ends first.
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
