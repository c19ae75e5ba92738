package sandbox_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"larder.local/internal/sandbox"
)

// orderCount returns the number of executed orders.
func (w *fixture) orderCount() int {
	w.t.Helper()
	list, _ := w.do(http.MethodGet, "/sandbox/orders", "").want(http.StatusOK).at("result").([]any)
	return len(list)
}

// reaches waits until so returns true.
func reaches(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestCapacity_LimitsConcurrency(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"capacity":{"concurrent":2,"delay":"60ms"}}`)
	begun := time.Now()
	var clients sync.WaitGroup
	for range 6 {
		clients.Go(func() {
			if got, err := w.try(t.Context(), http.MethodPost, orders, w.water()); err != nil || got.status != http.StatusCreated {
				t.Errorf("an order that waited: %v, %v", got, err)
			}
		})
	}
	clients.Wait()
	if took := time.Since(begun); took < 180*time.Millisecond {
		t.Errorf("6 orders of 60ms, 2 at a time, took %s, want at least 180ms", took)
	}
}

// An order is executed even if its client left the queue.
func TestCapacity_ExecutesAfterCallerLeft(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"capacity":{"concurrent":1,"delay":"2s"}}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			if got, err := w.try(ctx, http.MethodPost, orders, w.water()); err == nil {
				t.Errorf("answered before it was executed: %d", got.status)
			}
		})
	}
	reaches(t, "all orders have arrived", func() bool { return sandbox.Running(w.box)+sandbox.Queued(w.box) == 3 })
	leave()
	clients.Wait()
	w.settings(`{"capacity":{"concurrent":0,"delay":"0s"}}`)
	reaches(t, "all orders are executed", func() bool { return w.orderCount() == 3 })
}

// Reads need no capacity, and a higher limit starts waiting requests.
func TestCapacity_Resize(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"capacity":{"concurrent":1,"delay":"1h"}}`)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer w.box.Close()
	clients.Go(func() { _, _ = w.try(t.Context(), http.MethodPost, orders, w.water()) })
	reaches(t, "the first order is executed", func() bool { return sandbox.Running(w.box) == 1 })
	done := make(chan int, 1)
	clients.Go(func() {
		if got, err := w.try(t.Context(), http.MethodPost, orders, w.water()); err == nil {
			done <- got.status
		}
	})
	reaches(t, "the second order waits", func() bool { return sandbox.Queued(w.box) == 1 })
	w.do(http.MethodGet, viewPath+"?restaurantId="+sandbox.BistroID, "").want(http.StatusOK)
	w.settings(`{"capacity":{"concurrent":0}}`)
	if status := <-done; status != http.StatusCreated {
		t.Errorf("the order that waited: %d", status)
	}
	if got := w.do(http.MethodGet, "/sandbox/settings", "").at("result", "capacity", "concurrent"); got == nil {
		t.Error("GET /sandbox/settings does not show the capacity")
	}
}
