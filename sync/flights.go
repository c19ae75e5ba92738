package sync

import (
	"context"
	"slices"
	stdsync "sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
	"larder/sync/runlog"
)

const (
	// queuedLife is how long a queued run outlives its replica.
	queuedLife = 30 * time.Second
	// queuesAtOnce bounds the keys of one pipeline.
	queuesAtOnce = 500
)

// flights are the runs that wait or run in this process.
type flights struct {
	mu    stdsync.Mutex
	runs  map[string]*flight
	asked map[menu.RestaurantID]string // run ids of starts that got no answer
}

type flight struct {
	restaurant menu.RestaurantID
	queued     bool
	done       chan struct{} // closed when the run has ended
}

// begin notes a run that begins here. The caller calls end when it has ended.
func (f *flights) begin(id string, restaurant menu.RestaurantID) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.runs[id]; before != nil {
		before.queued = false
	} else {
		f.runs[id] = &flight{restaurant: restaurant, done: make(chan struct{})}
	}
	return func() { f.end(id) }
}

// end wakes those who wait for a run that has ended here.
func (f *flights) end(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ended := f.runs[id]; ended != nil {
		close(ended.done)
		delete(f.runs, id)
	}
}

// ended returns a channel that is closed when the run has ended here; nil for a run
// of another instance.
func (f *flights) ended(id string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.runs[id]; one != nil {
		return one.done
	}
	return nil
}

// idOfStart returns the id with which a run is asked for: id, unless a start that
// got no answer may have queued its run. That one is asked for again: another id
// would join it, and no process would do it.
func (f *flights) idOfStart(restaurant menu.RestaurantID, id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.asked[restaurant]; before != "" && runlog.IDTime(id)-runlog.IDTime(before) < queuedLife.Milliseconds() {
		return before
	}
	return id
}

// unanswered notes a start that got no answer.
func (f *flights) unanswered(restaurant menu.RestaurantID, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[restaurant] = id
}

// queue notes the answer to a start. It reports whether the run waits here: it is
// new, or that of a start without an answer.
func (f *flights) queue(restaurant menu.RestaurantID, id string, added bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	mine := added || id == f.asked[restaurant]
	delete(f.asked, restaurant)
	if mine {
		f.runs[id] = &flight{restaurant: restaurant, queued: true, done: make(chan struct{})}
	}
	return mine
}

// extendQueued keeps the queued runs of this process alive in Redis.
func (f *flights) extendQueued(ctx context.Context, r *Runner) error {
	var queues []string
	f.mu.Lock()
	for _, one := range f.runs {
		if one.queued {
			queues = append(queues, r.keys.Queue(one.restaurant))
		}
	}
	f.mu.Unlock()
	for part := range slices.Chunk(queues, queuesAtOnce) {
		_, err := r.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, queue := range part {
				pipe.PExpire(ctx, queue, queuedLife)
			}
			return nil
		})
		if err != nil {
			return unavailable(ctx, "keep queued runs", err)
		}
	}
	return nil
}
