// Package loadgen is a load generator with two modes. With a rate it is an open loop:
// requests are due at a fixed rate, whatever the server does, and each latency counts
// from the time at which its request was due. If a server stops for a while, all
// requests that had to wait count, not only one per connection as with generators that
// wait for responses. Without a rate, each connection sends its next request when it
// has the response, which measures the highest rate.
//
// Invariant: the result includes requests that were due and not answered. With a rate
// and without Sleep, the generator polls and uses a complete core, so give it its own.
package loadgen

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Plan is the configuration of a load.
type Plan struct {
	// Addresses are the IP address and port of each server. The connections use them in
	// turn.
	Addresses []string
	// Requests are HTTP/1.1 requests that keep the connection open. Each connection
	// sends one of them; the connections to an address use them in turn. KeyMark and
	// ValueMark are replaced, all else is sent unchanged.
	Requests [][]byte
	// FirstKey is the number that replaces KeyMark in the first request. Each request
	// has the next one. After Keys numbers they repeat; 0 means never.
	FirstKey, Keys int
	// Values replace ValueMark: the n-th request has the n-th of them. The load ends
	// with the last one.
	Values []string
	// Status is the required status of every response.
	Status int
	// Rate is the number of requests per second; 0 sends the next request after each
	// response.
	Rate float64
	// Connections is the number of open connections, each with at most one request.
	Connections int
	// For is the duration of the load. The first Warm is not counted.
	For, Warm time.Duration
	// Sleep waits for the next due time instead of polling: for a generator that shares
	// its core with a server. It adds up to 0.1 ms to a latency.
	Sleep bool
	// Body receives the body of each response, which it must not keep; nil: bodies are
	// not read.
	Body func(body []byte)
}

// maxWait limits the wait for responses after the last request was due.
const maxWait = 5 * time.Second

// check returns an error for an invalid plan.
func (p Plan) check() error {
	const most = 1 << 12
	switch {
	case len(p.Addresses) == 0:
		return errors.New("loadgen: no address")
	case p.Rate < 0 || p.Rate > 1e7:
		return fmt.Errorf("loadgen: %g requests a second: between 0 (no fixed rate) and 10 million are possible", p.Rate)
	case p.Connections < 1 || p.Connections > most:
		return fmt.Errorf("loadgen: %d connections: between 1 and %d are possible", p.Connections, most)
	case p.For <= 0 || p.Warm < 0 || p.Warm >= p.For:
		return fmt.Errorf("loadgen: for %v after a warm-up of %v: the load must last longer than its warm-up", p.For, p.Warm)
	case len(p.Requests) == 0 || len(p.Requests[0]) == 0 || p.Status < 100 || p.Status > 599:
		return fmt.Errorf("loadgen: %d requests and status %d: both are needed", len(p.Requests), p.Status)
	}
	return nil
}

// total is the number of requests of the plan, or the largest int if only time ends
// the load.
func (p Plan) total() int {
	total := math.MaxInt
	if p.Rate > 0 {
		total = int(p.Rate * p.For.Seconds())
	}
	if len(p.Values) > 0 {
		total = min(total, len(p.Values))
	}
	return total
}

// Result is the result of a load. Latencies are nanoseconds from the time at which a
// request was due to the last byte of its response; without a rate, a request is due
// when it is sent.
type Result struct {
	Rate       float64       `json:"rate"`       // as planned, a second
	PerSecond  float64       `json:"perSecond"`  // answered, a second
	Answered   int           `json:"answered"`   // after the warm-up
	Unanswered int           `json:"unanswered"` // due, and not answered within five seconds of the end
	P50        time.Duration `json:"p50"`
	P90        time.Duration `json:"p90"`
	P99        time.Duration `json:"p99"`
	P999       time.Duration `json:"p999"`
	Max        time.Duration `json:"max"`
}

// result summarizes the histogram. took is the time of the last response, after the
// warm-up.
func result(rate float64, h *Histogram, unanswered int, took time.Duration) Result {
	r := Result{
		Rate:       rate,
		Answered:   h.Count() - unanswered,
		Unanswered: unanswered,
		P50:        h.Quantile(0.5),
		P90:        h.Quantile(0.9),
		P99:        h.Quantile(0.99),
		P999:       h.Quantile(0.999),
		Max:        h.Max(),
	}
	if took > 0 {
		r.PerSecond = float64(r.Answered) / took.Seconds()
	}
	return r
}
