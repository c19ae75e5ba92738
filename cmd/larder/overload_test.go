package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/overload"
	"larder/internal/testkit/redistest"
	"larder/internal/upstream"
)

// overloadFor is the duration of each load of TestOverloadMatrix.
var overloadFor = flag.Duration("overload", 0, "overload real larders for so long at each load, and print the figures; 0: not")

// overloaded is a sandbox with a low capacity, and real instances that use it.
type overloaded struct {
	service  *httptest.Server
	bases    []string
	flooding http.Header // of the client that sends too many orders
	modest   http.Header // of another client
	capacity float64     // orders per second
}

// overloadCase is one load.
type overloadCase struct {
	instances  int
	factor     float64 // orders as a multiple of the capacity
	concurrent int     // the limit of the sandbox
	delay      time.Duration
	limit      time.Duration // timeouts.write
	from, last time.Duration
	modestRate float64
	reads      bool   // menus are read before and during the load
	schedule   string // of syncs; "" for the default
}

func (c overloadCase) name() string {
	return fmt.Sprintf("%d larder, %g x capacity", c.instances, c.factor)
}

// TestOverload sends three times the orders that the ordering service can execute. The
// service continues to work. No outcome is unknown, rejected orders have Retry-After, and
// the orders of a second client are placed (policy O8a). How much of its capacity the
// service uses depends on the machine: make overload measures it.
func TestOverload(t *testing.T) {
	t.Parallel()
	row := overloadCase{
		instances:  1,
		factor:     3,
		concurrent: 2,
		delay:      200 * time.Millisecond,
		limit:      3 * time.Second,
		from:       300 * time.Millisecond,
		last:       1500 * time.Millisecond,
		modestRate: 2,
	}.run(t)
	t.Logf("\n%s", overload.Table([]overload.Row{row}))
	checkOverload(t, row)
	if row.Flood.Placed == 0 {
		t.Error("no order was placed")
	}
	if row.Flood.Busy == 0 {
		t.Error("nothing was rejected: it was no overload")
	}
}

// TestOverloadMatrix runs for minutes, with make overload.
//
//nolint:paralleltest // it needs the machine for itself
func TestOverloadMatrix(t *testing.T) {
	if *overloadFor == 0 {
		t.Skip("make overload runs it")
	}
	var rows []overload.Row
	for _, instances := range []int{1, 3} {
		for _, factor := range []float64{1.5, 3, 20} {
			c := overloadCase{
				instances:  instances,
				factor:     factor,
				concurrent: 16,
				delay:      time.Second,
				limit:      upstream.DefaultWriteTimeout,
				from:       10 * time.Second,
				last:       *overloadFor,
				modestRate: 1,
				reads:      true,
			}
			t.Run(c.name(), func(t *testing.T) {
				row := c.run(t)
				rows = append(rows, row)
				checkOverload(t, row)
				checkGoal(t, row)
			})
		}
	}
	t.Logf("capacity 16 at a time, 1s each; reads p99: under load / without\n%s", overload.Table(rows))
}

// checkOverload checks the rules for all loads and machines.
func checkOverload(t *testing.T, row overload.Row) {
	t.Helper()
	for name, r := range map[string]overload.Report{"flooding": row.Flood, "modest": row.Modest} {
		if r.Unknown != 0 || r.NoRetryAfter != 0 {
			t.Errorf("%s client: %d orders are unknown, %d rejections without Retry-After", name, r.Unknown, r.NoRetryAfter)
		}
		if len(r.Other) > 0 {
			t.Errorf("%s client: %d answers that are neither placed nor upstream_busy, such as %s", name, len(r.Other), r.Other[0])
		}
	}
	if late := row.Flood.NotSent + row.Modest.NotSent; late > row.Flood.Sent/20 { // a busy machine has a few of them
		t.Errorf("%d orders were recorded too late to be sent", late)
	}
	if placed := row.Flood.Placed + row.Modest.Placed; placed != row.Executed {
		t.Errorf("%d orders were placed, and the service executed %d", placed, row.Executed)
	}
	if row.Modest.Placed != row.Modest.Sent {
		t.Errorf("of the modest client's %d orders %d were placed: the other one starves it", row.Modest.Sent, row.Modest.Placed)
	}
}

// checkGoal checks the values that depend on the machine.
func checkGoal(t *testing.T, row overload.Row) {
	t.Helper()
	if got := row.Flood.Goodput + row.Modest.Goodput; got < 0.95*row.Capacity {
		t.Errorf("goodput %.2f a second from the 10th second on, want 95%% of %.0f", got, row.Capacity)
	}
	if float64(row.Flood.OnArrival) < 0.95*float64(row.Flood.Busy) {
		t.Errorf("%d of %d rejections came on arrival, want 95%%", row.Flood.OnArrival, row.Flood.Busy)
	}
	if row.Flood.RejectionP99 > 100*time.Millisecond {
		t.Errorf("rejections on arrival took %s (p99), want 100ms", row.Flood.RejectionP99)
	}
	if most := max(2*time.Millisecond, row.QuietReadsP99*3/2); row.ReadsP99 > most {
		t.Errorf("reads took %s (p99), want at most %s", row.ReadsP99, most)
	}
}

