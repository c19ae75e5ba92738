package replica

import (
	"context"
	"sync"

	"larder.local/internal/menu"
	"larder.local/internal/sleep"
)

const (
	// noticeWorkers is the number of goroutines that load announced versions, so that one large menu
	// does not delay the others. Each takes at most noticesAtATime restaurants.
	noticeWorkers  = 2
	noticesAtATime = 64
)

// runSubscriber receives notices. A version that was published before the subscription is found by a poll.
func (r *Replica) runSubscriber(ctx context.Context) {
	r.store.Subscribe(ctx, r.pollNow.Set, r.onNotice, func(err error) {
		r.cfg.Log.WithField("event", "replica.notices_lost").WithError(err).Debug("subscription lost; subscribing again")
	})
}

// onNotice queues the restaurant if memory does not hold the announced version. Version 0 means its availability.
func (r *Replica) onNotice(restaurant menu.RestaurantID, version int64) {
	switch {
	case !r.cfg.Allowed(restaurant):
		return
	case version == 0:
		r.Availability.queue.add(restaurant)
		return
	}
	r.slots.misses.forget(restaurant)
	if now := r.slots.current(restaurant); now != nil && now.snapshot.Version.Version == version {
		return // a lower version is checked: Redis may have lost the one that is served here
	}
	r.noticeQueue.add(restaurant)
}

// queue holds restaurants to refresh, each once.
type queue struct {
	mu   sync.Mutex
	all  map[menu.RestaurantID]struct{}
	wake sleep.Signal // set while the queue is not empty
}

func newQueue() *queue { return &queue{all: map[menu.RestaurantID]struct{}{}, wake: sleep.NewSignal()} }

func (q *queue) add(one menu.RestaurantID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all[one] = struct{}{}
	q.wake.Set()
}

// run passes restaurants of the queue to refresh until ctx ends. If that fails, the poll tries again and logs the error.
func (q *queue) run(ctx context.Context, refresh func(context.Context, ...menu.RestaurantID) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
			_ = refresh(ctx, q.pop(noticesAtATime)...)
		}
	}
}

// pop returns at most most restaurants, and wakes another worker if more are left.
func (q *queue) pop(most int) (taken []menu.RestaurantID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for one := range q.all {
		if len(taken) == most {
			q.wake.Set()
			break
		}
		taken = append(taken, one)
		delete(q.all, one)
	}
	return taken
}
