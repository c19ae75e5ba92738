package metrics

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"larder.local/ordering"
)

const (
	// countTimeout limits the Redis calls of a scrape.
	countTimeout = time.Second
	// countInterval is the minimum time between two Redis reads, however many scrapers there are.
	countInterval = 5 * time.Second
)

// OrderCounts caches the journal's counts of orders for all instances. If the journal cannot be
// read, the last counts stay: unknown orders still exist while Redis is down.
type OrderCounts struct {
	Connections []string
	Orders      interface {
		Health(connection string) (ordering.JournalHealth, bool)
	}
	Journal ordering.Journal
	// Unknown counts the orders of a connection with an unknown outcome.
	Unknown     func(ctx context.Context, connection string) (int64, error)
	TakesOrders func() bool // reports whether any client may place orders
	Log         logrus.FieldLogger

	mu       sync.Mutex // held while the journal is read: other scrapes wait for the result
	loadedAt time.Time
	failing  bool
	unknown  map[string]int64 // by connection, without those that were never counted
	ready    map[string]bool  // by connection
	// unreadable has the former connections whose records another version of larder wrote (policy O20).
	unreadable []string
}

// refresh reads the journal, unless it was read within countInterval. The caller holds the lock.
func (o *OrderCounts) refresh() {
	if time.Since(o.loadedAt) < countInterval {
		return
	}
	o.loadedAt = time.Now()
	// Independent of the request: a canceled scrape must not fail the scrapes that wait for its result.
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	for _, connection := range o.Connections {
		o.ready[connection] = o.Journal.Ready(ctx, connection) == nil
	}
	former, err := o.Journal.Former(ctx, o.Connections)
	all := slices.Concat(o.Connections, former)
	if err == nil {
		maps.DeleteFunc(o.unknown, func(connection string, _ int64) bool { return !slices.Contains(all, connection) })
	}
	o.unreadable = nil
	for _, connection := range all {
		count, failed := o.Unknown(ctx, connection)
		if failed == nil {
			o.unknown[connection] = count
		}
		if _, other := errors.AsType[*ordering.FormatError](failed); other && slices.Contains(former, connection) {
			o.unreadable = append(o.unreadable, connection)
		}
		err = cmp.Or(err, failed)
	}
	if err != nil && !o.failing {
		o.Log.WithFields(logrus.Fields{"event": "metrics.orders_not_counted"}).WithError(err).
			Warn("cannot count orders with an unknown outcome; /metrics shows the last count")
	}
	o.failing = err != nil
}

// Collector returns the collector of the counts.
func (o *OrderCounts) Collector() prometheus.Collector {
	o.unknown, o.ready = map[string]int64{}, map[string]bool{}
	return Collector(func(out Sink) {
		gauge := func(name, help string, value float64, connection string) {
			out.Gauge(name, help, value, "connection", connection)
		}
		const format = "1 while orders stop because another version of larder wrote the order records."
		o.mu.Lock()
		defer o.mu.Unlock()
		o.refresh()
		for connection, count := range o.unknown {
			gauge("larder_orders_unknown", "Orders with an operation of unknown outcome; the same number on every instance.",
				float64(count), connection)
		}
		for _, connection := range o.unreadable {
			gauge("larder_journal_format", format, 1, connection)
		}
		if !o.TakesOrders() { // no orders can be rejected
			return
		}
		for connection, isReady := range o.ready {
			health, _ := o.Orders.Health(connection)
			isPaused := !health.PausedAt.IsZero()
			gauge("larder_orders_ready",
				"1 if new orders can be recorded safely, 0 while they are rejected; absent if no client may place orders.",
				BoolGauge(isReady && !isPaused), connection)
			gauge("larder_journal_restored", "1 while orders are paused because Redis was restored or has lost orders.",
				BoolGauge(isPaused), connection)
			gauge("larder_journal_replicas", "Redis replicas that must acknowledge each change of an order.",
				float64(health.Replicas), connection)
			gauge("larder_journal_format", format, BoolGauge(health.Unreadable), connection)
		}
	})
}
