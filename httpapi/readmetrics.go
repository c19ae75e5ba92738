package httpapi

import "github.com/prometheus/client_golang/prometheus"

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
