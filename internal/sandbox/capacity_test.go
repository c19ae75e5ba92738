package sandbox_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"larder/internal/sandbox"
)

// orderCount returns the number of executed orders.
func (w *fixture) orderCount() int {
	w.t.Helper()
	list, _ := w.do(http.MethodGet, "/sandbox/orders", "").want(http.StatusOK).at("result").([]any)
	return len(list)
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
	for sandbox.Running(w.box)+sandbox.Queued(w.box) != 3 {
		time.Sleep(time.Millisecond)
	}
	leave()
	clients.Wait()
	w.settings(`{"capacity":{"concurrent":0,"delay":"0s"}}`)
	for until := time.Now().Add(20 * time.Second); w.orderCount() != 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d orders executed, want 3", w.orderCount())
		}
	}
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
	for sandbox.Running(w.box) == 0 {
		time.Sleep(time.Millisecond)
	}
	done := make(chan int, 1)
	clients.Go(func() {
		if got, err := w.try(t.Context(), http.MethodPost, orders, w.water()); err == nil {
			done <- got.status
		}
	})
	for sandbox.Queued(w.box) == 0 {
		time.Sleep(time.Millisecond)
	}
	w.do(http.MethodGet, viewPath+"?restaurantId="+sandbox.BistroID, "").want(http.StatusOK)
	w.settings(`{"capacity":{"concurrent":0}}`)
	if status := <-done; status != http.StatusCreated {
		t.Errorf("the order that waited: %d", status)
	}
	if got := w.do(http.MethodGet, "/sandbox/settings", "").at("result", "capacity", "concurrent"); got == nil {
		t.Error("GET /sandbox/settings does not show the capacity")
	}
}
