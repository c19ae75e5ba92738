package ordering_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
	"larder.local/ordering/validate"
)

// deployment has several instances with one real Redis and one sandbox.
type deployment struct {
	replicas []instance
	url      string
	card     *menu.Catalogue
}

// instance is one instance: its orders and their journal.
type instance struct {
	*ordering.Orders

	journal *journal.Journal
}

// newDeployment starts a deployment. Each instance has its own journal and client.
func newDeployment(t *testing.T, replicas int) *deployment {
	t.Helper()
	box := sandbox.New(sandbox.Config{})
	box.SetMenu(string(menutest.Restaurant), []byte(menutest.Card))
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		box.Close()
		server.Close()
	})
	redis := redistest.Start(t, redistest.AppendOnly())
	d := &deployment{url: server.URL, card: menutest.Compile(t, menutest.Card, menu.DefaultSettings())}
	log := silentlog.New()
	for range replicas {
		store, err := redisdb.Open(redisdb.Config{URL: redis.URL()}, log)
		if err != nil {
			t.Fatalf("open redis: %v", err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Errorf("close redis: %v", err)
			}
		})
		cfg := upstream.Config{
			Name:         "main",
			BaseURL:      server.URL,
			AuthURL:      server.URL,
			ClientID:     "demo",
			ClientSecret: "demo-secret",
			Concurrency:  128,
		}
		client, err := upstream.New(cfg, upstream.Deps{Jitter: func(time.Duration) time.Duration { return time.Millisecond }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		kept := journal.New(store, ordering.DefaultConfig(), log)
		d.replicas = append(d.replicas, instance{journal: kept, Orders: ordering.NewOrders(ordering.DefaultConfig(), ordering.Deps{
			Validator:   validate.New(validate.DefaultConfig(), time.Now),
			Catalogues:  d,
			Journal:     kept,
			Services:    map[string]ordering.Service{"main": watched{client}},
			Reasons:     func(context.Context, string) ([]upstream.Reason, error) { return simReasons(), nil },
			Connections: func() []string { return []string{"main"} },
		})})
	}
	return d
}

// Catalogue implements ordering.Catalogues.
func (d *deployment) Current(context.Context, menu.RestaurantID, string) (int64, *menu.Catalogue, error) {
	return 7, d.card, nil
}

// control calls one of the sandbox's control endpoints.
func (d *deployment) control(t *testing.T, method, path, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s, %v", method, path, response.StatusCode, answer, err)
	}
	return answer
}

// callTimes are the start and the end of a call to the service.
type callTimes struct{ went, came time.Time }

type callTimesKey struct{}

// watched is a handler that records the times of calls to the service.
type watched struct{ ordering.Service }

func (w watched) Write(ctx context.Context, r upstream.WriteRequest) (upstream.Answer, error) {
	defer timeCall(ctx)()
	return w.Service.Write(ctx, r)
}

func timeCall(ctx context.Context) func() {
	v, ok := ctx.Value(callTimesKey{}).(*callTimes)
	if !ok {
		return func() {}
	}
	v.went = time.Now()
	return func() { v.came = time.Now() }
}

// calls returns the number of calls that write that the sandbox received.
func (d *deployment) calls(t *testing.T) (all int) {
	t.Helper()
	var counters struct {
		Result struct{ Calls map[string]int }
	}
	if err := json.Unmarshal(d.control(t, http.MethodGet, "/sandbox/counters", ""), &counters); err != nil {
		t.Fatal(err)
	}
	for call, n := range counters.Result.Calls {
		if strings.Contains(call, "/orders") {
			all += n
		}
	}
	return all
}
