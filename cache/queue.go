package cache

import "sync"

// queue is what there is something to do for, restaurants say: each once, the
// first that came first.
type queue[T comparable] struct {
	mu    sync.Mutex
	order []T
	in    map[T]struct{}
	wake  chan struct{} // has an element while there is something to take
}

func newQueue[T comparable]() *queue[T] {
	return &queue[T]{in: make(map[T]struct{}), wake: make(chan struct{}, 1)}
}

func (q *queue[T]) add(one T) {
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
func (q *queue[T]) take(most int) []T {
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
func (q *queue[T]) call() {
	select {
	case q.wake <- struct{}{}:
	default: // awake already
	}
}
