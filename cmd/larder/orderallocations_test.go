package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/ordertest"
	"larder.local/internal/testkit/redistest"
)

// The limits of what a whole order allocates, from its HTTP request to the response.
const (
	maxOrderAllocations = 520 // 431 on a busy machine, where fewer orders share round trips
	maxOrderBytes       = 80_000
)

// An instance places orders of five dishes, with Redis and the ordering service in other processes. Its metrics
// show what it allocates, including net/http, the Redis client and the logs.
func TestWhatAnOrderAllocates(t *testing.T) { //nolint:paralleltest // other tests would slow this one down
	order, err := ordertest.FiveLines(time.Now().Add(24 * time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox.New(sandbox.Config{})
	defer box.Close()
	box.SetMenu(string(order.Restaurant), order.View)
	service := httptest.NewServer(box.Handler())
	defer service.Close()
	config := clitest.WriteFile(t, "larder.yaml", fmt.Sprintf(`http: {listen: "127.0.0.1:0", metrics: open, rate: {place: 0}}
redis: {url: "redis://%s/0"}
connections:
  - {name: main, base_url: %q, auth_url: %q, client_id: demo, client_secret: demo-secret, default_menu: false}
auth: {clients: [{id: shop, secret: shop-secret-long, scopes: [menu, orders]}]}
restaurants: [{id: %s, schedule: "@every 48h"}]
`, redistest.Start(t, redistest.AppendOnly()).Addr(), service.URL, service.URL, order.Restaurant))
	// Each processor has pools of net/http, so an order that changes processors may find them empty.
	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json", "GOMAXPROCS=1"}, "serve", "--config", config)
	base := p.url(t)
	waitReady(t, base)
	url, header := base+"/v1/restaurants/"+string(order.Restaurant)+"/orders", bearer(t, base, "shop", "shop-secret-long")
	header.Set("Content-Type", "application/json")
	n := 0
	place := func(orders int) metrics.Sample {
		for range orders {
			n++
			header.Set("Idempotency-Key", fmt.Sprint("order-", n))
			post(t, url, header, string(order.Body))
			<-time.After(8 * time.Millisecond) //testwaits:allow the TCP connection to the service rests (policy O17); a new one allocates 30 objects
		}
		_, text := clitest.Fetch(t, base+"/metrics")
		return metrics.Parse(text)
	}
	place(50)
	<-time.After(5 * time.Second) //testwaits:allow orders share TCP connections afterwards (decision 0062)
	const orders = 200
	begun := time.Now()
	place(orders)
	took := time.Since(begun)
	allocations, bytes := math.Inf(1), math.Inf(1)
	// Often the first measurement is enough. A garbage collection during it empties the pools.
	for try := 0; try < 5 && (allocations > maxOrderAllocations || bytes > maxOrderBytes); try++ {
		first, start := place(0), time.Now() // each reads the metrics once
		<-time.After(took)                   //testwaits:allow as long as the orders took, to measure what the instance does without them
		before, middle := place(0), time.Now()
		after, end := place(orders), time.Now()
		longer := end.Sub(middle).Seconds() / middle.Sub(start).Seconds() // the orders take longer on a busy machine
		each := func(series string) float64 {
			return (after[series] - before[series] - longer*(before[series]-first[series])) / orders
		}
		allocations = min(allocations, each("go_memstats_mallocs_total"))
		bytes = min(bytes, each("go_memstats_alloc_bytes_total"))
	}
	t.Logf("an order allocates %.0f objects and %.0f bytes", allocations, bytes)
	if allocations < 50 || allocations > maxOrderAllocations || bytes > maxOrderBytes {
		t.Errorf("an order allocates %.0f objects and %.0f bytes; want at most %d and %d", allocations, bytes, maxOrderAllocations, maxOrderBytes)
	}
}

// post places an order, which must succeed.
func post(t *testing.T, url string, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if text, err := io.ReadAll(response.Body); response.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s, %v", response.StatusCode, text, err)
	}
}
