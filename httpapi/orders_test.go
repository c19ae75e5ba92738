package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/testkit/redistest"
	"larder/internal/upstream"
	"larder/ordering"
)

const (
	ordersPath   = "/v1/restaurants/" + bistro + "/orders"
	validatePath = ordersPath + "/validate"
)

// order is a valid pickup order for one Margherita with garlic: 210.40.
func order() string { return orderOfToday() }

// orderOfToday is created once, so that a repeated request a second later has the same order.
var orderOfToday = sync.OnceValue(func() string {
	return fmt.Sprintf(`{"expeditionType": "pickup", "paymentTypeID": "cash", "expectedAt": %q,
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`, time.Now().Add(time.Hour).Format(time.RFC3339))
})

func key(k string) []string { return []string{"Idempotency-Key", k} }

func TestValidate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var result struct {
		Valid      bool
		Version    int
		Total      json.Number
		Lines      []struct{ Path, ID string }
		Violations []struct {
			Path, Code, Msg string
			Params          map[string]any
		}
		Order *struct {
			RestaurantID string
			DishList     []struct{ ID string }
		}
	}
	got := w.post(validatePath, order()).is(t, http.StatusOK)
	got.into(t, &result)
	if !result.Valid || result.Total != "210.4" || result.Version != 1 || len(result.Lines) != 1 || len(result.Violations) != 0 {
		t.Errorf("got %s", got.body)
	}
	if result.Order == nil || result.Order.RestaurantID != bistro || result.Order.DishList[0].ID != "e1" {
		t.Errorf("the order to be sent is not mapped: %s", got.body)
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Larder-Menu-Version") != "1" {
		t.Errorf("Cache-Control %q, Larder-Menu-Version %q", got.header.Get("Cache-Control"), got.header.Get("Larder-Menu-Version"))
	}

	bad := strings.NewReplacer(`"quantity": 1`, `"quantity": -1`, `[{"ID": "i1"}]`, `[]`, `"cash"`, `"gold"`).Replace(order())
	result.Order = nil
	got = w.post(validatePath, bad).is(t, http.StatusOK)
	got.into(t, &result)
	var codes []string
	for _, violation := range result.Violations {
		codes = append(codes, violation.Code+" "+violation.Path)
		if violation.Msg == "" || violation.Params == nil {
			t.Errorf("incomplete violation: %s", got.body)
		}
	}
	slices.Sort(codes)
	want := []string{"group_min /dishList/0/ingredients", "quantity_not_positive /dishList/0/quantity", "value_not_allowed /paymentTypeID"}
	if result.Valid || result.Order != nil || !slices.Equal(codes, want) {
		t.Errorf("got valid %v, order %v, violations %q, want %q", result.Valid, result.Order, codes, want)
	}
	if sent := w.service.received(); len(sent) != 0 {
		t.Errorf("validate sent %d orders", len(sent))
	}
	w.post("/v1/restaurants/nowhere/orders/validate", order()).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.post("/v1/restaurants/"+empty+"/orders/validate", order()).refused(t, http.StatusServiceUnavailable, "no_catalogue")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	shop := w.as(clientShop)
	for _, path := range []string{validatePath, ordersPath} {
		send := func(body string, headers ...string) reply {
			t.Helper()
			return w.do(http.MethodPost, path, body, slices.Concat(shop, key("k"), headers)...)
		}
		typed := []string{"Content-Type", "application/json"}
		got := send("{\n  \"dishList\": [1,,2]}", typed...).refused(t, http.StatusBadRequest, "malformed_json")
		if p := got.Errors[0].Params; p["line"] != 2.0 || p["column"] != 18.0 {
			t.Errorf("%s: position %v, want line 2, column 18", path, p)
		}
		send("", typed...).refused(t, http.StatusBadRequest, "malformed_json")
		send(strings.Repeat("[", 40)+strings.Repeat("]", 40), typed...).refused(t, http.StatusBadRequest, "malformed_json")
		for _, media := range []string{"", "text/plain", "application/xml", "application/json; charset=latin1", "application/x-www-form-urlencoded"} {
			send(order(), "Content-Type", media).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		send(order(), append(typed, "Content-Encoding", "gzip")...).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		large := `{"comment": "` + strings.Repeat("x", 256<<10) + `"}`
		limit := send(large, typed...).refused(t, http.StatusRequestEntityTooLarge, "payload_too_large")
		if limit.Errors[0].Params["limit"] != 262144.0 {
			t.Errorf("%s: limit %v", path, limit.Errors[0].Params)
		}
	}
	if sent := w.service.received(); len(sent) != 0 {
		t.Errorf("%d orders were sent", len(sent))
	}
	w.do(http.MethodPost, validatePath, order(), "Content-Type", "Application/JSON; charset=UTF-8").is(t, http.StatusOK)
	w.do(http.MethodPost, validatePath, "\xef\xbb\xbf"+order(), "Content-Type", "application/json").is(t, http.StatusOK)
}

