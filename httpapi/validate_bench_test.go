package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/httpapi"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/ordertest"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// BenchmarkValidateRoute sends the same order of 5 lines with 5 modifiers over loopback,
// alternately to the validate route and to a Gin handler that binds it and returns a constant. It
// reports the medians of both and their ratio.
func BenchmarkValidateRoute(b *testing.B) {
	order, err := ordertest.FiveLines(time.Now().Add(2 * time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	larder := validateServer(b, string(order.View)) + "/v1/restaurants/" + apitest.Bistro + "/orders/validate"
	constant := constantServer(b)
	if answer := post(b, larder, order.Body); !bytes.HasPrefix(answer, []byte(`{"result":{"valid":true`)) {
		b.Fatalf("%s", answer)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		post(b, larder, order.Body)
		middle := time.Now()
		post(b, constant, order.Body)
		ours, theirs = append(ours, middle.Sub(start)), append(theirs, time.Since(middle))
	}
	mine, others := median(ours), median(theirs)
	b.ReportMetric(float64(mine.Microseconds()), "validate-µs")
	b.ReportMetric(float64(others.Microseconds()), "constant-µs")
	b.ReportMetric(float64(mine)/float64(others), "ratio")
}

// validateServer is an instance with one restaurant and this menu.
func validateServer(b *testing.B, view string) (url string) {
	b.Helper()
	p := apitest.DefaultPlan()
	p.HTTP.Rate.Validate = ratelimit.Rate{Count: 1e9, Per: time.Second}
	log := logrus.New()
	log.SetOutput(io.Discard)
	redis, err := redisdb.Open(p.Redis, log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = redis.Close() })
	store := cache.NewStore(redis, cache.StoreConfig{})
	catalogues := replica.New(store, replica.Config{Log: log})
	settings := menu.DefaultSettings()
	runner, err := menusync.NewRunner(menusync.Deps{
		Restaurants: []menusync.Restaurant{{Restaurant: directory.Restaurant{ID: apitest.Bistro, Name: apitest.Bistro, Connection: "main"}, Settings: settings, Schedule: "@every 24h"}},
		Connections: []menusync.Connection{{Name: "main", Source: &apitest.Service{Menus: map[string]string{apitest.Bistro: view}}, Settings: settings}},
		Redis:       redis,
		Store:       store,
		Replica:     catalogues,
	})
	if err != nil {
		b.Fatal(err)
	}
	if run, err := apitest.SyncOnce(b.Context(), runner, apitest.Bistro); err != nil || run.Outcome != runlog.OutcomeUpdated {
		b.Fatalf("%+v, %v", run, err)
	}
	if err := catalogues.Poll(b.Context()); err != nil { // as before an instance serves; until then, each order reads Redis
		b.Fatal(err)
	}
	server, err := httpapi.New(p.HTTP, p.Auth, httpapi.Deps{
		Replica:     catalogues,
		Store:       store,
		Scheduler:   menusync.NewScheduler(runner),
		Runner:      runner,
		Validator:   validate.New(p.Ordering.Config, time.Now),
		Directory:   directory.New([]directory.Connection{{Name: "main"}}, []directory.Restaurant{{ID: apitest.Bistro, Name: apitest.Bistro, Connection: "main"}}),
		Connections: []httpapi.Connection{apitest.IdleConnection("main")},
		Redis:       redis,
		Metrics:     metrics.New("1.2.3"),
		Log:         log,
		Clock:       time.Now,
	})
	if err != nil {
		b.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	b.Cleanup(listener.Close)
	return listener.URL
}

// constantServer binds the body and returns a constant.
func constantServer(b *testing.B) (url string) {
	b.Helper()
	engine := gin.New()
	answer := []byte(`{"result":{"valid":true}}`)
	engine.POST("/validate", func(c *gin.Context) {
		var body ordertest.Bound
		if err := c.ShouldBindJSON(&body); err != nil || len(body.DishList) != 5 {
			c.Status(http.StatusBadRequest)
			return
		}
		c.Data(http.StatusOK, "application/json", answer)
	})
	server := httptest.NewServer(engine)
	b.Cleanup(server.Close)
	return server.URL + "/validate"
}

func post(b *testing.B, url string, body []byte) []byte {
	b.Helper()
	response, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // a benchmark ends when it ends
	if err != nil {
		b.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d %s, %v", url, response.StatusCode, answer, err)
	}
	_ = response.Body.Close()
	return answer
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
