package metrics

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// seriesCache has the series that requests have been counted in: looking one up
// by its labels takes as long as counting ten times. They are as few as the
// labels are (Metrics).
type seriesCache struct {
	all atomic.Pointer[map[seriesLabels]requestSeries] // never changed: replaced
	mu  sync.Mutex                                     // held to replace it
}

// seriesLabels are what the series of a request are found by.
type seriesLabels struct {
	route, method string
	class         int // status / 100
	streamed      bool
}

// requestSeries are what a request is counted in.
type requestSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer // nil of a stream
}

// of returns the series of the labels.
func (k *seriesCache) of(m *Metrics, labels seriesLabels) requestSeries {
	if all := k.all.Load(); all != nil {
		if series, ok := (*all)[labels]; ok {
			return series
		}
	}
	series := requestSeries{requests: m.requests.WithLabelValues(labels.route, labels.method, class(labels.class*100))}
	if !labels.streamed {
		series.duration = m.duration.WithLabelValues(labels.route)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all := map[seriesLabels]requestSeries{labels: series}
	if known := k.all.Load(); known != nil {
		maps.Copy(all, *known)
	}
	k.all.Store(&all)
	return series
}

// Path says what answered a read.
type Path uint8

// The two paths of reads.
const (
	Standard Path = iota // a handler behind net/http
	Fast                 // before it (docs/decisions/0023-the-express-lane.md)
	pathNames
)
