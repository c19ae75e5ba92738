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
	// bookLimit bounds what a scrape asks of Redis.
	bookLimit = time.Second
	// bookEvery is how old its answer may be: who scrapes more often, or many
	// scrapers, ask Redis no more often.
	bookEvery = 5 * time.Second
)

// orderBook is what the journal says of the orders of all larders, as scrapes
// last asked it. While it does not answer, what it said last stands: an unknown
// order does not cease to be one because Redis is away.
type orderBook struct {
	server *Server

	mu      sync.Mutex // held while the journal is asked: other scrapes wait for its answer
	asked   time.Time
	failing bool
	unknown map[string]int64 // by connection; those that were never counted are missing
	ready   bool

	unknownDesc, readyDesc *prometheus.Desc
}

func newOrderBook(s *Server) *orderBook {
	return &orderBook{
		server: s, unknown: map[string]int64{},
		unknownDesc: prometheus.NewDesc("larder_orders_unknown",
			"Orders with an operation whose outcome nobody knows, by connection; the journal's count, the same on every larder.", []string{"connection"}, nil),
		readyDesc: prometheus.NewDesc("larder_orders_ready",
			"1 while new orders can be kept safe, 0 while they are refused because Redis is away or set up to forget; missing where nobody may place any.", nil, nil),
	}
}

// refresh asks the journal, unless it was asked a moment ago.
func (o *orderBook) refresh(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), bookLimit)
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.Sub(o.asked) >= bookEvery {
		o.ask(ctx)
		o.asked = now
	}
}

// ask asks the journal. The caller holds the lock.
func (o *orderBook) ask(ctx context.Context) {
	o.ready = o.server.orders != nil && o.server.orders.Ready(ctx) == nil
	if o.server.countUnknown == nil {
		return
	}
	var failed error
	for _, connection := range o.server.connections {
		count, err := o.server.countUnknown(ctx, connection.Name)
		if err != nil {
			failed = err
			break
		}
		o.unknown[connection.Name] = count
	}
	if failed != nil && !o.failing {
		o.server.log.WithFields(logrus.Fields{"event": "metrics.orders_unread"}).WithError(failed).
			Warn("unknown orders cannot be counted: /metrics shows the last count")
	}
	o.failing = failed != nil
}

// Describe implements prometheus.Collector.
func (o *orderBook) Describe(ch chan<- *prometheus.Desc) {
	ch <- o.unknownDesc
	ch <- o.readyDesc
}

// Collect implements prometheus.Collector. It reads memory only.
func (o *orderBook) Collect(ch chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for connection, count := range o.unknown {
		ch <- prometheus.MustNewConstMetric(o.unknownDesc, prometheus.GaugeValue, float64(count), connection)
	}
	if !o.server.takesOrders() { // nobody is refused any
		return
	}
	ready := 0.0
	if o.ready {
		ready = 1
	}
	ch <- prometheus.MustNewConstMetric(o.readyDesc, prometheus.GaugeValue, ready)
}
