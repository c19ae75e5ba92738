package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// redisState tells at each scrape how Redis is, as the last that used it found
// it, and what its connections do.
type redisState struct {
	server *Server

	up, refusing, connections, timeouts *prometheus.Desc
}

func newRedisState(s *Server) *redisState {
	return &redisState{
		server: s,
		up:     prometheus.NewDesc("larder_redis_up", "0 while Redis does not answer, by the scheduler's last question; else 1.", nil, nil),
		refusing: prometheus.NewDesc("larder_redis_refuses_writes",
			"1 while Redis answers and takes no writes: a full memory or disk, a replica, a missing right; else 0.", nil, nil),
		connections: prometheus.NewDesc("larder_redis_connections",
			"Connections to Redis, by client (ordinary, or strict: journal and leases, sent once) and state: idle or used.", []string{"client", "state"}, nil),
		timeouts: prometheus.NewDesc("larder_redis_pool_timeouts_total",
			"How often a command waited in vain for a connection to Redis, by client.", []string{"client"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (r *redisState) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{r.up, r.refusing, r.connections, r.timeouts} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It asks Redis nothing.
func (r *redisState) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(r.up, prometheus.GaugeValue, boolGauge(!r.server.runner.RedisAway()))
	ch <- prometheus.MustNewConstMetric(r.refusing, prometheus.GaugeValue, boolGauge(r.server.runner.Refused() != nil))
	for name, client := range map[string]redis.UniversalClient{"ordinary": r.server.redis.Client(), "strict": r.server.redis.Strict()} {
		pool := client.PoolStats()
		ch <- prometheus.MustNewConstMetric(r.connections, prometheus.GaugeValue, float64(pool.IdleConns), name, "idle")
		ch <- prometheus.MustNewConstMetric(r.connections, prometheus.GaugeValue, float64(pool.TotalConns-min(pool.IdleConns, pool.TotalConns)), name, "used")
		ch <- prometheus.MustNewConstMetric(r.timeouts, prometheus.CounterValue, float64(pool.Timeouts), name)
	}
}
