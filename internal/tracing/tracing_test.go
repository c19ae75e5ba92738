package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"larder.local/internal/setting"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/tracing"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// collector counts the received spans and responds with the given status.
func collector(t *testing.T, status *atomic.Int64) (url string, arrived *atomic.Int64) {
	t.Helper()
	arrived = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		rw.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	return server.URL, arrived
}

func made(t *testing.T, cfg tracing.Config, log logrus.FieldLogger) *tracing.Tracing {
	t.Helper()
	traces, err := tracing.New(cfg, "1.2.3", log)
	if err != nil || traces == nil {
		t.Fatalf("got %v, %v", traces, err)
	}
	return traces
}

// span traces one request.
func span(traces *tracing.Tracing) {
	ctx, request := traces.Serve(context.Background(), http.Header{}, http.MethodGet)
	_, part := tracing.Start(ctx, "part")
	part.End()
	request.End()
}

// The error text of Redis contains the command. It is not exported.
func TestRedisErrorTextsAreNotExported(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	defer server.Close()
	traces := made(t, tracing.Config{Endpoint: server.URL, Sample: 1}, logrus.New())
	client := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr(), DisableIdentity: true})
	defer client.Close() //nolint:errcheck // a test's
	if err := traces.Redis(client); err != nil {
		t.Fatal(err)
	}
	const phone = "+4915112345678"
	ctx, request := traces.Serve(t.Context(), http.Header{}, http.MethodGet)
	if err := client.Do(ctx, "nonsense", phone).Err(); err == nil || !strings.Contains(err.Error(), phone) {
		t.Fatalf("Redis responds %v: the test needs an error that contains the command", err)
	}
	request.End()
	if err := traces.Close(); err != nil {
		t.Fatal(err)
	}
	body := <-bodies
	if !bytes.Contains(body, []byte("nonsense")) {
		t.Fatalf("the command is not traced: %q", body)
	}
	const failed = "z\x02\x18\x02" // a span's status with only the code
	if bytes.Contains(body, []byte(phone)) || !bytes.Contains(body, []byte(failed)) {
		t.Errorf("a span contains Redis's error text, or no error status: %q", body)
	}
}

func TestConfigErrorsNameTheirKeys(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg  tracing.Config
		says string
	}{
		"no scheme":      {tracing.Config{Endpoint: "127.0.0.1:4318", Sample: 1}, "tracing.endpoint: "},
		"another scheme": {tracing.Config{Endpoint: "grpc://collector:4317", Sample: 1}, "write http:// or https://"},
		"a password":     {tracing.Config{Endpoint: "http://me:hidden@collector", Sample: 1}, "OTEL_EXPORTER_OTLP_HEADERS"},
		"a query":        {tracing.Config{Endpoint: "http://collector?x=1", Sample: 1}, "neither query nor fragment"},
		"sample above":   {tracing.Config{Sample: 1.5}, "tracing.sample: 1.5 is not between 0 and 1"},
		"sample below":   {tracing.Config{Sample: -1}, "tracing.sample: -1"},
	} {
		err := tc.cfg.Validate()
		var fault *setting.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v, want %q", name, err, tc.says)
		}
	}
	if err := (tracing.Config{Endpoint: "https://collector.example/otlp", Sample: 0}).Validate(); err != nil {
		t.Errorf("a valid configuration: %v", err)
	}
}

// Without an endpoint New returns nil, and every method may be called.
func TestDisabledTracingDoesNotAllocate(t *testing.T) { //nolint:paralleltest // counts allocations
	traces, err := tracing.New(tracing.Config{Sample: 1}, "1.2.3", logrus.New())
	if traces != nil || err != nil {
		t.Fatalf("got %v, %v", traces, err)
	}
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, "x")
	header := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	took := testing.AllocsPerRun(1000, func() {
		ctx, request := traces.Serve(ctx, header, http.MethodGet)
		ctx, part := tracing.Start(ctx, "part")
		part.Text("key", "value")
		part.Number("number", 1)
		part.Fail("kind")
		part.End()
		if tracing.LogFields(ctx) != nil {
			t.Error("there are ids without a trace")
		}
		request.End()
	})
	if took != 0 {
		t.Errorf("%v allocations", took)
	}
	if err := errors.Join(traces.Redis(), traces.Close()); err != nil || spansOf(traces) != (counts{}) {
		t.Errorf("%v, %+v", err, spansOf(traces))
	}
}

