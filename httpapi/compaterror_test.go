package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder/httpapi"
	"larder/httpapi/compat"
	"larder/httpapi/ratelimit"
	"larder/ordering/violation"
)

// documentError is the error format of the interface (docs/ordering-service.md, section 7).
type documentError struct {
	Code      string                 `json:"code"`
	Msg       string                 `json:"msg"`
	RequestID string                 `json:"requestId"`
	Errors    *[]violation.Violation `json:"errors"`
}

// refusedCompat checks that the response has exactly the documented error format.
func (r reply) refusedCompat(t *testing.T, status int, code string) documentError {
	t.Helper()
	var got documentError
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("status %d, want %d %s: not the interface's error shape: %v in %q", r.status, status, code, err, r.body)
	}
	if r.status != status || got.Code != code || got.Msg == "" {
		t.Fatalf("got %d %s (%s), want %d %s", r.status, got.Code, got.Msg, status, code)
	}
	if media := r.header.Get("Content-Type"); media != "application/json; charset=utf-8" {
		t.Errorf("%s: Content-Type %q", code, media)
	}
	if got.RequestID == "" || got.RequestID != r.header.Get("X-Request-Id") {
		t.Errorf("%s: requestId %q, X-Request-Id %q", code, got.RequestID, r.header.Get("X-Request-Id"))
	}
	if !bytes.Contains(r.body, []byte(`"errors":`)) {
		t.Errorf("%s: no errors in %s", code, r.body)
	}
	if cc := r.header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("%s: Cache-Control %q", code, cc)
	}
	return got
}

// knownOf returns the ids that a rejection lists.
func knownOf(t *testing.T, e documentError) []string {
	t.Helper()
	if e.Errors == nil || len(*e.Errors) != 1 {
		t.Fatalf("no list in %+v", e)
	}
	list, _ := (*e.Errors)[0].Params["known"].([]any)
	ids := []string{}
	for _, id := range list {
		text, _ := id.(string)
		ids = append(ids, text)
	}
	return ids
}

// everyRoute lists the endpoints of the compatible API, each with a valid request.
func everyRoute() []struct{ method, path, body string } {
	return []struct{ method, path, body string }{
		{http.MethodGet, viewPath, ""},
		{http.MethodGet, causesPath, ""},
		{http.MethodPost, createPath, posOrder()},
		{http.MethodPut, createPath + "/1001/pay", payment},
		{http.MethodPut, createPath + "/1001/complete", ""},
		{http.MethodPut, createPath + "/1001/reject", reject},
	}
}