// run applies the load to new instances.
func (c overloadCase) run(t *testing.T) overload.Row {
	t.Helper()
	o := c.start(t)
	orders := func(as http.Header, key string, rate float64) overload.Load {
		load := overload.Load{
			Method: http.MethodPost,
			Header: as.Clone(),
			Key:    key,
			Rate:   rate,
			For:    c.last,
			Body:   `{"expeditionType":"pickup","soonest":true,"paymentTypeID":"card","dishList":[{"ID":"dish-roast-beef","quantity":1}]}`,
		}
		load.Header.Set("Content-Type", "application/json")
		for _, base := range o.bases {
			load.URLs = append(load.URLs, base+"/v1/restaurants/"+sandbox.BistroID+"/orders")
		}
		return load
	}
	reads := overload.Load{
		Method: http.MethodGet,
		Header: http.Header{"Accept-Encoding": {"gzip"}},
		Rate:   50,
		For:    min(c.last, 10*time.Second),
	}
	for _, base := range o.bases {
		reads.URLs = append(reads.URLs, base+"/v1/restaurants/"+sandbox.BistroID+"/menu")
	}
	ctx, cancel := context.WithTimeout(t.Context(), c.last+clitest.WaitLimit)
	defer cancel()
	var (
		flood, modest, quiet, busy []overload.Answer
		all                        sync.WaitGroup
	)
	if c.reads {
		quiet = reads.Run(ctx)
		reads.For = c.last
		all.Go(func() { busy = reads.Run(ctx) })
	}
	all.Go(func() { flood = orders(o.flooding, "flood", o.capacity*c.factor).Run(ctx) })
	all.Go(func() { modest = orders(o.modest, "modest", c.modestRate).Run(ctx) })
	all.Wait()
	return overload.Row{
		Name:          c.name(),
		Capacity:      o.capacity,
		Executed:      o.executed(t),
		Flood:         overload.Sum(flood, c.from, c.last, c.limit/10),
		Modest:        overload.Sum(modest, c.from, c.last, c.limit/10),
		ReadsP99:      overload.Quantile(overload.Took(busy, http.StatusOK), 0.99),
		QuietReadsP99: overload.Quantile(overload.Took(quiet, http.StatusOK), 0.99),
	}
}

// start starts the sandbox and real instances with one Redis.
func (c overloadCase) start(t *testing.T) *overloaded {
	t.Helper()
	delay := sandbox.Duration(c.delay)
	box := sandbox.New(sandbox.Config{Settings: sandbox.Settings{Capacity: &sandbox.Capacity{Concurrent: c.concurrent, Delay: delay}}})
	box.SetMenu(sandbox.BistroID, sandbox.Bistro(sandbox.BistroID, ""))
	o := &overloaded{service: httptest.NewServer(box.Handler()), capacity: float64(c.concurrent) / c.delay.Seconds()}
	t.Cleanup(func() {
		box.Close()
		o.service.Close()
	})
	redis := redistest.Start(t, redistest.AppendOnly())
	// The sandbox answers 503 only to calls that it has not executed, so retry_unavailable is true.
	config := clitest.WriteFile(t, "larder.yaml", fmt.Sprintf(`http: {listen: "127.0.0.1:0", metrics: open, rate: {place: 100000/s}}
redis: {url: "redis://%s/0"}
connections:
  - {name: main, base_url: %q, auth_url: %q, client_id: demo, client_secret: demo-secret, default_menu: false, retry_unavailable: true, timeouts: {write: %s}}
auth:
  clients:
    - {id: flooding, secret: flooding-secret, scopes: [menu, orders]}
    - {id: modest, secret: modest-secret-1, scopes: [menu, orders]}
sync: {schedule: %q}
restaurants:
  - {id: %s}
`, redis.Addr(), o.service.URL, o.service.URL, c.limit, cmp.Or(c.schedule, "@every 2m"), sandbox.BistroID))
	for range c.instances {
		p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", config)
		base := p.url(t)
		waitReady(t, base)
		o.bases = append(o.bases, base)
	}
	o.flooding, o.modest = bearer(t, o.bases[0], "flooding", "flooding-secret"), bearer(t, o.bases[0], "modest", "modest-secret-1")
	return o
}

// bearer returns the headers for the requests of a client, with all its scopes.
func bearer(t *testing.T, base, id, secret string) http.Header {
	t.Helper()
	form := "client_ID=" + id + "&client_secret=" + secret + "&grant_type=client_credentials"
	response, err := http.Post(base+"/connect/token", "application/x-www-form-urlencoded", strings.NewReader(form)) //nolint:noctx // the client is the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("token: %d %s, %v", response.StatusCode, text, err)
	}
	token := clitest.FromJSON[struct {
		AccessToken string `json:"access_token"`
	}](t, string(text)).AccessToken
	return http.Header{"Authorization": {"Bearer " + token}}
}

// executed waits until no order is in progress and returns how many orders the sandbox
// has executed.
func (o *overloaded) executed(t *testing.T) int {
	t.Helper()
	_, body := clitest.Fetch(t, o.service.URL+"/sandbox/counters")
	return clitest.FromJSON[struct {
		Result struct{ Executed map[string]int }
	}](t, body).Result.Executed["POST /orders/api/v1/orders"]
}
