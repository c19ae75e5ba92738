package sync

import (
	"context"
	"errors"
	"net/http"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/upstream"
)

// awayAfter is after how many failures in a row, of whatever restaurants, a
// connection's ordering service counts as gone; fewer where it has fewer things
// to sync. What fails before is told as a restaurant's own fault.
const awayAfter = 3

// links is how each connection's ordering service was met last, so that one
// that goes away is told of once and not once a restaurant.
type links struct {
	mu stdsync.Mutex
	of map[string]*link
}

type link struct {
	failures int // in a row
	away     time.Time
}

// met notes how a run found the service. changed tells that its state did,
// away what it is; since is when it went.
func (l *links) met(connection string, reached bool, enough int, now time.Time) (changed, away bool, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[connection]
	if at == nil {
		at = &link{}
		l.of[connection] = at
	}
	if reached {
		since, at.failures = at.away, 0
		at.away = time.Time{}
		return !since.IsZero(), false, since
	}
	at.failures++
	if at.away.IsZero() && at.failures >= enough {
		at.away = now
		return true, true, now
	}
	return false, !at.away.IsZero(), at.away
}

// follow takes the end of a run into the state of its connection, and logs a
// change of that. It tells whether the run failed because the service is away,
// which has been told.
func (r *Runner) follow(t *target, run *Run, fault error) (away bool) {
	gone := isAway(fault)
	if !gone && (run.Steps.Fetch == 0 || errors.Is(fault, context.Canceled)) {
		return false // it says nothing of the service
	}
	menus := r.set.Load().counts[t.Connection]
	changed, away, since := r.links.met(t.Connection, !gone, min(awayAfter, menus+1), r.clock())
	if !changed {
		return away && gone
	}
	entry := r.log.WithFields(logrus.Fields{"connection": t.Connection, "restaurants": menus})
	if away {
		entry.WithFields(logrus.Fields{"event": "upstream.unreachable", "error": run.Error}).
			Warn("the ordering service is away: its restaurants go on with their last good menus")
	} else {
		entry.WithFields(logrus.Fields{"event": "upstream.recovered", "seconds": int(r.clock().Sub(since).Seconds())}).
			Info("the ordering service answers again")
	}
	return away
}

// isAway tells whether a run failed of the ordering service as a whole, and not
// of what it says of one restaurant.
func isAway(fault error) bool {
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