func TestPlace(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	got := w.post(ordersPath, order(), append(w.as(clientShop), key(`"a key"`)...)...).is(t, http.StatusCreated)
	var placed struct {
		Ref, OrderID, State string
		Total               json.Number
	}
	got.into(t, &placed)
	if len(placed.Ref) != 26 || placed.OrderID != "765" || placed.State != "placed" || placed.Total != "210.4" {
		t.Errorf("got %s", got.body)
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Location") != "/v1/orders/765" {
		t.Errorf("Cache-Control %q, Location %q", got.header.Get("Cache-Control"), got.header.Get("Location"))
	}
	sent := w.service.received()
	if len(sent) != 1 || !strings.Contains(string(sent[0]), `"restaurantID":"bistro"`) {
		t.Fatalf("the service received %q", sent)
	}
	var logged bool
	for _, entry := range w.logs.AllEntries() {
		if entry.Data["event"] == "order.placed" {
			logged = true
			if entry.Data["ref"] != placed.Ref || entry.Data["orderID"] != "765" || entry.Data["client"] != clientShop {
				t.Errorf("log line %v", entry.Data)
			}
		}
	}
	if !logged {
		t.Error("the order has no line in the log")
	}
}

// The response has the time that was sent to the service, also for soonest, and the record has the same one.
func TestPlacedOrderHasItsTimeAndLocation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.service.answerCreate(func([]byte) (upstream.Created, error) {
		return upstream.Created{OrderID: "7/6 5?", Answer: upstream.Answer{Status: http.StatusCreated}}, nil
	})
	const soonest = `{"expeditionType": "pickup", "paymentTypeID": "cash", "soonest": true,
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`
	headers := append(w.as(clientShop), key("soon")...)
	var placed, record struct{ ExpectedAt, OrderID string }
	got := w.post(ordersPath, soonest, headers...).is(t, http.StatusCreated)
	got.into(t, &placed)
	var sent struct{ ExpectedAt time.Time }
	if err := json.Unmarshal(w.service.received()[0], &sent); err != nil {
		t.Fatal(err)
	}
	if placed.ExpectedAt != menu.FormatTime(sent.ExpectedAt) {
		t.Errorf("expectedAt %q; sent %v", placed.ExpectedAt, sent.ExpectedAt)
	}
	const path = "/v1/orders/7%2F6%205%3F"
	if location := got.header.Get("Location"); location != path {
		t.Errorf("Location %q, want %q", location, path)
	}
	w.get(path, headers[:2]...).is(t, http.StatusOK).into(t, &record)
	if record != placed {
		t.Errorf("the record has %+v, the response %+v", record, placed)
	}
	if again := w.post(ordersPath, soonest, headers...).is(t, http.StatusCreated); again.header.Get("Location") != path || !bytes.Equal(again.body, got.body) {
		t.Errorf("repeated: %s, Location %q", again.body, again.header.Get("Location"))
	}
}

