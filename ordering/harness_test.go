package ordering_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

func TestMain(m *testing.M) {
	err := flag.Set("rapid.checks", strconv.Itoa(menutest.Rounds(25, 100))) // before a value of the command line
	if err = cmp.Or(err, menutest.ShortenForMutants("^(TestLinearisable|TestOneKey_O7|TestSimulation)$")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	leaktest.Main(m)
}

// exchange is one call with the request that the service received.
type exchange struct {
	op            ordering.Operation
	orderID, body string
}

// fakeService is an ordering service in memory. It accepts everything unless
// answers sets another response.
type fakeService struct {
	mu      sync.Mutex
	got     []exchange
	created int // orders
	doubts  int // calls of DoubtResponses
	answer  func(ctx context.Context, call exchange) (upstream.Answer, error)
	// reserve decides about reservations; nil means that there is always a slot.
	reserve func(client string) error
}

func (s *fakeService) take(ctx context.Context, call exchange) (upstream.Answer, error) {
	s.mu.Lock()
	s.got = append(s.got, call)
	answer, number := s.answer, 765+s.created // a service numbers its orders
	if call.op == upstream.OpCreate {
		s.created++
	}
	s.mu.Unlock()
	if answer != nil {
		return answer(ctx, call)
	}
	return done(strconv.Itoa(number))
}

// done returns the response to a call that took effect.
func done(orderID string) (upstream.Answer, error) {
	return upstream.Answer{
		OrderID: orderID, Status: http.StatusCreated, ContentType: "application/json",
		Body: []byte(`{"result":{"orderID":"` + orderID + `"}}`),
	}, nil
}

func (s *fakeService) Reserve(ctx context.Context, op ordering.Operation, client string, _ time.Time) (*upstream.Slot, error) {
	if s.reserve != nil {
		if err := s.reserve(client); err != nil {
			return nil, &upstream.Error{Operation: op, Err: err}
		}
	}
	return new(upstream.Slot), ctx.Err()
}

// Free reports whether there is always a slot.
func (s *fakeService) Free(context.Context) bool { return s.reserve == nil }

func (s *fakeService) Write(ctx context.Context, r upstream.WriteRequest) (upstream.Answer, error) {
	got, err := s.take(ctx, exchange{r.Operation, r.OrderID, string(r.Body)})
	if err == nil && r.Operation != upstream.OpCreate {
		got = upstream.Answer{Status: http.StatusOK, ContentType: got.ContentType, Body: []byte(`{"result":{}}`)}
	}
	return got, err
}

// DoubtResponses implements ordering.Service.
func (s *fakeService) DoubtResponses() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubts++
}

// answers sets the response to all later calls.
func (s *fakeService) answers(answer func(ctx context.Context, call exchange) (upstream.Answer, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// fails makes every call return this error.
func (s *fakeService) fails(err error) {
	s.answers(func(context.Context, exchange) (upstream.Answer, error) { return upstream.Answer{}, err })
}

func (s *fakeService) calls() []exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// harness is Orders with its dependencies. Its clock stands still at noon until pass moves
// it.
type harness struct {
	*ordering.Orders
	service *fakeService
	journal *journaltest.Memory
	log     *logtest.Hook

	mu      sync.Mutex
	now     time.Time
	events  []string // each as "name operation outcome"
	card    *menu.Catalogue
	version int64
	noCard  error
	during  func() // called once while an order waits for a sync
	reasons []upstream.Reason
	unknown error // the reasons are not known
}

// newHarness returns a harness. change may replace dependencies.
func newHarness(tb testing.TB, cfg ordering.Config, change ...func(*harness, *ordering.Deps)) *harness {
	tb.Helper()
	h := &harness{service: &fakeService{}, now: menutest.Noon(), version: 42, card: menutest.Compile(tb, menutest.Card, menu.DefaultSettings())}
	h.journal = journaltest.NewMemory(h.clock, journaltest.LongRetention())
	var log *logrus.Logger
	log, h.log = logtest.NewNullLogger()
	deps := ordering.Deps{
		Validator:  validate.New(cfg.Config, h.clock),
		Catalogues: h,
		Journal:    h.journal,
		Services:   map[string]ordering.Service{"main": h.service, "second": h.service},
		Reasons: func(context.Context, string) ([]upstream.Reason, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.reasons, h.unknown
		},
		Connections: func() []string { return []string{"main", "second"} },
		Clock:       h.clock,
		NewRef:      ordering.Refs(h.clock),
		Log:         log,
		Observe: func(event, _ string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.events = append(h.events, h.logged(event))
		},
	}
	for _, c := range change {
		c(h, &deps)
	}
	h.Orders = ordering.NewOrders(cfg, deps)
	return h
}

func (h *harness) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// pass moves the clock forward.
func (h *harness) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *harness) Current(_ context.Context, restaurant menu.RestaurantID, _ string) (int64, *menu.Catalogue, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.noCard != nil {
		return 0, nil, h.noCard
	}
	return h.version, h.card, nil
}

// happened returns all observed events, each as "name operation outcome".
func (h *harness) happened() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.events...)
}

// logged returns an event as it was logged last: "name operation outcome".
func (h *harness) logged(event string) string {
	for _, entry := range slices.Backward(h.log.AllEntries()) {
		if entry.Data["event"] == event {
			operation, _ := entry.Data["operation"].(string)
			outcome, _ := entry.Data["outcome"].(string)
			return event + " " + operation + " " + outcome
		}
	}
	return event + " is not in the log"
}

