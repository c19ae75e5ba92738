package replica

import (
	"context"
	"sync"

	"larder/internal/menu"
	"larder/internal/sleep"
)

const (
	// noticeWorkers is how many load what notices announced, so that one large menu
	// keeps no other waiting; each takes at most noticesAtATime restaurants.
	noticeWorkers  = 2
	noticesAtATime = 64
)

// runSubscriber loads what notices announce. What was published before a
// subscription is not announced: a poll finds it.
func (r *Replica) runSubscriber(ctx context.Context) {
	r.store.Subscribe(ctx, r.pollNow.Set, r.onNotice, func(err error) {
		r.cfg.Log.WithField("event", "replica.notices_lost").WithError(err).Debug("notices are lost; subscribing again")
	})
}

// onNotice takes one notice: what memory does not hold yet is loaded soon.
func (r *Replica) onNotice(restaurant menu.RestaurantID, version int64) {
	if !r.cfg.Allowed(restaurant) {
		return
	}
	r.slots.misses.forget(restaurant)
	if now := r.slots.current(restaurant); now != nil && now.snapshot.Version.Version == version {
		return // a lower version is checked: Redis may have lost the one that is served here
	}
	r.noticeQueue.add(restaurant)
}

// runNoticeWorker loads what notices announced. Whatever fails is left to the poll,
// which also says so.
func (r *Replica) runNoticeWorker(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.noticeQueue.wake:
			_ = r.refresh(ctx, r.noticeQueue.pop(noticesAtATime))
		}
	}
}

// queue holds restaurants that there is something to do for, each once, in the
// order in which they were added.
type queue struct {
	mu    sync.Mutex
	order []menu.RestaurantID
	in    map[menu.RestaurantID]struct{}
	wake  sleep.Signal // set while the queue is not empty
}

func newQueue() *queue {
	return &queue{in: make(map[menu.RestaurantID]struct{}), wake: sleep.NewSignal()}
}

func (q *queue) add(one menu.RestaurantID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, again := q.in[one]; again {
		return
	}
	q.in[one] = struct{}{}
	q.order = append(q.order, one)
	q.wake.Set()
}

// pop returns at most so many, and wakes another worker where more are left.
func (q *queue) pop(most int) []menu.RestaurantID {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.order[:min(most, len(q.order))]
	q.order = q.order[len(taken):]
	for _, one := range taken {
		delete(q.in, one)
	}
	if len(q.order) > 0 {
		q.wake.Set()
	} else {
		q.order = nil
	}
	return taken
}
