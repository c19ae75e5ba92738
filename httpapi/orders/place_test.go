package orders_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
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
	got := w.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK)
	got.Into(t, &result)
	if !result.Valid || result.Total != "210.4" || result.Version != 1 || len(result.Lines) != 1 || len(result.Violations) != 0 {
		t.Errorf("got %s", got.Body)
	}
	if result.Order == nil || result.Order.RestaurantID != apitest.Bistro || result.Order.DishList[0].ID != "e1" {
		t.Errorf("the order to be sent is not mapped: %s", got.Body)
	}
	if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Larder-Menu-Version") != "1" {
		t.Errorf("Cache-Control %q, Larder-Menu-Version %q", got.Header.Get("Cache-Control"), got.Header.Get("Larder-Menu-Version"))
	}

	bad := strings.NewReplacer(`"quantity": 1`, `"quantity": -1`, `[{"ID": "i1"}]`, `[]`, `"cash"`, `"gold"`).Replace(apitest.Order())
	result.Order = nil
	got = w.Post(apitest.ValidatePath, bad).Is(t, http.StatusOK)
	got.Into(t, &result)
	var codes []string
	for _, violation := range result.Violations {
		codes = append(codes, violation.Code+" "+violation.Path)
		if violation.Msg == "" || violation.Params == nil {
			t.Errorf("incomplete violation: %s", got.Body)
		}
	}
	slices.Sort(codes)
	want := []string{"group_min /dishList/0/ingredients", "quantity_not_positive /dishList/0/quantity", "value_not_allowed /paymentTypeID"}
	if result.Valid || result.Order != nil || !slices.Equal(codes, want) {
		t.Errorf("got valid %v, order %v, violations %q, want %q", result.Valid, result.Order, codes, want)
	}
	if sent := w.Service.Received(); len(sent) != 0 {
		t.Errorf("validate sent %d orders", len(sent))
	}
	w.Post("/v1/restaurants/nowhere/orders/validate", apitest.Order()).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Post("/v1/restaurants/"+apitest.Empty+"/orders/validate", apitest.Order()).Refused(t, http.StatusServiceUnavailable, "no_catalogue")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	shop := w.As(apitest.ClientShop)
	for _, path := range []string{apitest.ValidatePath, apitest.OrdersPath} {
		send := func(body string, headers ...string) apitest.Reply {
			t.Helper()
			return w.Do(http.MethodPost, path, body, slices.Concat(shop, apitest.Key("k"), headers)...)
		}
		typed := []string{"Content-Type", "application/json"}
		got := send("{\n  \"dishList\": [1,,2]}", typed...).Refused(t, http.StatusBadRequest, "malformed_json")
		if p := got.Errors[0].Params; p["line"] != 2.0 || p["column"] != 18.0 {
			t.Errorf("%s: position %v, want line 2, column 18", path, p)
		}
		send("", typed...).Refused(t, http.StatusBadRequest, "malformed_json")
		send(strings.Repeat("[", 40)+strings.Repeat("]", 40), typed...).Refused(t, http.StatusBadRequest, "malformed_json")
		for _, media := range []string{"", "text/plain", "application/xml", "application/json; charset=latin1", "application/x-www-form-urlencoded"} {
			send(apitest.Order(), "Content-Type", media).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		send(apitest.Order(), append(typed, "Content-Encoding", "gzip")...).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		large := `{"comment": "` + strings.Repeat("x", 256<<10) + `"}`
		limit := send(large, typed...).Refused(t, http.StatusRequestEntityTooLarge, "payload_too_large")
		if limit.Errors[0].Params["limit"] != 262144.0 {
			t.Errorf("%s: limit %v", path, limit.Errors[0].Params)
		}
	}
	if sent := w.Service.Received(); len(sent) != 0 {
		t.Errorf("%d orders were sent", len(sent))
	}
	w.Do(http.MethodPost, apitest.ValidatePath, apitest.Order(), "Content-Type", "Application/JSON; charset=UTF-8").Is(t, http.StatusOK)
	w.Do(http.MethodPost, apitest.ValidatePath, "\xef\xbb\xbf"+apitest.Order(), "Content-Type", "application/json").Is(t, http.StatusOK)
}