func TestCompatNeedsTheScopeOrders(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	reader, ops := w.as(clientRead), w.as(clientOps)
	for _, route := range everyRoute() {
		for _, path := range []string{route.path, route.path + "/"} {
			got := w.do(route.method, path, route.body)
			got.refusedCompat(t, http.StatusUnauthorized, "unauthorized")
			if said := got.header.Get("WWW-Authenticate"); said != `Bearer realm="larder"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			got = w.do(route.method, path, route.body, "Authorization", "Bearer x.y.z")
			got.refusedCompat(t, http.StatusUnauthorized, "unauthorized")
			if said := got.header.Get("WWW-Authenticate"); said != `Bearer realm="larder", error="invalid_token"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			got = w.do(route.method, path, route.body, reader...)
			got.refusedCompat(t, http.StatusForbidden, "forbidden")
			if said := got.header.Get("WWW-Authenticate"); said != `Bearer realm="larder", error="insufficient_scope", scope="orders"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			// A client that sees several connections must select one.
			refused := w.do(route.method, path, route.body, ops...).refusedCompat(t, http.StatusBadRequest, "connection_required")
			if diff := cmp.Diff([]string{"main", "north"}, knownOf(t, refused)); diff != "" {
				t.Errorf("%s: connections (-want +got):\n%s", path, diff)
			}
		}
	}
}

// The only connection need not be selected.
func TestCompatOverTheOnlyConnection(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t, func(p *plan) {
		p.deps = func(deps *httpapi.Deps) { deps.Connections = deps.Connections[:1] }
	})
	tw.get(viewPath, tw.as(clientOps)...).is(t, http.StatusOK)
	tw.post(createPath, posOrder(), tw.as(clientOps)...).is(t, http.StatusCreated)
	none := newFixture(t, func(p *plan) { p.deps = func(deps *httpapi.Deps) { deps.Connections = nil } })
	none.get(viewPath, none.as(clientOps)...).refusedCompat(t, http.StatusNotFound, "connection_not_found")
}

// All errors below /orders/api/ have the format of the interface.
func TestCompatRefusesInTheDocumentsShape(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate.Place = ratelimit.Rate{Count: 8, Per: time.Hour} })
	w.syncOnce("@main")
	if err := w.store.SaveReasons(t.Context(), "main", []byte(`[{"ID": "r1", "reason": "", "type": "simple"}]`)); err != nil {
		t.Fatal(err)
	}
	shop := w.as(clientShop)
	typed := append([]string{"Content-Type", "application/json"}, shop...)
	first := createPath + "/1001/"
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"no such route", http.MethodGet, "/orders/api/v1/nothing", "", nil, 404, "not_found"},
		{"no such version", http.MethodGet, "/orders/api/v2/menu/view", "", shop, 404, "not_found"},
		{"nothing at all", http.MethodGet, "/orders/api/", "", nil, 404, "not_found"},
		{"wrong method", http.MethodGet, createPath, "", shop, 405, "method_not_allowed"},
		{"wrong method, change", http.MethodPost, first + "pay", payment, typed, 405, "method_not_allowed"},
		{"query that is none", http.MethodGet, viewPath + "?a;b", "", shop, 400, "invalid_parameter"},
		{"two restaurants", http.MethodGet, viewPath + "?restaurantId=a&restaurantID=b", "", shop, 400, "invalid_parameter"},
		{"no coding that is there", http.MethodGet, viewPath, "", append([]string{"Accept-Encoding", "identity;q=0"}, shop...), 406, "not_acceptable"},
		{"too large", http.MethodPost, createPath, strings.Repeat(" ", 256<<10+1), typed, 413, "payload_too_large"},
		{"too large a payment", http.MethodPut, first + "pay", strings.Repeat(" ", 256<<10+1), typed, 413, "payload_too_large"},
		{"packed", http.MethodPost, createPath, posOrder(), append([]string{"Content-Encoding", "gzip"}, typed...), 415, "unsupported_media_type"},
		{"no JSON", http.MethodPost, createPath, `{"dishList": [`, typed, 400, "malformed_json"},
		{"no body", http.MethodPost, createPath, "", typed, 400, "malformed_json"},
		{"no payment", http.MethodPut, first + "pay", "", typed, 400, "malformed_json"},
		{"no rejection", http.MethodPut, first + "reject", "{", typed, 400, "malformed_json"},
		{"a key that is none", http.MethodPost, createPath, posOrder(), append(key("ж"), typed...), 400, "idempotency_key_required"},
		{"two keys", http.MethodPut, first + "pay", payment, append(append(key("a"), key("b")...), typed...), 400, "idempotency_key_required"},
		{"no menu yet", http.MethodGet, viewPath + "?restaurantId=" + empty, "", shop, 503, "no_catalogue"},
		{"an order without a menu", http.MethodPost, createPath, with(`"restaurantID": "` + empty + `"`), typed, 503, "no_catalogue"},
		{"no reasons yet", http.MethodGet, causesPath, "", w.as(clientNorth), 503, "no_rejection_reasons"},
		{"an order that is no object", http.MethodPost, createPath, `[]`, typed, 422, "validation_failed"},
		{"a restaurant that is no identifier", http.MethodPost, createPath, with(`"restaurantID": {}`), typed, 422, "validation_failed"},
		{"a payment that is no array", http.MethodPut, first + "pay", `{}`, typed, 422, "validation_failed"},
		{"a reason that is not listed", http.MethodPut, first + "reject", `{"rejectionReasonID": "?"}`, typed, 422, "validation_failed"},
		{"too many", http.MethodPost, createPath, posOrder(), typed, 429, "rate_limited"},
	} {
		got := w.do(test.method, test.path, test.body, test.headers...)
		if got.status != test.status {
			t.Errorf("%s: %d %s", test.name, got.status, got.body)
			continue
		}
		got.refusedCompat(t, test.status, test.code)
		if wait := got.header.Get("Retry-After"); (wait == "") != (test.status != 429 && test.status != 503) {
			t.Errorf("%s: Retry-After %q", test.name, wait)
		}
	}
	if allow := w.get(createPath).header.Get("Allow"); allow != "POST, OPTIONS" {
		t.Errorf("Allow %q", allow)
	}
	if got := w.do(http.MethodOptions, createPath, ""); got.status != http.StatusNoContent {
		t.Errorf("OPTIONS: %d %s", got.status, got.body)
	}
	w.get("/orders").refused(t, http.StatusNotFound, "not_found") // not of this API
}

// panicking is an order engine whose methods panic.
type panicking struct{ httpapi.Orders }

func TestCompatPanic(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.orders = panicking{} })
	w.syncOnce("@main")
	w.post(createPath, posOrder(), w.as(clientShop)...).refusedCompat(t, http.StatusInternalServerError, "internal")
}

// Violations of an order are in the guest's language and in the configured format.
func TestCompatValidation(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	body := strings.NewReplacer(`"persons": 2`, `"persons": true`, `"ID": "x1"`, `"ID": "x9"`).Replace(posOrder())
	english := "This must be a value of type integer, not boolean; " +
		"Sauce: choose 1 more (1 to 2; 0 chosen); The menu has no ingredient x9"
	russian := "Здесь нужно другое значение: целое число, а не логическое значение; " +
		"Sauce: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0); В меню нет ингредиента x9"
	for language, want := range map[string]string{"": english, "en-GB": english, "uk": english, "ru-RU, en;q=0.5": russian} {
		headers := append([]string{"Accept-Language", language}, tw.shop...)
		got := tw.post(createPath, body, headers...).refusedCompat(t, http.StatusUnprocessableEntity, "validation_failed")
		if got.Msg != want {
			t.Errorf("in %q: msg\n%s\nwant\n%s", language, got.Msg, want)
		}
		var all []string
		for _, v := range *got.Errors {
			all = append(all, v.Msg)
		}
		if strings.Join(all, "; ") != want || (*got.Errors)[2].Path != "/dishList/0/ingredients/0" {
			t.Errorf("in %q: errors %+v", language, *got.Errors)
		}
	}
	if sent := tw.behind.has(); len(sent) != 0 {
		t.Errorf("the service got %+v", sent)
	}
	paid := tw.put(createPath+"/1001/pay", `[{"code": "", "amount": "1,5", "paidAt": "2026-11-21T12:00:00"}]`, append([]string{"Accept-Language", "ru"}, tw.shop...)...)
	if got := paid.refusedCompat(t, 422, "validation_failed"); got.Msg != "Не заполнено поле code; Запишите число с точкой, а не с запятой; "+
		"Укажите время со смещением часового пояса, например 2026-05-01T18:30:00+03:00" {
		t.Errorf("a payment in Russian: %s", got.Msg)
	}

	plain := newCompatFixture(t, func(p *plan) {
		p.cfg.Compat = compat.Config{RefusalStatus: http.StatusBadRequest, RefusalErrors: compat.RefusalNone}
	})
	for _, got := range []documentError{
		plain.post(createPath, body, plain.shop...).refusedCompat(t, http.StatusBadRequest, "validation_failed"),
		plain.put(createPath+"/1001/pay", `[]`, plain.shop...).refusedCompat(t, http.StatusBadRequest, "validation_failed"),
		plain.get(viewPath+"?restaurantId=nowhere", plain.shop...).refusedCompat(t, http.StatusNotFound, "restaurant_not_found"),
	} {
		if got.Errors != nil || got.Msg == "" {
			t.Errorf("none: msg %q, errors %+v", got.Msg, got.Errors)
		}
	}
	// An order with many violations gets a short message.
	many := strings.Replace(posOrder(), `"dishList": [`, `"dishList": [`+strings.Repeat(`{"ID": "?", "quantity": 0}, `, 40), 1)
	if got := plain.post(createPath, many, plain.shop...).refusedCompat(t, http.StatusBadRequest, "validation_failed"); strings.Count(got.Msg, ";") != 10 || !strings.HasSuffix(got.Msg, "; …") {
		t.Errorf("40 dishes that are none: %s", got.Msg)
	}
}
