package compat_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/httpapi"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apitest"
)

// knownOf returns the ids that a rejection lists.
func knownOf(t *testing.T, e apitest.CompatError) []string {
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
		{http.MethodGet, apitest.ViewPath, ""},
		{http.MethodGet, causesPath, ""},
		{http.MethodPost, apitest.CreatePath, apitest.POSOrder()},
		{http.MethodPut, apitest.CreatePath + "/1001/pay", apitest.Payment},
		{http.MethodPut, apitest.CreatePath + "/1001/complete", ""},
		{http.MethodPut, apitest.CreatePath + "/1001/reject", apitest.Reject},
	}
}

func TestCompatNeedsTheScopeOrders(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	reader, ops := w.As(apitest.ClientRead), w.As(apitest.ClientOps)
	for _, route := range everyRoute() {
		for _, path := range []string{route.path, route.path + "/"} {
			got := w.Do(route.method, path, route.body)
			got.RefusedCompat(t, http.StatusUnauthorized, "unauthorized")
			if said := got.Header.Get("WWW-Authenticate"); said != `Bearer realm="larder"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			got = w.Do(route.method, path, route.body, "Authorization", "Bearer x.y.z")
			got.RefusedCompat(t, http.StatusUnauthorized, "unauthorized")
			if said := got.Header.Get("WWW-Authenticate"); said != `Bearer realm="larder", error="invalid_token"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			got = w.Do(route.method, path, route.body, reader...)
			got.RefusedCompat(t, http.StatusForbidden, "forbidden")
			if said := got.Header.Get("WWW-Authenticate"); said != `Bearer realm="larder", error="insufficient_scope", scope="orders"` {
				t.Errorf("%s: WWW-Authenticate %q", path, said)
			}
			// A client that sees several connections must select one.
			refused := w.Do(route.method, path, route.body, ops...).RefusedCompat(t, http.StatusBadRequest, "connection_required")
			if diff := cmp.Diff([]string{"main", "north"}, knownOf(t, refused)); diff != "" {
				t.Errorf("%s: connections (-want +got):\n%s", path, diff)
			}
		}
	}
}

// The only connection need not be selected.
func TestCompatOverTheOnlyConnection(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t, func(p *apitest.Plan) {
		p.Deps = func(deps *httpapi.Deps) { deps.Connections = deps.Connections[:1] }
	})
	tw.Get(apitest.ViewPath, tw.As(apitest.ClientOps)...).Is(t, http.StatusOK)
	tw.Post(apitest.CreatePath, apitest.POSOrder(), tw.As(apitest.ClientOps)...).Is(t, http.StatusCreated)
	none := apitest.New(t, func(p *apitest.Plan) { p.Deps = func(deps *httpapi.Deps) { deps.Connections = nil } })
	none.Get(apitest.ViewPath, none.As(apitest.ClientOps)...).RefusedCompat(t, http.StatusNotFound, "connection_not_found")
}

// All errors below /orders/api/ have the format of the interface.
func TestCompatRefusesInTheDocumentsShape(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate.Place = ratelimit.Rate{Count: 8, Per: time.Hour} })
	w.SyncOnce("@main")
	if err := w.Store.SaveReasons(t.Context(), "main", []byte(`[{"ID": "r1", "reason": "", "type": "simple"}]`)); err != nil {
		t.Fatal(err)
	}
	shop := w.As(apitest.ClientShop)
	typed := append([]string{"Content-Type", "application/json"}, shop...)
	first := apitest.CreatePath + "/1001/"
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"no such route", http.MethodGet, "/orders/api/v1/nothing", "", nil, 404, "not_found"},
		{"no such version", http.MethodGet, "/orders/api/v2/menu/view", "", shop, 404, "not_found"},
		{"nothing at all", http.MethodGet, "/orders/api/", "", nil, 404, "not_found"},
		{"wrong method", http.MethodGet, apitest.CreatePath, "", shop, 405, "method_not_allowed"},
		{"wrong method, change", http.MethodPost, first + "pay", apitest.Payment, typed, 405, "method_not_allowed"},
		{"query that is none", http.MethodGet, apitest.ViewPath + "?a;b", "", shop, 400, "invalid_parameter"},
		{"two restaurants", http.MethodGet, apitest.ViewPath + "?restaurantId=a&restaurantID=b", "", shop, 400, "invalid_parameter"},
		{"no coding that is there", http.MethodGet, apitest.ViewPath, "", append([]string{"Accept-Encoding", "identity;q=0"}, shop...), 406, "not_acceptable"},
		{"too large", http.MethodPost, apitest.CreatePath, strings.Repeat(" ", 256<<10+1), typed, 413, "payload_too_large"},
		{"too large a payment", http.MethodPut, first + "pay", strings.Repeat(" ", 256<<10+1), typed, 413, "payload_too_large"},
		{"packed", http.MethodPost, apitest.CreatePath, apitest.POSOrder(), append([]string{"Content-Encoding", "gzip"}, typed...), 415, "unsupported_media_type"},
		{"no JSON", http.MethodPost, apitest.CreatePath, `{"dishList": [`, typed, 400, "malformed_json"},
		{"no body", http.MethodPost, apitest.CreatePath, "", typed, 400, "malformed_json"},
		{"no payment", http.MethodPut, first + "pay", "", typed, 400, "malformed_json"},
		{"no rejection", http.MethodPut, first + "reject", "{", typed, 400, "malformed_json"},
		{"a key that is none", http.MethodPost, apitest.CreatePath, apitest.POSOrder(), append(apitest.Key("ж"), typed...), 400, "idempotency_key_required"},
		{"two keys", http.MethodPut, first + "pay", apitest.Payment, append(append(apitest.Key("a"), apitest.Key("b")...), typed...), 400, "idempotency_key_required"},
		{"no menu yet", http.MethodGet, apitest.ViewPath + "?restaurantId=" + apitest.Empty, "", shop, 503, "no_catalogue"},
		{"an order without a menu", http.MethodPost, apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": "` + apitest.Empty + `"`), typed, 503, "no_catalogue"},
		{"no reasons yet", http.MethodGet, causesPath, "", w.As(apitest.ClientNorth), 503, "no_rejection_reasons"},
		{"an order that is no object", http.MethodPost, apitest.CreatePath, `[]`, typed, 422, "validation_failed"},
		{"a restaurant that is no identifier", http.MethodPost, apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": {}`), typed, 422, "validation_failed"},
		{"a payment that is no array", http.MethodPut, first + "pay", `{}`, typed, 422, "validation_failed"},
		{"a reason that is not listed", http.MethodPut, first + "reject", `{"rejectionReasonID": "?"}`, typed, 422, "validation_failed"},
		{"too many", http.MethodPost, apitest.CreatePath, apitest.POSOrder(), typed, 429, "rate_limited"},
	} {
		got := w.Do(test.method, test.path, test.body, test.headers...)
		if got.Status != test.status {
			t.Errorf("%s: %d %s", test.name, got.Status, got.Body)
			continue
		}
		got.RefusedCompat(t, test.status, test.code)
		if wait := got.Header.Get("Retry-After"); (wait == "") != (test.status != 429 && test.status != 503) {
			t.Errorf("%s: Retry-After %q", test.name, wait)
		}
	}
	if allow := w.Get(apitest.CreatePath).Header.Get("Allow"); allow != "POST, OPTIONS" {
		t.Errorf("Allow %q", allow)
	}
	if got := w.Do(http.MethodOptions, apitest.CreatePath, ""); got.Status != http.StatusNoContent {
		t.Errorf("OPTIONS: %d %s", got.Status, got.Body)
	}
	w.Get("/orders").Refused(t, http.StatusNotFound, "not_found") // not of this API
}