func TestPlace(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key(`"a key"`)...)...).Is(t, http.StatusCreated)
	var placed struct {
		Ref, OrderID, State string
		Total               json.Number
	}
	got.Into(t, &placed)
	if len(placed.Ref) != 26 || placed.OrderID != "765" || placed.State != "placed" || placed.Total != "210.4" {
		t.Errorf("got %s", got.Body)
	}
	if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Location") != "/v1/orders/765" {
		t.Errorf("Cache-Control %q, Location %q", got.Header.Get("Cache-Control"), got.Header.Get("Location"))
	}
	sent := w.Service.Received()
	if len(sent) != 1 || !strings.Contains(string(sent[0]), `"restaurantID":"bistro"`) {
		t.Fatalf("the service received %q", sent)
	}
	var logged bool
	for _, entry := range w.Logs.AllEntries() {
		if entry.Data["event"] == "order.placed" {
			logged = true
			if entry.Data["ref"] != placed.Ref || entry.Data["orderID"] != "765" || entry.Data["client"] != apitest.ClientShop {
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
	w := apitest.New(t)
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		return upstream.Answer{OrderID: "7/6 5?", Status: http.StatusCreated}, nil
	})
	const soonest = `{"expeditionType": "pickup", "paymentTypeID": "cash", "soonest": true,
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`
	headers := append(w.As(apitest.ClientShop), apitest.Key("soon")...)
	var placed, record struct{ ExpectedAt, OrderID string }
	got := w.Post(apitest.OrdersPath, soonest, headers...).Is(t, http.StatusCreated)
	got.Into(t, &placed)
	var sent struct{ ExpectedAt time.Time }
	if err := json.Unmarshal(w.Service.Received()[0], &sent); err != nil {
		t.Fatal(err)
	}
	if placed.ExpectedAt != menu.FormatTime(sent.ExpectedAt) {
		t.Errorf("expectedAt %q; sent %v", placed.ExpectedAt, sent.ExpectedAt)
	}
	const path = "/v1/orders/7%2F6%205%3F"
	if location := got.Header.Get("Location"); location != path {
		t.Errorf("Location %q, want %q", location, path)
	}
	w.Get(path, headers[:2]...).Is(t, http.StatusOK).Into(t, &record)
	if record != placed {
		t.Errorf("the record has %+v, the response %+v", record, placed)
	}
	if again := w.Post(apitest.OrdersPath, soonest, headers...).Is(t, http.StatusCreated); again.Header.Get("Location") != path || !bytes.Equal(again.Body, got.Body) {
		t.Errorf("repeated: %s, Location %q", again.Body, again.Header.Get("Location"))
	}
}

