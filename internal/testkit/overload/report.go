package overload

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Report summarizes the answers to orders.
type Report struct {
	Sent, Placed int
	Unknown      int      // answered 504
	Busy         int      // answered 503 upstream_busy
	OnArrival    int      // of these: rejected at once
	NotSent      int      // answered 503 upstream_unavailable: the journal was too slow to send them in time
	Other        []string // any other answers
	NoRetryAfter int      // rejections without the header

	// Goodput is the number of orders placed per second that were answered between
	// from and to (see Sum).
	Goodput float64
	// RejectionP99 is the 99th percentile of the time of rejections on arrival.
	RejectionP99 time.Duration
}

// Sum summarizes the answers. Goodput counts those between from and to, since the
// start of the load. A rejection within atOnce came on arrival, any other after
// waiting.
func Sum(answers []Answer, from, to, atOnce time.Duration) Report {
	var (
		r        Report
		rejected []time.Duration
		good     int
	)
	for _, a := range answers {
		r.Sent++
		if a.Status == http.StatusServiceUnavailable && a.RetryAfter == "" {
			r.NoRetryAfter++
		}
		switch {
		case a.Status == http.StatusCreated:
			r.Placed++
			if end := a.Sent + a.Took; end >= from && end < to {
				good++
			}
		case a.Status == http.StatusGatewayTimeout:
			r.Unknown++
		case a.Code == "upstream_busy":
			r.Busy++
			if a.Took < atOnce {
				r.OnArrival++
				rejected = append(rejected, a.Took)
			}
		case a.Code == "upstream_unavailable":
			r.NotSent++
		default:
			r.Other = append(r.Other, fmt.Sprintf("%d %s %v after %s", a.Status, a.Code, a.Err, a.Took))
		}
	}
	r.Goodput = float64(good) / (to - from).Seconds()
	r.RejectionP99 = Quantile(rejected, 0.99)
	return r
}

// Took returns the durations of the answers with a status.
func Took(answers []Answer, status int) []time.Duration {
	var took []time.Duration
	for _, a := range answers {
		if a.Status == status {
			took = append(took, a.Took)
		}
	}
	return took
}

// Quantile returns a quantile of durations; 0 if there are none.
func Quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	return of[min(len(of)-1, int(q*float64(len(of))))]
}

// Row is one line of the table.
type Row struct {
	Name          string
	Capacity      float64 // orders per second
	Flood, Modest Report  // of the client that sends too much, and of another
	Executed      int     // orders, by the service's count
	ReadsP99      time.Duration
	QuietReadsP99 time.Duration // without the load
}

// Table formats the rows as a table.
func Table(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %7s %8s %8s %8s %10s %12s %14s %9s\n",
		"load", "sent", "goodput", "unknown", "rejected", "on arrival", "p99 reject", "other client", "reads p99")
	for _, r := range rows {
		share := 100.0
		if r.Flood.Busy > 0 {
			share = 100 * float64(r.Flood.OnArrival) / float64(r.Flood.Busy)
		}
		fmt.Fprintf(&b, "%-22s %7d %7.0f%% %8d %8d %9.1f%% %12s %7d of %3d %s / %s\n",
			r.Name, r.Flood.Sent+r.Modest.Sent, 100*(r.Flood.Goodput+r.Modest.Goodput)/r.Capacity, r.Flood.Unknown+r.Modest.Unknown,
			r.Flood.Busy+r.Modest.Busy, share, r.Flood.RejectionP99.Round(100*time.Microsecond), r.Modest.Placed, r.Modest.Sent,
			r.ReadsP99.Round(10*time.Microsecond), r.QuietReadsP99.Round(10*time.Microsecond))
	}
	return b.String()
}
