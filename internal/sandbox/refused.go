package sandbox

import (
	"slices"
	"sync"
	"time"
)

// keptRefusals is how many refused orders are remembered, the newest.
const keptRefusals = 20

// refusedJSON is an order that was judged not valid, and why.
type refusedJSON struct {
	At           string   `json:"at"`
	RequestID    string   `json:"requestId"`
	RestaurantID string   `json:"restaurantID"`
	Reasons      []string `json:"reasons"`
}

// refusals remembers the last orders that were refused. Nothing of an order
// itself is kept.
type refusals struct {
	mu   sync.Mutex
	kept []refusedJSON // newest first
}

func (f *refusals) add(at time.Time, requestID, restaurant string, reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = slices.Insert(f.kept, 0, refusedJSON{stamp(at), requestID, restaurant, reasons})
	f.kept = f.kept[:min(len(f.kept), keptRefusals)]
}

// list is a copy, newest first.
func (f *refusals) list() []refusedJSON {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]refusedJSON{}, f.kept...)
}
