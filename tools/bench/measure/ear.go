package measure

import (
	"context"
	"strings"
	"sync"
	"time"

	"larder/cache"
)

// ear hears the notices of new versions as the replicas do.
type ear struct {
	mu      sync.Mutex
	waiting map[string]chan time.Time
	stop    func() // returns when it hears no more
}

// listen subscribes, and returns when Redis has said so.
func (m *measuring) listen(ctx context.Context) (*ear, error) {
	subscription := m.town.Redis.Client.Subscribe(ctx, cache.NewKeys("").Notices())
	if _, err := subscription.Receive(ctx); err != nil {
		_ = subscription.Close()
		return nil, err
	}
	e := &ear{waiting: map[string]chan time.Time{}}
	var hearing sync.WaitGroup
	hearing.Go(func() {
		for message := range subscription.Channel() {
			e.hear(message.Payload)
		}
	})
	e.stop = func() {
		_ = subscription.Close()
		hearing.Wait()
	}
	return e, nil
}

// hear takes "version restaurant".
func (e *ear) hear(payload string) {
	_, restaurant, _ := strings.Cut(payload, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if waiting, ok := e.waiting[restaurant]; ok {
		waiting <- time.Now()
		delete(e.waiting, restaurant)
	}
}

// await gives the time of the restaurant's next notice.
func (e *ear) await(restaurant string) <-chan time.Time {
	told := make(chan time.Time, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[restaurant] = told
	return told
}
