package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"larder.local/internal/testkit/clitest"
)

// receiver accepts spans with OTLP over HTTP, like a collector.
type receiver struct {
	url string

	mu    sync.Mutex
	spans []*otlp.Span
	raw   []byte // all received bytes
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || request.Method+" "+request.URL.Path != "POST /v1/traces" || proto.Unmarshal(body, &sent) != nil {
			http.Error(rw, "no spans", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.raw = append(r.raw, body...)
		for _, of := range sent.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
		rw.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// trace returns the spans of one trace by name. Of several spans with a name it
// returns the last.
func (r *receiver) trace(id string) map[string]*otlp.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := map[string]*otlp.Span{}
	for _, span := range r.spans {
		if hex.EncodeToString(span.GetTraceId()) == id {
			named[span.GetName()] = span
		}
	}
	return named
}

// tracedDemo starts a demo that sends its spans to the receiver.
func tracedDemo(t *testing.T, r *receiver, settings ...string) (base, kitchen string, demo *clitest.Running) {
	t.Helper()
	demo = command{env: append([]string{
		"LARDER_RESTAURANTS_0_SCHEDULE=@every 48h", "LARDER_TRACING_ENDPOINT=" + r.url, "LARDER_HTTP_ACCESS_LOG=all",
	}, settings...)}.start(t, "demo", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0", "--log-level", "info", "--log-format", "json")
	base = demo.Out.Find(t, `(http://\S+)/v1/restaurants\n`)[1]
	kitchen = demo.Out.Find(t, `(http://\S+)/sandbox/orders   what`)[1]
	return base, kitchen, demo
}

// The personal data of the guest in this order must not be in any span.
const guestsOrder = `{"expeditionType":"delivery","soonest":true,"paymentTypeID":"card","guest":{"phone":"+35120009999","firstName":"Zenobia"},
"address":{"cityName":"Porto","street":"Rua das Flores","houseNumber":"7"},
"dishList":[{"ID":"dish-cappuccino","quantity":1,"ingredients":[{"ID":"ing-oat"}]}]}`

// placeTraced places the order with a traceparent. The status must be 201.
func placeTraced(t *testing.T, base, traceparent string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		base+"/v1/restaurants/76439fb3-c0c4-42ca-a269-64f031a6a33b/orders", strings.NewReader(guestsOrder))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + tokenFor(t, base), "Content-Type": "application/json", "Idempotency-Key": "secret-key-of-the-page", "Traceparent": traceparent,
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err := io.ReadAll(response.Body); response.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s, %v", response.StatusCode, answer, err)
	}
}

// tokenFor returns a bearer token of the demo's storefront.
func tokenFor(t *testing.T, base string) string {
	t.Helper()
	form := "grant_type=client_credentials&client_id=storefront&client_secret=storefront-secret"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/connect/token", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return clitest.FromJSON[struct {
		Token string `json:"access_token"`
	}](t, string(body)).Token
}

// An order is one trace: from the page that sent its traceparent, through larder and
// its journal, to the ordering service, which receives the traceparent too.
func TestAnOrderIsOneTrace(t *testing.T) {
	t.Parallel()
	const id, page = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	r := newReceiver(t)
	base, kitchen, demo := tracedDemo(t, r, "LARDER_CONNECTIONS_0_TRACEPARENT=true")
	placeTraced(t, base, "00-"+id+"-"+page+"-01")
	const server = "POST /v1/restaurants/:restaurant/orders"
	demo.Err.Find(t, `"event":"http.request".*"route":"/v1/restaurants/:restaurant/orders".*"trace_id":"`+id+`"`)
	demo.Err.Find(t, `"event":"order.placed".*"trace_id":"`+id+`"`)
	_, orders := clitest.Fetch(t, kitchen+"/sandbox/orders")
	demo.Stop() // sends the remaining spans
	spans := r.trace(id)
	spanID := func(name string) string {
		span, ok := spans[name]
		if !ok {
			t.Fatalf("no span %s among %d of the trace", name, len(spans))
		}
		return hex.EncodeToString(span.GetSpanId())
	}
	below := map[string]string{
		server: page, "order.validate": spanID(server), "journal.begin": spanID(server), "order.create": spanID(server),
		"upstream.create": spanID("order.create"), "journal.finish": spanID(server),
	}
	for name, parent := range below {
		if span := spans[name]; span == nil || hex.EncodeToString(span.GetParentSpanId()) != parent {
			t.Errorf("the parent of %s is %x, want %s", name, span.GetParentSpanId(), parent)
		}
	}
	commands := 0
	for name, span := range spans {
		if span.GetKind() == otlp.Span_SPAN_KIND_CLIENT && name != "upstream.create" {
			commands++
		}
	}
	if commands == 0 {
		t.Error("no span of Redis in the trace")
	}
	if spans[server].GetKind() != otlp.Span_SPAN_KIND_SERVER || spans["upstream.create"].GetKind() != otlp.Span_SPAN_KIND_CLIENT {
		t.Errorf("kinds %v and %v", spans[server].GetKind(), spans["upstream.create"].GetKind())
	}
	for _, personal := range []string{"+3512", "Zenobia", "Rua das", "secret-key", "Bearer", "storefront-secret", "demo-secret"} {
		if strings.Contains(string(r.raw), personal) {
			t.Errorf("a span holds %q", personal)
		}
	}
	if header := `"Traceparent":"00-` + id + "-" + spanID("upstream.create") + `-01"`; !strings.Contains(orders, header) {
		t.Errorf("the ordering service did not receive %s:\n%s", header, orders)
	}
}

// A trace with the sampled flag 0 is not recorded. The ordering service receives a
// traceparent only if its connection enables it.
func TestTracesThatAreNotKept(t *testing.T) {
	t.Parallel()
	const unwanted, wanted = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	r := newReceiver(t)
	base, kitchen, demo := tracedDemo(t, r)
	placeTraced(t, base, "00-"+unwanted+"-00f067aa0ba902b7-00")
	demo.Err.Find(t, `"event":"http.request".*"route":"/v1/restaurants/:restaurant/orders"`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/restaurants", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Traceparent", "00-"+wanted+"-00f067aa0ba902b7-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	demo.Err.Find(t, `"trace_id":"`+wanted+`"`)
	_, orders := clitest.Fetch(t, kitchen+"/sandbox/orders")
	demo.Stop()
	if strings.Contains(demo.Err.String(), unwanted) || len(r.trace(unwanted)) > 0 {
		t.Errorf("spans of a trace that is not kept: %v", r.trace(unwanted))
	}
	if len(r.trace(wanted)) == 0 {
		t.Error("no span of the trace that is kept")
	}
	if strings.Contains(orders, "Traceparent") {
		t.Errorf("the ordering service received a trace context:\n%s", orders)
	}
}
