// Package loadgen is an open-loop load generator: requests are due at a fixed rate,
// whatever the server does, and each latency counts from the time at which its
// request was due. If a server stops for a while, all requests that had to wait
// count, not only one per connection as with generators that wait for responses.
//
// Invariant: the result includes requests that were due and not answered. The
// generator polls and uses a complete core, so give it its own. Only
// tools/bench/ginpeer uses it.
package loadgen

import (
	"fmt"
	"time"
)

// Plan is the configuration of a load.
type Plan struct {
	// Address is the server's IP address and port.
	Address string
	// Request is an HTTP/1.1 request that keeps the connection open. It is sent
	// unchanged.
	Request []byte
	// Status is the required status of every response.
	Status int
	// Rate is the number of requests per second.
	Rate float64
	// Connections is the number of open connections, each with at most one request.
	Connections int
	// For is the duration of the load. The first Warm is not counted.
	For, Warm time.Duration
}

// maxWait limits the wait for responses after the last request was due.
const maxWait = 5 * time.Second

// check returns an error for an invalid plan.
func (p Plan) check() error {
	const most = 1 << 12
	switch {
	case p.Rate <= 0 || p.Rate > 1e7:
		return fmt.Errorf("loadgen: rate %g: between 0 and 10,000,000 a second", p.Rate)
	case p.Connections < 1 || p.Connections > most:
		return fmt.Errorf("loadgen: %d connections: between 1 and %d", p.Connections, most)
	case p.For <= 0 || p.Warm < 0 || p.Warm >= p.For:
		return fmt.Errorf("loadgen: for %v after a warm-up of %v: the load must last longer than its warm-up", p.For, p.Warm)
	case len(p.Request) == 0 || p.Status < 100 || p.Status > 599:
		return fmt.Errorf("loadgen: a request of %d bytes and status %d: both are needed", len(p.Request), p.Status)
	}
	return nil
}

// Result is the result of a load. Latencies are nanoseconds from the time at which a
// request was due to the last byte of its response.
type Result struct {
	Rate       float64       `json:"rate"`       // as planned, a second
	Answered   int           `json:"answered"`   // after the warm-up
	Unanswered int           `json:"unanswered"` // due, and not answered within five seconds of the end
	P50        time.Duration `json:"p50"`
	P90        time.Duration `json:"p90"`
	P99        time.Duration `json:"p99"`
	P999       time.Duration `json:"p999"`
	Max        time.Duration `json:"max"`
}

// result summarizes the histogram.
func result(rate float64, h *Histogram, unanswered int) Result {
	return Result{
		Rate:       rate,
		Answered:   h.Count() - unanswered,
		Unanswered: unanswered,
		P50:        h.Quantile(0.5),
		P90:        h.Quantile(0.9),
		P99:        h.Quantile(0.99),
		P999:       h.Quantile(0.999),
		Max:        h.Max(),
	}
}
