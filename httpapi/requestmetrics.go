package httpapi

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// knownSeries are the series that requests have been counted in, found once:
// looking one up by its labels takes as long as counting ten times. They are as
// few as the labels are (Metrics).
type knownSeries struct {
	all atomic.Pointer[map[seriesLabels]requestSeries] // never changed: replaced
	mu  sync.Mutex                                     // of who replaces it
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

// of gives the series of the labels.
func (k *knownSeries) of(m *Metrics, labels seriesLabels) requestSeries {
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

// laneRoute is a route that the express lane answers.
type laneRoute uint8

const (
	routeMenu laneRoute = iota
	routeProduct
	routeView
	routeViewSlash
	laneRoutes
)

// String is the route as Gin has it registered: its name in metrics and log.
func (r laneRoute) String() string {
	return [laneRoutes]string{
		"/v1/restaurants/:restaurant/menu", "/v1/restaurants/:restaurant/products/:id",
		dropInPath + "v1/menu/view", dropInPath + "v1/menu/view/",
	}[r]
}

// laneSeries are the series of Metrics that the express lane adds to, found
// once: looking one up by its labels takes as long as counting ten times.
type laneSeries struct {
	requests [laneRoutes][2][2]atomic.Pointer[prometheus.Counter] // by route, HEAD, and 304
	duration [laneRoutes]atomic.Pointer[prometheus.Observer]
}

// request is Metrics.request.
func (l *laneSeries) request(m *Metrics, route laneRoute, head bool, status int, took time.Duration) {
	method, isHead, is304 := http.MethodGet, 0, 0
	if head {
		method, isHead = http.MethodHead, 1
	}
	if status == http.StatusNotModified {
		is304 = 1
	}
	counter := l.requests[route][isHead][is304].Load()
	observer := l.duration[route].Load()
	if counter == nil || observer == nil {
		c, o := m.requests.WithLabelValues(route.String(), method, class(status)), m.duration.WithLabelValues(route.String())
		counter, observer = &c, &o
		l.requests[route][isHead][is304].Store(counter)
		l.duration[route].Store(observer)
	}
	(*counter).Inc()
	(*observer).Observe(took.Seconds())
}

// laneName says which lane answered.
type laneName uint8

const (
	laneOrdinary laneName = iota // this package's handlers behind net/http
	laneExpress                  // before it (docs/decisions/0023-the-express-lane.md)
	laneNames
)

// hotReads counts the reads of menus, dishes and menu views that were answered
// with one version. Its series are found once: a read adds to one of four.
type hotReads struct {
	all    *prometheus.CounterVec
	series [laneNames][2]prometheus.Counter // by lane, and whether the body was ready
}

func newHotReads() *hotReads {
	h := &hotReads{all: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "larder_menu_reads_total",
		Help: "Reads of menus, dishes and menu views answered, by lane (express or ordinary) and body: ready in memory, or built for this read.",
	}, []string{"lane", "body"})}
	for lane, name := range [laneNames]string{"ordinary", "express"} {
		h.series[lane] = [2]prometheus.Counter{h.all.WithLabelValues(name, "built"), h.all.WithLabelValues(name, "ready")}
	}
	return h
}

// answered counts one.
func (h *hotReads) answered(lane laneName, ready bool) {
	series := &h.series[lane]
	if ready {
		series[1].Inc()
		return
	}
	series[0].Inc()
}