func TestPlacingNeedsAKey(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	shop := w.as(clientShop)
	for name, headers := range map[string][]string{
		"none": {}, "empty": key(""), "empty in quotes": key(`""`), "too long": key(strings.Repeat("k", 256)),
		"not printable": key("a\tb"), "not ASCII": key("ключ"), "two": append(key("a"), key("b")...),
	} {
		got := w.post(ordersPath, order(), append(headers, shop...)...)
		got.refused(t, http.StatusBadRequest, "idempotency_key_required")
		if len(w.service.received()) != 0 {
			t.Fatalf("%s: an order was sent", name)
		}
	}
	body := order() // one of the keys comes twice
	for _, good := range []string{"k", strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`} {
		w.post(ordersPath, body, append(key(good), shop...)...).is(t, http.StatusCreated)
	}
}

func TestPlacingIsGuarded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	none := w.post(ordersPath, order(), key("k")...)
	none.refused(t, http.StatusUnauthorized, "unauthorized")
	reader := w.post(ordersPath, order(), append(w.as(clientRead), key("k")...)...)
	reader.refused(t, http.StatusForbidden, "forbidden")
	if challenge := reader.header.Get("Www-Authenticate"); !strings.Contains(challenge, `error="insufficient_scope"`) {
		t.Errorf("WWW-Authenticate %q", challenge)
	}
	w.post("/v1/restaurants/nowhere/orders", order(), append(w.as(clientShop), key("k")...)...).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.post("/v1/restaurants/"+empty+"/orders", order(), append(w.as(clientShop), key("k")...)...).refused(t, http.StatusServiceUnavailable, "no_catalogue")
	if len(w.service.received()) != 0 {
		t.Error("an order was sent")
	}
}

func TestPlacingRefusesWhatBreaksRules(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	got := w.post(ordersPath, strings.Replace(order(), `"p1"`, `"p9"`, 1), append(w.as(clientShop), key("k")...)...)
	problem := got.refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if len(problem.Errors) != 1 || problem.Errors[0].Code != "dish_not_in_menu" || !strings.HasPrefix(problem.Errors[0].Path, "/dishList/0") {
		t.Errorf("got %s", got.body)
	}
}

// Each outcome of an order has its own status. Every response after a possible call of the ordering
// service has the order's ref.
func TestPlacingOutcomes(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	client, refuse := upstreamThatAnswers(t)
	w.service.answerCreate(func(body []byte) (upstream.Created, error) { return client.CreateOrder(t.Context(), body) })
	shop := w.as(clientShop)
	for name, test := range map[string]struct {
		upstream   int
		body       string
		status     int
		code       string
		said       string
		retryAfter string
	}{
		"a refusal with its reasons":          {400, `{"code":"order_validation","msg":"no","requestId":"u-1","errors":["/dishList/0: dish is stopped"]}`, 502, "upstream_refused", "no", ""},
		"a refusal with the service's words":  {400, `{"code":"order_validation","msg":"dish is gone","requestId":"u-1","errors":null}`, 502, "upstream_refused", "dish is gone", ""},
		"so does a 5xx in the error shape":    {500, `{"code":"pos_down","msg":"no POS","requestId":"u-2","errors":null}`, 504, "order_outcome_unknown", "", ""},
		"any other 5xx leaves it unknown":     {500, `<html>oops</html>`, 504, "order_outcome_unknown", "", ""},
		"a 2xx without an orderID is unknown": {200, `{"result":{}}`, 504, "order_outcome_unknown", "", ""},
	} {
		refuse(test.upstream, test.body)
		got := w.post(ordersPath, order(), append(key("k "+name), shop...)...)
		problem := got.refused(t, test.status, test.code)
		if len(problem.Ref) != 26 {
			t.Errorf("%s: ref %q", name, problem.Ref)
		}
		if test.said != "" && (problem.Upstream == nil || problem.Upstream.Msg != test.said || problem.Upstream.Status != test.upstream || problem.Upstream.Code == "") {
			t.Errorf("%s: the service's words are not inside: %s", name, got.body)
		}
		if reasons := strings.Contains(test.body, "is stopped"); reasons != strings.Contains(string(got.body), `"errors":["/dishList/0: dish is stopped"]`) {
			t.Errorf("%s: the service's reasons: %s", name, got.body)
		}
		if strings.Contains(string(got.body), "oops") {
			t.Errorf("%s: the service's page leaks: %s", name, got.body)
		}
	}
	w.service.answerCreate(func([]byte) (upstream.Created, error) {
		return upstream.Created{}, &upstream.Error{
			Operation:  "create",
			Status:     http.StatusServiceUnavailable,
			Effect:     upstream.EffectNone,
			RetryAfter: 7 * time.Second,
			Err:        errors.New("dial tcp: refused"),
		}
	})
	notSent := w.post(ordersPath, order(), append(key("k"), shop...)...)
	notSent.refused(t, http.StatusServiceUnavailable, "upstream_unavailable")
	w.service.answerCreate(func([]byte) (upstream.Created, error) { // because the token is missing
		return upstream.Created{}, &upstream.Error{
			Operation:  "create",
			Effect:     upstream.EffectNone,
			RetryAfter: 7 * time.Second,
			Err:        errors.New("dial tcp: refused"),
		}
	})
	got := w.post(ordersPath, order(), append(key("k"), shop...)...)
	problem := got.refused(t, http.StatusServiceUnavailable, "upstream_unavailable")
	if notSent.header.Get("Retry-After") != "7" {
		t.Errorf("turned away: Retry-After %q, want 7", notSent.header.Get("Retry-After"))
	}
	if got.header.Get("Retry-After") != "7" || len(problem.Ref) != 26 || strings.Contains(string(got.body), "dial") {
		t.Errorf("not sent: Retry-After %q, %s", got.header.Get("Retry-After"), got.body)
	}
	if metric := `larder_orders_total{operation="create",outcome="unknown"} 3`; !strings.Contains(string(w.get("/metrics").body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// The text of an unexpected error is not sent to clients.
func TestUnexpectedErrorsLeakNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) {
		p.orders = placing(func() (ordering.Result, error) {
			return ordering.Result{}, errors.New("dial 10.1.2.3 with password hunter2")
		})
	})
	got := w.post(ordersPath, order(), append(w.as(clientShop), key("k")...)...)
	got.refused(t, http.StatusInternalServerError, "internal")
	if strings.Contains(string(got.body), "hunter2") {
		t.Errorf("the answer leaks: %s", got.body)
	}
	var causes []string
	for _, entry := range w.logs.AllEntries() {
		if cause, ok := entry.Data["cause"].(string); ok && entry.Data["requestId"] == got.header.Get("X-Request-Id") {
			causes = append(causes, cause)
		}
	}
	if len(causes) != 1 || !strings.Contains(causes[0], "hunter2") {
		t.Errorf("the log has causes %q, want the one under the request's id", causes)
	}
}

// A panic of a handler is a 500 with its stack in the log.
func TestPanicsAreAnswered(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) {
		p.orders = placing(func() (ordering.Result, error) { panic("hunter2") })
	})
	got := w.post(ordersPath, order(), append(w.as(clientShop), "Idempotency-Key", "k", "X-Request-Id", "mine")...)
	got.refused(t, http.StatusInternalServerError, "internal")
	if got.header.Get("X-Request-Id") != "mine" || strings.Contains(string(got.body), "hunter2") {
		t.Errorf("got id %q, %s", got.header.Get("X-Request-Id"), got.body)
	}
	var stacks int
	for _, entry := range w.logs.AllEntries() {
		if stack, ok := entry.Data["stack"].(string); ok && entry.Data["requestId"] == "mine" && strings.Contains(stack, "orders.(*Handlers).Place") {
			stacks++
		}
	}
	if stacks != 1 {
		t.Errorf("%d stacks in the log, want 1", stacks)
	}
	w.get("/livez").is(t, http.StatusOK)
}

// scripted is an Orders engine whose Place is a function.
type scripted struct {
	httpapi.Orders
	place func() (ordering.Result, error)
}

func (s scripted) Place(context.Context, ordering.PlaceRequest) (ordering.Result, error) {
	return s.place()
}

func placing(place func() (ordering.Result, error)) httpapi.Orders { return scripted{place: place} }

func TestPlacingNeedsARedisThatKeeps(t *testing.T) { // policy O14
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.ordering.AllowNonDurable = false })
	got := w.post(ordersPath, order(), append(w.as(clientShop), key("k")...)...)
	problem := got.refused(t, http.StatusServiceUnavailable, "journal_unavailable")
	if !strings.HasPrefix(problem.Msg, "orders are not accepted at the moment;") || got.header.Get("Retry-After") != "60" {
		t.Errorf("got %s", got.body)
	}
	w.post(validatePath, order()).is(t, http.StatusOK)
	if len(w.service.received()) != 0 {
		t.Error("an order was sent")
	}
}

func TestPublicOrders(t *testing.T) { // policy H3
	t.Parallel()
	const page = "https://shop.example"
	w := newFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
	})
	long := key("0123456789abcdefghijkl")
	guest := append([]string{"Origin", page}, long...)
	w.post(ordersPath, order(), long...).refused(t, http.StatusUnauthorized, "unauthorized")
	w.post(ordersPath, order(), append(long, "Origin", "https://evil.example")...).refused(t, http.StatusUnauthorized, "unauthorized")
	w.post(ordersPath, order(), append(key("short"), "Origin", page)...).refused(t, http.StatusBadRequest, "idempotency_key_required")
	online := strings.Replace(order(), `"cash"`, `"online"`, 1)
	problem := w.post(ordersPath, online, guest...).refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if problem.Errors[0].Code != "value_not_allowed" || problem.Errors[0].Path != "/paymentTypeID" {
		t.Errorf("online payment: got %+v", problem.Errors)
	}
	w.post(ordersPath, "{", guest...).refused(t, http.StatusBadRequest, "malformed_json")
	body := guestOrder()
	got := w.post(ordersPath, body, guest...).is(t, http.StatusCreated)
	if got.header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("the page cannot read the answer: %v", got.header)
	}
	w.post(ordersPath, body, guest...).is(t, http.StatusCreated)
	last := w.post(ordersPath, order(), guest...) // the sixth within a minute; failed ones count
	last.refused(t, http.StatusTooManyRequests, "rate_limited")
	if last.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
}

// Nothing is sent while Redis is unreachable, so that every order can be recorded.
func TestNoOrderIsPlacedWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	w := newFixture(t, func(p *plan) { p.redis.URL, p.ordering.AllowNonDurable = server.URL(), false })
	shop := w.as(clientShop)
	w.post(ordersPath, order(), append(key("before"), shop...)...).is(t, http.StatusCreated)
	var sent atomic.Int32
	w.service.answerCreate(func([]byte) (upstream.Created, error) {
		sent.Add(1)
		return upstream.Created{OrderID: "1", Answer: upstream.Answer{Status: http.StatusCreated}}, nil
	})
	server.Stop()
	got := w.post(ordersPath, order(), append(key("while"), shop...)...)
	got.refused(t, http.StatusServiceUnavailable, "journal_unavailable")
	if got.header.Get("Retry-After") == "" || sent.Load() != 0 {
		t.Errorf("Retry-After %q, %d orders were sent", got.header.Get("Retry-After"), sent.Load())
	}
	for path, method := range map[string]string{
		"/v1/orders/765": http.MethodGet, "/v1/orders?key=before": http.MethodGet, "/v1/orders/765/complete": http.MethodPut,
	} {
		got := w.do(method, path, "", shop...)
		got.refused(t, http.StatusServiceUnavailable, "journal_unavailable")
		if got.header.Get("Retry-After") == "" || strings.Contains(string(got.body), "127.0.0.1") {
			t.Errorf("%s %s: Retry-After %q, %s", method, path, got.header.Get("Retry-After"), got.body)
		}
	}
}
