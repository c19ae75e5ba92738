package sync

import (
	"context"
	"errors"
	"net/http"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/upstream"
	"larder/sync/runlog"
)

// unreachableAfter is after how many failures in a row, of whatever restaurants, a
// connection's ordering service counts as gone; fewer where it has fewer things
// to sync. What fails before is logged as a restaurant's own fault.
const unreachableAfter = 3

// upstreamHealth is how each connection's ordering service was met last, so that one
// that cannot be reached is logged once and not once a restaurant.
type upstreamHealth struct {
	mu stdsync.Mutex
	of map[string]upstreamState
}

type upstreamState struct {
	failures         int // in a row
	unreachableSince time.Time
}

// recordRun takes the end of a run into the state of its connection, and logs a
// change of that. It reports whether the run failed because the service is away,
// which has been logged.
func (r *Runner) recordRun(t *target, run *runlog.Run, fault error) (away bool) {
	gone := isUnreachable(fault)
	if !gone && (run.Steps.Fetch == 0 || errors.Is(fault, context.Canceled)) {
		return false // it says nothing of the service
	}
	now := r.clock()
	menus := r.set.Load().counts[t.Connection]
	entry := r.log.WithFields(logrus.Fields{"connection": t.Connection, "restaurants": menus})
	r.upstreams.mu.Lock()
	defer r.upstreams.mu.Unlock()
	state := r.upstreams.of[t.Connection]
	since := state.unreachableSince
	if !gone {
		r.upstreams.of[t.Connection] = upstreamState{}
		if !since.IsZero() {
			entry.WithFields(logrus.Fields{"event": "upstream.recovered", "seconds": int(now.Sub(since).Seconds())}).
				Info("the ordering service answers again")
		}
		return false
	}
	state.failures++
	if since.IsZero() && state.failures >= min(unreachableAfter, menus+1) {
		state.unreachableSince = now
		entry.WithFields(logrus.Fields{"event": "upstream.unreachable", "error": run.Error}).
			Warn("the ordering service is away: its restaurants go on with their last good menus")
	}
	r.upstreams.of[t.Connection] = state
	return !state.unreachableSince.IsZero()
}

// isUnreachable tells whether a run failed of the ordering service as a whole, and not
// of what it says of one restaurant.
func isUnreachable(fault error) bool {
	if !errors.Is(fault, errService) || errors.Is(fault, context.Canceled) {
		return false
	}
	var service *upstream.Error
	if !errors.As(fault, &service) {
		return false
	}
	switch {
	case service.Operation == upstream.OpToken, service.Status == 0, service.Status >= http.StatusInternalServerError:
		return true
	default:
		return service.Status == http.StatusUnauthorized || service.Status == http.StatusForbidden ||
			service.Status == http.StatusRequestTimeout || service.Status == http.StatusTooManyRequests
	}
}
