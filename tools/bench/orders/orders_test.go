package orders

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

func TestOrderIDOfBothServers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"result":{"ref":"01M7","orderID":"1001","total":1,"state":"placed"}}`: "1001",
		`{"result":{"orderID":"1002"}}`:                                         "1002",
		`{"result":{}}`:                                                         "",
		`{"result":{"orderID":"10`:                                              "",
	} {
		if got := orderID([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestStockHasACompleteOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := newStock(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Address  struct{ FullAddress string }
		DishList []struct{ Ingredients []any }
	}
	if err := json.Unmarshal(s.body, &body); err != nil || body.Address.FullAddress == "" || len(body.DishList) != 5 || len(body.DishList[0].Ingredients) != 1 {
		t.Errorf("%s: %v", s.body, err)
	}
	requests := s.create("token")
	if len(requests) != 2 || len(s.sandbox) != 4 || string(requests[0]) == string(requests[1]) {
		t.Errorf("%d requests, %q", len(requests), s.sandbox)
	}
	for _, want := range []string{"POST /v1/restaurants/" + s.restaurants[0] + "/orders HTTP/1.1\r\n", "Idempotency-Key: order-" + loadgen.KeyMark, "Bearer token\r\n"} {
		if !strings.Contains(string(requests[0]), want) {
			t.Errorf("the request lacks %q:\n%s", want, requests[0])
		}
	}
	if got := string(change(Pay, "token")); !strings.HasPrefix(got, "PUT /v1/orders/"+loadgen.ValueMark+"/pay HTTP/1.1\r\n") || !strings.HasSuffix(got, "}]") {
		t.Errorf("pay: %q", got)
	}
	if got := string(change(Complete, "token")); !strings.HasSuffix(got, "Content-Length: 0\r\n\r\n") {
		t.Errorf("complete: %q", got)
	}
	direct, err := s.direct("token")
	if err != nil || !strings.Contains(string(direct), `"restaurantID":"`+s.restaurants[0]+`"`) || strings.Contains(string(direct), "Idempotency-Key") {
		t.Errorf("direct: %q, %v", direct, err)
	}
}

func TestFiguresArePerRequest(t *testing.T) {
	t.Parallel()
	before := usage{servers: time.Second, redis: measure.Usage{Masters: []time.Duration{time.Second, 0}, Bytes: 1000}}
	after := usage{
		servers: 1500 * time.Millisecond,
		service: 200 * time.Millisecond,
		own:     100 * time.Millisecond,
		redis:   measure.Usage{Masters: []time.Duration{1400 * time.Millisecond, 200 * time.Millisecond}, Replicas: 100 * time.Millisecond, Bytes: 4000},
	}
	got := figures(before, after, loadgen.Result{Answered: 1000, PerSecond: 500}, 2*time.Second, 2)
	want := Run{
		Requests:  1000,
		PerSecond: 500,
		Server:    500,
		Redis:     600,
		Replicas:  100,
		Service:   200,
		Generator: 100,
		Busy:      0.375,
		Master:    0.2,
		Bytes:     3,
	}
	if math.Abs(got.Busy-want.Busy) < 1e-9 {
		got.Busy = want.Busy
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.cost() != 1200 {
		t.Errorf("cost %v, want 1200", got.cost())
	}
}

// report has two rounds. The machine became half as fast in the second: the ratios are
// the same.
func report() Report {
	runs := func(perSecond, server, redis float64) map[string][]Run {
		run := Run{
			Requests:  100,
			PerSecond: perSecond,
			Server:    server,
			Redis:     redis,
			Service:   90,
		}
		half := run
		half.PerSecond /= 2
		return map[string][]Run{Create: {run, half}, Replay: {run, half}}
	}
	r := Report{
		Rounds:  2,
		Seconds: 1,
		Command: "make it",
		Disk:    measure.Duration(3 * time.Millisecond),
		Service: Run{PerSecond: 9000, Service: 80},
		Series: []Series{
			{Server: ourName, Mode: Everysec, Runs: runs(3000, 120, 100)},
			{Server: usualName, Mode: Everysec, Runs: runs(6000, 80, 20)},
			{Server: ourName, Mode: Always, Runs: runs(1500, 200, 100)},
			{Server: usualName, Mode: Always, Runs: runs(2000, 80, 20)},
		},
		Latencies: []Latency{
			{
				Server: ourName, Mode: Everysec, Rate: 300,
				Runs: []loadgen.Result{{P50: 2 * time.Second, P99: 4 * time.Second, PerSecond: 150}},
			},
			{
				Server: usualName, Mode: Everysec, Rate: 300,
				Runs: []loadgen.Result{{P50: time.Millisecond, P99: 5 * time.Millisecond, PerSecond: 299}},
			},
		},
	}
	r.Machine = measure.Machine{
		Cores: 2,
		CPU:   "a processor",
		Go:    "go1.26",
		Redis: "Redis 7",
	}
	return r
}

func TestTableHasRatiosOfPairedRounds(t *testing.T) {
	t.Parallel()
	table := report().Table()
	for _, want := range []string{
		"| create | 2250 | 4500 | 0.50 (0.50 to 0.50) | 120 + 100 | 80 + 20 | 2.20 (2.20 to 2.20) | 90 / 90 |\n",
		"| orders per second, larder ÷ usual implementation, everysec | 0.50 (0.50 to 0.50) | ",
		"| larder's orders per second, always with one replica ÷ everysec | 0.50 (0.50 to 0.50) | ",
		"≥ 0.60 | **not reached** |\n",
		"| everysec | 300 | 2000.00, 4000.00 | 150: falls behind | 1.00, 5.00 | 299 |\n\n",
		"| p50 at 300 orders per second, larder ÷ usual implementation, everysec | 2000.00 (2000.00 to 2000.00) | ≤ 1.50 | ≤ 1.50 | **misses the gate** |\n",
		"wait_replicas: 1",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if strings.Contains(table, "| pay |") {
		t.Errorf("the table has an operation that was not measured:\n%s", table)
	}
}

func TestGatesNameWhatMissesThem(t *testing.T) {
	t.Parallel()
	for _, l := range limits() {
		if l.gate <= 0 || l.most && l.gate < l.goal || !l.most && l.gate > l.goal {
			t.Errorf("%s: gate %v, goal %v", l.name, l.gate, l.goal)
		}
	}
	r := report()
	if err := r.Gates(); err == nil || strings.Count(err.Error(), "\n") != 1 || strings.Count(err.Error(), "at 300 orders per second") != 2 {
		t.Errorf("got %v, want both quantiles", err)
	}
	r.Latencies = nil
	if err := r.Gates(); err != nil {
		t.Errorf("no gate is missed: %v", err)
	}
	for i := range r.Series[0].Runs[Create] {
		r.Series[0].Runs[Create][i].Server = 5000
	}
	if err := r.Gates(); err == nil || !strings.Contains(err.Error(), "CPU of server and Redis per order") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want the CPU time alone", err)
	}
	r.Series = r.Series[:2]
	if err := r.Gates(); err == nil || !strings.Contains(err.Error(), "not every limit") {
		t.Errorf("without a mode: %v", err)
	}
}

func TestSectionsTakeThePlaceOfTheOnesBefore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		section string
		replace func(page, section string) (string, error)
		want    []string
	}{
		{report().Section(), Replace, []string{
			"2 cores (a processor). The versions are go1.26 and Redis 7.", "64 keep-alive connections and 2 alternating rounds of 1.0 s",
			"fsync is 3.00 ms", "takes 9000 orders per second, and 80 µs of CPU time for each; the fastest server reaches 50 % of that.", "Command: `make it`.",
		}},
		{growth().Section("instances.svg"), ReplaceGrowth, []string{"2 cores (a processor), go1.26 and Redis 7", "](instances.svg)", "Command: `make it`."}},
	} {
		page, err := tc.replace("before\n"+tc.section+"\nafter\n", "new "+tc.section)
		if err != nil || page != "before\nnew "+tc.section+"\nafter\n" {
			t.Errorf("replace: %v\n%s", err, page)
		}
		for _, want := range tc.want {
			if !strings.Contains(tc.section, want) {
				t.Errorf("the section lacks %q:\n%s", want, tc.section)
			}
		}
		if _, err := tc.replace("no place", tc.section); err == nil {
			t.Error("a page without marks was written")
		}
	}
}

// growth has two setups: one is limited by the cores, the other by a Redis master.
func growth() Growth {
	run := Run{
		Requests:  100,
		PerSecond: 1000,
		Server:    400,
		Redis:     140,
		Service:   100,
		Generator: 20,
		Busy:      0.95,
		Master:    0.3,
		Bytes:     2048,
	}
	full := run
	full.Master, full.Replicas, full.Busy = 0.9, 70, 0.6
	idle := run
	idle.Busy = 0.5
	return Growth{
		Machine: report().Machine,
		Command: "make it",
		Rounds:  1,
		Seconds: 1,
		Setups: []Measured{
			{Setup: "one Redis", Masters: 1, Points: []Point{{Instances: 1, Runs: []Run{run}}, {Instances: 2, Runs: []Run{idle}}}},
			{Setup: "a replica, `wait_replicas: 1`", Masters: 1, Replicas: 1, Points: []Point{{Instances: 1, Runs: []Run{full}}}},
		},
	}
}

func TestGrowthNamesTheBottleneckAndEstimates(t *testing.T) {
	t.Parallel()
	table := growth().Table()
	for _, want := range []string{
		"| one Redis | 1 | 1000 | 400 | 140 | 0 | 100, 20 | 2.0 KiB | the 2 cores (95 %), most of it larder (61 %) | 6, 2, 0 |\n",
		"| one Redis | 2 | 1000 | 400 | 140 | 0 | 100, 20 | 2.0 KiB | waiting for Redis, its replica or the ordering service: the cores are used to 50 % | 6, 2, 0 |\n",
		"| a Redis master: 90 % of a core | 6, 2, 1 |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	t.Parallel()
	bars := 0
	plot := xml.NewDecoder(strings.NewReader(growth().Plot()))
	for {
		token, err := plot.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
			bars++
		}
	}
	if bars != 1+3+3*3 { // the background, the legend, and three parts of three bars
		t.Errorf("%d rectangles, want 13", bars)
	}
}
