package cache

import (
	"sync"

	"larder/internal/menu"
)

// queue holds restaurants that there is something to do for, each once, in the
// order in which they were added.
type queue struct {
	mu    sync.Mutex
	order []menu.RestaurantID
	in    map[menu.RestaurantID]struct{}
	wake  chan struct{} // has an element while there is something to take
}

func newQueue() *queue {
	return &queue{in: make(map[menu.RestaurantID]struct{}), wake: make(chan struct{}, 1)}
}

func (q *queue) add(one menu.RestaurantID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, again := q.in[one]; again {
		return
	}
	q.in[one] = struct{}{}
	q.order = append(q.order, one)
	q.call()
}

// take gives at most so many, and calls another taker where more are left.
func (q *queue) take(most int) []menu.RestaurantID {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.order[:min(most, len(q.order))]
	q.order = q.order[len(taken):]
	for _, one := range taken {
		delete(q.in, one)
	}
	if len(q.order) > 0 {
		q.call()
	} else {
		q.order = nil
	}
	return taken
}

// call wakes one taker; the caller holds the lock.
func (q *queue) call() {
	select {
	case q.wake <- struct{}{}:
	default: // awake already
	}
}