// panicking is an order engine whose methods panic.
type panicking struct{ httpapi.Orders }

func TestCompatPanic(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.Orders = panicking{} })
	w.SyncOnce("@main")
	w.Post(apitest.CreatePath, apitest.POSOrder(), w.As(apitest.ClientShop)...).RefusedCompat(t, http.StatusInternalServerError, "internal")
}

// Violations of an order are in the guest's language and in the configured format.
func TestCompatValidation(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := strings.NewReplacer(`"persons": 2`, `"persons": true`, `"ID": "x1"`, `"ID": "x9"`).Replace(apitest.POSOrder())
	english := "This must be a value of type integer, not boolean; " +
		"Sauce: choose 1 more (1 to 2; 0 chosen); The menu has no ingredient x9"
	russian := "Здесь нужно другое значение: целое число, а не логическое значение; " +
		"Sauce: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0); В меню нет ингредиента x9"
	for language, want := range map[string]string{"": english, "en-GB": english, "uk": english, "ru-RU, en;q=0.5": russian} {
		headers := append([]string{"Accept-Language", language}, tw.Shop...)
		got := tw.Post(apitest.CreatePath, body, headers...).RefusedCompat(t, http.StatusUnprocessableEntity, "validation_failed")
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
	if sent := tw.Behind.Orders(); len(sent) != 0 {
		t.Errorf("the service got %+v", sent)
	}
	paid := tw.Put(apitest.CreatePath+"/1001/pay", `[{"code": "", "amount": "1,5", "paidAt": "2026-11-21T12:00:00"}]`, append([]string{"Accept-Language", "ru"}, tw.Shop...)...)
	if got := paid.RefusedCompat(t, 422, "validation_failed"); got.Msg != "Не заполнено поле code; Запишите число с точкой, а не с запятой; "+
		"Укажите время со смещением часового пояса, например 2026-05-01T18:30:00+03:00" {
		t.Errorf("a payment in Russian: %s", got.Msg)
	}

	plain := apitest.NewCompat(t, func(p *apitest.Plan) {
		p.HTTP.Compat = compat.Config{RefusalStatus: http.StatusBadRequest, RefusalErrors: compat.RefusalNone}
	})
	for _, got := range []apitest.CompatError{
		plain.Post(apitest.CreatePath, body, plain.Shop...).RefusedCompat(t, http.StatusBadRequest, "validation_failed"),
		plain.Put(apitest.CreatePath+"/1001/pay", `[]`, plain.Shop...).RefusedCompat(t, http.StatusBadRequest, "validation_failed"),
		plain.Get(apitest.ViewPath+"?restaurantId=nowhere", plain.Shop...).RefusedCompat(t, http.StatusNotFound, "restaurant_not_found"),
	} {
		if got.Errors != nil || got.Msg == "" {
			t.Errorf("none: msg %q, errors %+v", got.Msg, got.Errors)
		}
	}
	// An order with many violations gets a short message.
	many := strings.Replace(apitest.POSOrder(), `"dishList": [`, `"dishList": [`+strings.Repeat(`{"ID": "?", "quantity": 0}, `, 40), 1)
	if got := plain.Post(apitest.CreatePath, many, plain.Shop...).RefusedCompat(t, http.StatusBadRequest, "validation_failed"); strings.Count(got.Msg, ";") != 10 || !strings.HasSuffix(got.Msg, "; …") {
		t.Errorf("40 dishes that are none: %s", got.Msg)
	}
}
