package measure

import (
	"context"
	"strings"
	"sync"
	"time"

	"larder.local/cache"
)

// noticeListener receives the notices of new versions, like a replica.
type noticeListener struct {
	mu      sync.Mutex
	waiting map[string]chan time.Time
	stop    func() // returns when no notices are received any more
}

// listen subscribes, and returns when Redis has confirmed it.
func (m *measuring) listen(ctx context.Context) (*noticeListener, error) {
	subscription := m.cluster.Redis.Client.Subscribe(ctx, cache.NewKeys("").Notices())
	if _, err := subscription.Receive(ctx); err != nil {
		_ = subscription.Close()
		return nil, err
	}
	e := &noticeListener{waiting: map[string]chan time.Time{}}
	var hearing sync.WaitGroup
	hearing.Go(func() {
		for message := range subscription.Channel() {
			e.receive(message.Payload)
		}
	})
	e.stop = func() {
		_ = subscription.Close()
		hearing.Wait()
	}
	return e, nil
}

// receive handles a notice, "version restaurant".
func (e *noticeListener) receive(payload string) {
	_, restaurant, _ := strings.Cut(payload, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if waiting, ok := e.waiting[restaurant]; ok {
		waiting <- time.Now()
		delete(e.waiting, restaurant)
	}
}

// await returns the time of the restaurant's next notice.
func (e *noticeListener) await(restaurant string) <-chan time.Time {
	notified := make(chan time.Time, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[restaurant] = notified
	return notified
}