// Spans that the collector refuses are dropped and counted, and the failure is
// logged once. The recovery is logged once too.
func TestCollectorRefusesSpans(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusBadRequest) // 5xx would be retried
	url, arrived := collector(t, &status)
	log, told := logtest.NewNullLogger()
	traces := made(t, tracing.Config{Endpoint: url, Sample: 1}, log)
	for range 2 {
		span(traces)
		if err := traces.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	status.Store(http.StatusOK)
	span(traces)
	if err := traces.Close(); err != nil {
		t.Error(err)
	}
	if got := spansOf(traces); got != (counts{Sent: 2, Dropped: 4}) || arrived.Load() != 3 {
		t.Errorf("got %+v by %d requests", got, arrived.Load())
	}
	var events []any
	for _, entry := range told.AllEntries() {
		events = append(events, entry.Data["event"])
	}
	if len(events) != 2 || events[0] != "tracing.failed" || events[1] != "tracing.resumed" {
		t.Errorf("the log has %v", events)
	}
}

// The queue of finished spans is limited, and they are sent in batches.
func TestQueueIsLimited(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	taken := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		<-taken
	}))
	defer server.Close()
	log, _ := logtest.NewNullLogger()
	traces := made(t, tracing.Config{Endpoint: server.URL, Sample: 1}, log)
	for range 5000 {
		span(traces)
	}
	if got := spansOf(traces); got != (counts{Dropped: 2*5000 - 4096}) {
		t.Errorf("while the collector accepts none: %+v", got)
	}
	close(taken)
	if err := traces.Close(); err != nil {
		t.Error(err)
	}
	if got := spansOf(traces); got.Sent != 4096 || requests.Load() > 2*4096/512 {
		t.Errorf("%d were sent by %d requests", got.Sent, requests.Load())
	}
}

// hanging is a sender whose collector does not respond.
type hanging struct {
	stopped chan struct{}
	stop    func() // closes stopped, once
}

func newHanging() hanging {
	stopped := make(chan struct{})
	return hanging{stopped, sync.OnceFunc(func() { close(stopped) })}
}

// ExportSpans implements sdk.SpanExporter.
func (h hanging) ExportSpans(ctx context.Context, _ []sdk.ReadOnlySpan) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.stopped:
		return context.Canceled
	}
}

// Shutdown implements sdk.SpanExporter.
func (h hanging) Shutdown(context.Context) error { h.stop(); return nil }

// A collector that does not respond delays Close by two seconds, although each of the four exports may take ten.
func TestCloseWaitsTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, _ := logtest.NewNullLogger()
		traces := made(t, tracing.Config{Endpoint: "http://collector.test", Sample: 1}, log)
		traces.SendTo(newHanging())
		for range 1000 {
			span(traces)
		}
		start := time.Now()
		if err := traces.Close(); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v, want nil after 2s", err, time.Since(start))
		}
		synctest.Wait()
		if got := spansOf(traces); got != (counts{Dropped: 2000}) || time.Since(start) != 2*time.Second {
			t.Errorf("after %v: %+v, want all spans dropped after 2s", time.Since(start), got)
		}
	})
}

// Close cancels the request to a collector that does not respond, and no goroutine is left.
func TestCloseDoesNotWaitForAHangingCollector(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the client's end
		<-r.Context().Done()
	}))
	defer server.Close()
	log, _ := logtest.NewNullLogger()
	traces := made(t, tracing.Config{Endpoint: server.URL, Sample: 1}, log)
	for range 1000 {
		span(traces)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for ; requests.Load() == 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("nothing is sent")
		}
	}
	if err := traces.Close(); err != nil {
		t.Error(err)
	}
	for ; spansOf(traces).Dropped != 2000; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("the remaining spans are not dropped: %+v", spansOf(traces))
		}
	}
}

// With a sample of 0, nothing is exported, even if the caller's trace is sampled.
func TestSampleOfZero(t *testing.T) {
	t.Parallel()
	log, _ := logtest.NewNullLogger()
	traces := made(t, tracing.Config{Endpoint: "http://127.0.0.1:1", Sample: 0}, log)
	header := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	ctx, request := traces.Serve(t.Context(), header, http.MethodGet)
	if request.Kept() || tracing.LogFields(ctx) != nil {
		t.Error("a span is exported")
	}
	request.End()
	if err := traces.Close(); err != nil || spansOf(traces) != (counts{}) {
		t.Errorf("%v, %+v", err, spansOf(traces))
	}
}

// counts are the numbers of Spans.
type counts struct{ Sent, Dropped uint64 }

func spansOf(t *tracing.Tracing) counts {
	sent, dropped := t.Spans()
	return counts{sent, dropped}
}