func TestPlacingNeedsAKey(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	shop := w.As(apitest.ClientShop)
	for name, headers := range map[string][]string{
		"none": {}, "empty": apitest.Key(""), "empty in quotes": apitest.Key(`""`), "too long": apitest.Key(strings.Repeat("k", 256)),
		"not printable": apitest.Key("a\tb"), "not ASCII": apitest.Key("ключ"), "two": append(apitest.Key("a"), apitest.Key("b")...),
	} {
		got := w.Post(apitest.OrdersPath, apitest.Order(), append(headers, shop...)...)
		got.Refused(t, http.StatusBadRequest, "idempotency_key_required")
		if len(w.Service.Received()) != 0 {
			t.Fatalf("%s: an order was sent", name)
		}
	}
	body := apitest.Order() // one of the keys comes twice
	for _, good := range []string{"k", strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`} {
		w.Post(apitest.OrdersPath, body, append(apitest.Key(good), shop...)...).Is(t, http.StatusCreated)
	}
}

func TestPlacingIsGuarded(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	none := w.Post(apitest.OrdersPath, apitest.Order(), apitest.Key("k")...)
	none.Refused(t, http.StatusUnauthorized, "unauthorized")
	reader := w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientRead), apitest.Key("k")...)...)
	reader.Refused(t, http.StatusForbidden, "forbidden")
	if challenge := reader.Header.Get("Www-Authenticate"); !strings.Contains(challenge, `error="insufficient_scope"`) {
		t.Errorf("WWW-Authenticate %q", challenge)
	}
	w.Post("/v1/restaurants/nowhere/orders", apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key("k")...)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Post("/v1/restaurants/"+apitest.Empty+"/orders", apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key("k")...)...).Refused(t, http.StatusServiceUnavailable, "no_catalogue")
	if len(w.Service.Received()) != 0 {
		t.Error("an order was sent")
	}
}

func TestPlacingRefusesWhatBreaksRules(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	got := w.Post(apitest.OrdersPath, strings.Replace(apitest.Order(), `"p1"`, `"p9"`, 1), append(w.As(apitest.ClientShop), apitest.Key("k")...)...)
	problem := got.Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if len(problem.Errors) != 1 || problem.Errors[0].Code != "dish_not_in_menu" || !strings.HasPrefix(problem.Errors[0].Path, "/dishList/0") {
		t.Errorf("got %s", got.Body)
	}
}

// Each outcome of an order has its own status. Every response after a possible call of the ordering
// service has the order's ref.
func TestPlacingOutcomes(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	client, refuse := upstreamThatAnswers(t)
	w.Service.AnswerCreate(func(body []byte) (upstream.Answer, error) { return apitest.Create(t.Context(), client, body) })
	shop := w.As(apitest.ClientShop)
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
		got := w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k "+name), shop...)...)
		problem := got.Refused(t, test.status, test.code)
		if len(problem.Ref) != 26 {
			t.Errorf("%s: ref %q", name, problem.Ref)
		}
		if test.said != "" && (problem.Upstream == nil || problem.Upstream.Msg != test.said || problem.Upstream.Status != test.upstream || problem.Upstream.Code == "") {
			t.Errorf("%s: the service's words are not inside: %s", name, got.Body)
		}
		if reasons := strings.Contains(test.body, "is stopped"); reasons != strings.Contains(string(got.Body), `"errors":["/dishList/0: dish is stopped"]`) {
			t.Errorf("%s: the service's reasons: %s", name, got.Body)
		}
		if strings.Contains(string(got.Body), "oops") {
			t.Errorf("%s: the service's page leaks: %s", name, got.Body)
		}
	}
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		return upstream.Answer{}, &upstream.Error{
			Operation:  "create",
			Status:     http.StatusServiceUnavailable,
			Effect:     upstream.EffectNone,
			RetryAfter: 7 * time.Second,
			Err:        errors.New("dial tcp: refused"),
		}
	})
	notSent := w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), shop...)...)
	notSent.Refused(t, http.StatusServiceUnavailable, "upstream_unavailable")
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) { // because the token is missing
		return upstream.Answer{}, &upstream.Error{
			Operation:  "create",
			Effect:     upstream.EffectNone,
			RetryAfter: 7 * time.Second,
			Err:        errors.New("dial tcp: refused"),
		}
	})
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), shop...)...)
	problem := got.Refused(t, http.StatusServiceUnavailable, "upstream_unavailable")
	if notSent.Header.Get("Retry-After") != "7" {
		t.Errorf("turned away: Retry-After %q, want 7", notSent.Header.Get("Retry-After"))
	}
	if got.Header.Get("Retry-After") != "7" || len(problem.Ref) != 26 || strings.Contains(string(got.Body), "dial") {
		t.Errorf("not sent: Retry-After %q, %s", got.Header.Get("Retry-After"), got.Body)
	}
	if metric := `larder_orders_total{operation="create",outcome="unknown"} 3`; !strings.Contains(string(w.Get("/metrics").Body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// The text of an unexpected error is not sent to clients.
func TestUnexpectedErrorsLeakNothing(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Orders = placing(func() (ordering.Result, error) {
			return ordering.Result{}, errors.New("dial 10.1.2.3 with password hunter2")
		})
	})
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key("k")...)...)
	got.Refused(t, http.StatusInternalServerError, "internal")
	if strings.Contains(string(got.Body), "hunter2") {
		t.Errorf("the answer leaks: %s", got.Body)
	}
	var causes []string
	for _, entry := range w.Logs.AllEntries() {
		if cause, ok := entry.Data["cause"].(string); ok && entry.Data["requestId"] == got.Header.Get("X-Request-Id") {
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
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Orders = placing(func() (ordering.Result, error) { panic("hunter2") })
	})
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientShop), "Idempotency-Key", "k", "X-Request-Id", "mine")...)
	got.Refused(t, http.StatusInternalServerError, "internal")
	if got.Header.Get("X-Request-Id") != "mine" || strings.Contains(string(got.Body), "hunter2") {
		t.Errorf("got id %q, %s", got.Header.Get("X-Request-Id"), got.Body)
	}
	var stacks int
	for _, entry := range w.Logs.AllEntries() {
		if stack, ok := entry.Data["stack"].(string); ok && entry.Data["requestId"] == "mine" && strings.Contains(stack, "orders.(*Handlers).Place") {
			stacks++
		}
	}
	if stacks != 1 {
		t.Errorf("%d stacks in the log, want 1", stacks)
	}
	w.Get("/livez").Is(t, http.StatusOK)
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
	w := apitest.New(t, func(p *apitest.Plan) { p.Ordering.AllowNonDurable = false })
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key("k")...)...)
	problem := got.Refused(t, http.StatusServiceUnavailable, "journal_unavailable")
	if !strings.HasPrefix(problem.Msg, "orders are not accepted at the moment;") || got.Header.Get("Retry-After") != "60" {
		t.Errorf("got %s", got.Body)
	}
	w.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK)
	if len(w.Service.Received()) != 0 {
		t.Error("an order was sent")
	}
}

func TestPublicOrders(t *testing.T) { // policy H3
	t.Parallel()
	const page = "https://shop.example"
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
	})
	long := apitest.Key("0123456789abcdefghijkl")
	guest := append([]string{"Origin", page}, long...)
	w.Post(apitest.OrdersPath, apitest.Order(), long...).Refused(t, http.StatusUnauthorized, "unauthorized")
	w.Post(apitest.OrdersPath, apitest.Order(), append(long, "Origin", "https://evil.example")...).Refused(t, http.StatusUnauthorized, "unauthorized")
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("short"), "Origin", page)...).Refused(t, http.StatusBadRequest, "idempotency_key_required")
	online := strings.Replace(apitest.Order(), `"cash"`, `"online"`, 1)
	problem := w.Post(apitest.OrdersPath, online, guest...).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if problem.Errors[0].Code != "value_not_allowed" || problem.Errors[0].Path != "/paymentTypeID" {
		t.Errorf("online payment: got %+v", problem.Errors)
	}
	w.Post(apitest.OrdersPath, "{", guest...).Refused(t, http.StatusBadRequest, "malformed_json")
	body := apitest.GuestOrder()
	got := w.Post(apitest.OrdersPath, body, guest...).Is(t, http.StatusCreated)
	if got.Header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("the page cannot read the answer: %v", got.Header)
	}
	w.Post(apitest.OrdersPath, body, guest...).Is(t, http.StatusCreated)
	last := w.Post(apitest.OrdersPath, apitest.Order(), guest...) // the sixth within a minute; failed ones count
	last.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if last.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
}

// Nothing is sent while Redis is unreachable, so that every order can be recorded.
func TestNoOrderIsPlacedWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL, p.Ordering.AllowNonDurable = server.URL(), false })
	shop := w.As(apitest.ClientShop)
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("before"), shop...)...).Is(t, http.StatusCreated)
	var sent atomic.Int32
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		sent.Add(1)
		return upstream.Answer{OrderID: "1", Status: http.StatusCreated}, nil
	})
	server.Stop()
	got := w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("while"), shop...)...)
	got.Refused(t, http.StatusServiceUnavailable, "journal_unavailable")
	if got.Header.Get("Retry-After") == "" || sent.Load() != 0 {
		t.Errorf("Retry-After %q, %d orders were sent", got.Header.Get("Retry-After"), sent.Load())
	}
	for path, method := range map[string]string{
		"/v1/orders/765": http.MethodGet, "/v1/orders?key=before": http.MethodGet, "/v1/orders/765/complete": http.MethodPut,
	} {
		got := w.Do(method, path, "", shop...)
		got.Refused(t, http.StatusServiceUnavailable, "journal_unavailable")
		if got.Header.Get("Retry-After") == "" || strings.Contains(string(got.Body), "127.0.0.1") {
			t.Errorf("%s %s: Retry-After %q, %s", method, path, got.Header.Get("Retry-After"), got.Body)
		}
	}
}
