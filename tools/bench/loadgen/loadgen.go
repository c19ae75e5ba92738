// Package loadgen is an open-loop load generator: requests are due at a fixed
// rate, whatever the server does, and each answer's time counts from the moment
// at which its request was due. A server that stops for a while is so charged
// with every request that had to wait, and not with one per connection, as by
// generators that ask only after they were answered.
//
// Its one invariant: what was due and not answered is in the result too. It
// computes as fast as its core allows (it polls): give it a core of its own.
// Only the program of tools/bench/ginpeer runs it.
package loadgen

import (
	"fmt"
	"time"
)

// Plan is a load.
type Plan struct {
	// Address is the server's IP address and port.
	Address string
	// Request is sent as it stands: an HTTP/1.1 request that keeps the
	// connection open.
	Request []byte
	// Status is the answer's that each request must get.
	Status int
	// Rate is requests a second.
	Rate float64
	// Connections are open all the time; each has one request in flight at most.
	Connections int
	// For is how long requests are due. Those of the first Warm are not counted.
	For, Warm time.Duration
}

// maxWait bounds the wait for answers after the last request was due.
const maxWait = 5 * time.Second

// check refuses a plan that measures nothing.
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

// Result is what a load has found. Latencies are nanoseconds from the moment a
// request was due to the last byte of its answer.
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

// result is the histogram's.
func result(rate float64, h *Histogram, unanswered int) Result {
	return Result{
		Rate: rate, Answered: h.Count() - unanswered, Unanswered: unanswered,
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999), Max: h.Max(),
	}
}
