package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"larder/ordering"
)

const (
	// countTimeout bounds what a scrape asks of Redis.
	countTimeout = time.Second
	// countInterval is how old its answer may be: who scrapes more often, or many
	// scrapers, ask Redis no more often.
	countInterval = 5 * time.Second
)

// OrderSource is what the orders of a scrape are read from.
type OrderSource struct {
	Connections []string
	Orders      interface {
		Health(connection string) (ordering.JournalHealth, bool)
	}
	Journal interface {
		Ready(ctx context.Context, connection string) error
	}
	// Unknown counts the orders of a connection with an unknown outcome; nil: not known.
	Unknown     func(ctx context.Context, connection string) (int64, error)
	TakesOrders func() bool // whether anyone may place orders
	Log         logrus.FieldLogger
}

// OrderCounts is what the journal says of the orders of all instances, as scrapes
// last asked it. While it does not answer, what it said last stays: an unknown
// order does not cease to be one because Redis is down.
type OrderCounts struct {
	OrderSource

	mu       sync.Mutex // held while the journal is asked: other scrapes wait for its answer
	loadedAt time.Time
	failing  bool
	unknown  map[string]int64 // by connection; those that were never counted are missing
	ready    map[string]bool  // by connection
}

// NewOrderCounts makes counts that have asked nothing yet.
func NewOrderCounts(source OrderSource) *OrderCounts {
	return &OrderCounts{OrderSource: source, unknown: map[string]int64{}, ready: map[string]bool{}}
}

// Refresh asks the journal, unless it was asked a moment ago.
func (o *OrderCounts) Refresh(c *gin.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.loadedAt) < countInterval {
		return
	}
	o.loadedAt = time.Now()
	// Of nobody's scrape: one that is given up must not fail those that follow.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), countTimeout)
	defer cancel()
	for _, connection := range o.Connections {
		o.ready[connection] = o.Journal.Ready(ctx, connection) == nil
	}
	if o.Unknown == nil {
		return
	}
	var err error
	for _, connection := range o.Connections {
		var count int64
		if count, err = o.Unknown(ctx, connection); err != nil {
			break
		}
		o.unknown[connection] = count
	}
	if err != nil && !o.failing {
		o.Log.WithFields(logrus.Fields{"event": "metrics.orders_not_counted"}).WithError(err).
			Warn("unknown orders cannot be counted: /metrics shows the last count")
	}
	o.failing = err != nil
}

// Collector shows the counts. It reads memory only.
func (o *OrderCounts) Collector() prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"connection"}, nil)
	}
	unknown := desc("larder_orders_unknown",
		"Orders with an operation of unknown outcome; the same number on every instance.")
	ready := desc("larder_orders_ready",
		"1 if new orders can be recorded safely, 0 while they are rejected; absent if no client may place orders.")
	paused := desc("larder_journal_restored",
		"1 while new orders are paused because Redis was restored or has lost orders.")
	replicas := desc("larder_journal_replicas", "Redis replicas that must acknowledge each change of an order.")
	return collector{[]*prometheus.Desc{unknown, ready, paused, replicas}, func(ch chan<- prometheus.Metric) {
		gauge := func(desc *prometheus.Desc, value float64, connection string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, connection)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		for connection, count := range o.unknown {
			gauge(unknown, float64(count), connection)
		}
		if !o.TakesOrders() { // nobody is refused any
			return
		}
		for connection, isReady := range o.ready {
			health, _ := o.Orders.Health(connection)
			isPaused := !health.PausedAt.IsZero()
			gauge(ready, boolGauge(isReady && !isPaused), connection)
			gauge(paused, boolGauge(isPaused), connection)
			gauge(replicas, float64(health.Replicas), connection)
		}
	}}
}
