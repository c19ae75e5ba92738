package journal_test

import (
	"context"
	"crypto/rand"
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"

	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// parallel is the number of concurrent tests, independent of the number of processors,
// because most of them wait for time to pass.
const parallel = 16

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		panic(err)
	}
	redis.SetLogger(unreachable{}) // it would log every refused connection in tests that stop a server
	leaktest.Main(servers.Main(replicated.Main(m)))
}

type unreachable struct{}

func (unreachable) Printf(context.Context, string, ...any) {}

// servers are shared servers that take seconds to start. replicated is a cluster whose
// masters have one replica each.
var (
	servers    redistest.Shared
	replicated = redistest.Shared{Replicas: 1}
)

const (
	main  = "main" // connection of most tests
	phone = "+37120000001"
	// patience limits the wait for asynchronous events.
	patience = time.Minute
)

// open opens a Redis until the test ends. Keys of an embedded Redis expire.
func open(tb testing.TB, url, prefix string) *redisdb.DB {
	tb.Helper()
	r, err := redisdb.Open(redisdb.Config{URL: url, Prefix: prefix}, quiet())
	if err != nil {
		tb.Fatalf("open redis: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("redis: %v", err)
		}
		if err := r.Close(); err != nil {
			tb.Errorf("close redis: %v", err)
		}
	})
	return r
}

// env is a journal with its own redis-server, and a plain client of it.
type env struct {
	*journal.Journal
	server *redistest.Server
	client *redis.Client
}

// start starts a server that writes to disk, and a journal that uses it.
func start(tb testing.TB, change func(*ordering.Config), options ...redistest.Option) *env {
	tb.Helper()
	server := redistest.Start(tb, append([]redistest.Option{redistest.AppendOnly()}, options...)...)
	cfg := ordering.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	return &env{Journal: journal.New(open(tb, server.URL(), ""), cfg, quiet()), server: server, client: server.Client()}
}

func quiet() logrus.FieldLogger { return silentlog.New() }

// create returns a spec of an order, expected in ten days.
func create(change ...func(*ordering.CallSpec)) ordering.CallSpec {
	o := ordering.CallSpec{
		ID:          rand.Text(),
		Operation:   upstream.OpCreate,
		Connection:  main,
		Ref:         rand.Text(),
		Key:         rand.Text(),
		Fingerprint: "f1",
		Client:      "storefront",
		RequestID:   "request-1",
		Body:        []byte(`{"guest":{"phone":"` + phone + `"}}`),
		Deadline:    time.Hour,
		Restaurant:  "bistro",
		MenuVersion: 42,
		Total:       decimal.NewNullDecimal(decimal.RequireFromString("199.90")),
		ExpectedAt:  time.Now().Add(10 * 24 * time.Hour),
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// pay returns a spec of a payment.
func pay(orderID string) ordering.CallSpec {
	return ordering.CallSpec{
		ID:          rand.Text(),
		Operation:   upstream.OpPay,
		Connection:  main,
		Ref:         rand.Text(),
		OrderID:     orderID,
		Key:         rand.Text(),
		Fingerprint: "f2",
		Client:      "storefront",
		RequestID:   "request-2",
		Body:        []byte(`[{"code":"cash"}]`),
		Deadline:    time.Hour,
		Payments:    []ordering.Payment{{Code: "cash", Amount: decimal.RequireFromString("199.90"), PaidAt: "2026-05-01T12:00:00+03:00"}},
	}
}

// overdue makes the deadline of a call pass immediately.
func overdue(o *ordering.CallSpec) { o.Deadline = -time.Second }

func on(connection string) func(*ordering.CallSpec) {
	return func(o *ordering.CallSpec) { o.Connection = connection }
}

// begun begins a call and fails on an error.
func begun(tb testing.TB, j ordering.Journal, o ordering.CallSpec) ordering.Record {
	tb.Helper()
	r, err := j.Begin(tb.Context(), o)
	if err != nil {
		tb.Fatalf("Begin for %s: %v", o.Operation, err)
	}
	return r
}

// ended finishes a record's last call, with an answer that contains the guest's phone.
func ended(tb testing.TB, j ordering.Journal, r ordering.Record, outcome ordering.Outcome, orderID string) ordering.Record {
	tb.Helper()
	r, err := j.Finish(tb.Context(), ordering.CallResult{
		Connection: r.Connection,
		Ref:        r.Ref,
		Call:       r.Calls[len(r.Calls)-1].Number,
		Outcome:    outcome,
		OrderID:    orderID,
		Attempts:   []ordering.Attempt{{At: time.Unix(1_800_000_000, 0), Duration: 12 * time.Millisecond, Status: 201, Outcome: outcome}},
		Answer:     &ordering.Answer{Status: 201, ContentType: "application/json", Body: []byte(`{"phone":"` + phone + `"}`)},
	})
	if err != nil {
		tb.Fatalf("Finish(%s): %v", outcome, err)
	}
	return r
}

// names returns the names of all keys, without the prefix.
func (e *env) names(t *testing.T) []string {
	t.Helper()
	var names []string
	keys := e.client.Scan(t.Context(), 0, "*", 100).Iterator()
	for keys.Next(t.Context()) {
		names = append(names, strings.TrimPrefix(keys.Val(), redisdb.DefaultPrefix+":"))
	}
	if err := keys.Err(); err != nil {
		t.Fatalf("read the key names: %v", err)
	}
	return names
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatalf("timeout after %s: %s", patience, what)
		case <-ticker.C:
		}
	}
}

// succeeds waits until a call returns no error.
func succeeds(t *testing.T, what string, call func() error) {
	t.Helper()
	var last error
	defer func() {
		if t.Failed() {
			t.Logf("%s: the last error is %v", what, last)
		}
	}()
	eventually(t, what, func() bool { last = call(); return last == nil })
}

// zero returns a member of a sorted set that is long overdue.
func zero(member string) redis.Z { return redis.Z{Member: member} }
