package httpapi

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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