// failing makes these methods of the journal fail. Without methods, it ends the failures.
func (h *harness) failing(how journaltest.Failure, methods ...journaltest.Method) {
	h.journal.Fail(func(m journaltest.Method) journaltest.Failure {
		if slices.Contains(methods, m) {
			return how
		}
		return journaltest.FailNot
	})
}

const (
	oneSoup = `[{"ID":"soup","quantity":1}]`
	soupKey = "soup-key-1"
)

// placeRequest is a PlaceRequest with the body of its Order.
type placeRequest struct {
	ordering.PlaceRequest
	validate.Input
}

// newPlaceRequest returns an order on the v1 API.
func newPlaceRequest(key string, body []byte) placeRequest {
	return placeRequest{
		ordering.PlaceRequest{
			Restaurant: menutest.Restaurant,
			Connection: "main",
			Client:     "storefront",
			Key:        key,
			RequestID:  "request",
		},
		validate.Input{Body: body, V1: true, FieldCase: upstream.FieldCaseDocument},
	}
}

// place decodes the order and places it.
func place(ctx context.Context, orders interface {
	Place(ctx context.Context, p ordering.PlaceRequest) (ordering.Result, error)
}, p placeRequest,
) (ordering.Result, error) {
	var err error
	if p.Order, err = validate.DecodeOrder(p.Input, nil); err != nil {
		return ordering.Result{}, err
	}
	return orders.Place(ctx, p.PlaceRequest)
}

// Place decodes the order and places it.
func (h *harness) Place(ctx context.Context, p placeRequest) (ordering.Result, error) {
	return place(ctx, h.Orders, p)
}

// placing returns an order of one soup on the v1 API.
func placing(change ...func(*placeRequest)) placeRequest {
	p := newPlaceRequest(soupKey, []byte(menutest.Order(oneSoup)))
	p.RequestID, p.Language = "request-1", "en"
	for _, c := range change {
		c(&p)
	}
	return p
}

// changing returns a change of order 765 on the v1 API.
func changing(op ordering.Operation, body string, change ...func(*ordering.ChangeRequest)) ordering.ChangeRequest {
	c := ordering.ChangeRequest{
		Operation:  op,
		OrderID:    "765",
		Connection: "main",
		Client:     "storefront",
		RequestID:  "request-2",
		Input: validate.Input{
			Body:      []byte(body),
			V1:        true,
			Language:  "en",
			FieldCase: upstream.FieldCaseDocument,
		},
	}
	for _, ch := range change {
		ch(&c)
	}
	return c
}

// placed places an order and fails unless it is placed.
func (h *harness) placed(tb testing.TB, change ...func(*placeRequest)) ordering.Result {
	tb.Helper()
	got, err := h.Place(tb.Context(), placing(change...))
	if err != nil || got.Call.Outcome != ordering.OutcomeDone {
		tb.Fatalf("Place() = %+v, %v; want it done", got.Call, err)
	}
	return got
}

// changed makes a change and fails unless it has the outcome.
func (h *harness) changed(tb testing.TB, want ordering.Outcome, c ordering.ChangeRequest) ordering.Result {
	tb.Helper()
	got, err := h.Change(tb.Context(), c)
	if err != nil || got.Call.Outcome != want {
		tb.Fatalf("Change(%s) = %+v, %v; want it %s", c.Operation, got.Call, err, want)
	}
	return got
}

// record reads the current record of an order.
func (h *harness) record(tb testing.TB, ref string) ordering.Record {
	tb.Helper()
	got, err := h.journal.Record(tb.Context(), []string{"main"}, ref)
	if err != nil {
		tb.Fatalf("ByRef(%s): %v", ref, err)
	}
	return got
}

// wantSent checks the number of calls that the service received.
func (h *harness) wantSent(tb testing.TB, want int) {
	tb.Helper()
	if got := h.service.calls(); len(got) != want {
		tb.Errorf("the service got %d calls, want %d: %+v", len(got), want, got)
	}
}

// is reports whether an error is of the type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// The responses of a service that did not execute a call, or may not have executed it.
func notSent() error {
	return &upstream.Error{Operation: upstream.OpCreate, Err: errors.New("connection refused"), RetryAfter: 7 * time.Second}
}

func turnedAway() error {
	return &upstream.Error{
		Status:     http.StatusServiceUnavailable,
		Code:       "busy",
		RetryAfter: 7 * time.Second,
		Body:       []byte("later"),
	}
}

func lostAnswer() error {
	return &upstream.Error{Effect: upstream.EffectUnknown, Err: errors.New("connection reset")}
}

// certainRefusal returns a certain refusal by the service, as the real client returns it.
func certainRefusal(tb testing.TB) error {
	tb.Helper()
	client := scripted(tb, http.StatusUnprocessableEntity, `{"code":"pos_close_order","msg":"not paid","requestId":"r-9","errors":null}`)
	_, err := client.Write(tb.Context(), upstream.WriteRequest{Operation: upstream.OpCreate, Body: []byte("{}")})
	if e, ok := errors.AsType[*upstream.Error](err); !ok || e.Effect != upstream.EffectRefused {
		tb.Fatalf("the client returns %v, want a refusal", err)
	}
	return err
}

// scripted returns a real client of a service with one response to all calls.
func scripted(tb testing.TB, status int, body string) *upstream.Client {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/connect/token" {
			_, _ = io.WriteString(w, `{"access_token":"a-long-token-of-this-test","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	tb.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{
		Name:         "main",
		BaseURL:      server.URL,
		AuthURL:      server.URL,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}, upstream.Deps{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}
