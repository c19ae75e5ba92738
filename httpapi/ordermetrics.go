package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

const (
	// countTimeout bounds what a scrape asks of Redis.
	countTimeout = time.Second
	// countInterval is how old its answer may be: who scrapes more often, or many
	// scrapers, ask Redis no more often.
	countInterval = 5 * time.Second
)

// orderCounts is what the journal says of the orders of all instances, as scrapes
// last asked it. While it does not answer, what it said last stays: an unknown
// order does not cease to be one because Redis is down.
type orderCounts struct {
	server       *Server
	countUnknown func(ctx context.Context, connection string) (int64, error) // nil: not known

	mu       sync.Mutex // held while the journal is asked: other scrapes wait for its answer
	loadedAt time.Time
	failing  bool
	unknown  map[string]int64 // by connection; those that were never counted are missing
	ready    map[string]bool  // by connection
}

// refresh asks the journal, unless it was asked a moment ago.
func (o *orderCounts) refresh(c *gin.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.loadedAt) < countInterval {
		return
	}
	o.loadedAt = time.Now()
	// Of nobody's scrape: one that is given up must not fail those that follow.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), countTimeout)
	defer cancel()
	for _, connection := range o.server.connections {
		o.ready[connection.Name] = o.server.journal.Ready(ctx, connection.Name) == nil
	}
	if o.countUnknown == nil {
		return
	}
	var err error
	for _, connection := range o.server.connections {
		var count int64
		if count, err = o.countUnknown(ctx, connection.Name); err != nil {
			break
		}
		o.unknown[connection.Name] = count
	}
	if err != nil && !o.failing {
		o.server.log.WithFields(logrus.Fields{"event": "metrics.orders_not_counted"}).WithError(err).
			Warn("unknown orders cannot be counted: /metrics shows the last count")
	}
	o.failing = err != nil
}

// collector shows the counts. It reads memory only.
func (o *orderCounts) collector() prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"connection"}, nil)
	}
	unknown := desc("larder_orders_unknown",
		"Orders with an operation whose outcome nobody knows, by connection; the journal's count, the same on every larder.")
	ready := desc("larder_orders_ready",
		"1 while new orders of a connection can be recorded safely, 0 while they are rejected; missing where nobody may place orders.")
	paused := desc("larder_journal_restored",
		"1 while new orders of a connection are paused because Redis was restored or has lost orders.")
	replicas := desc("larder_journal_replicas", "Number of Redis replicas that must acknowledge each change of an order of a connection.")
	return collector{[]*prometheus.Desc{unknown, ready, paused, replicas}, func(ch chan<- prometheus.Metric) {
		gauge := func(desc *prometheus.Desc, value float64, connection string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, connection)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		for connection, count := range o.unknown {
			gauge(unknown, float64(count), connection)
		}
		if !o.server.takesOrders() { // nobody is refused any
			return
		}
		for connection, isReady := range o.ready {
			health, _ := o.server.orders.Health(connection)
			isPaused := !health.PausedAt.IsZero()
			gauge(ready, boolGauge(isReady && !isPaused), connection)
			gauge(paused, boolGauge(isPaused), connection)
			gauge(replicas, float64(health.Replicas), connection)
		}
	}}
}
