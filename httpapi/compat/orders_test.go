package compat_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/httpapi/ratelimit"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/ordering"
)

// Fields that larder does not know reach the ordering service unchanged (policy W8).
func TestUnknownFieldsReachTheService_W8(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := strings.NewReplacer(
		`{"comment"`, `{"source": {"app": "web 🌐", "build": 1.50, "flags": [true, null]}, "restaurantID": "bistro", "soonest": false, "comment"`,
		`"firstName": "Inês"`, `"firstName": "Inês", "loyalty": {"card": "0042", "points": 10.00}`,
		`"floor": 3`, `"floor": 3, "door_code": "B 12", "geo": [41.14, -8.61]`,
		`"name": "Margherita"`, `"name": "Margherita", "course": 2, "marks": ["well done", "без лука"]`,
		`"name": "Garlic"`, `"name": "Garlic", "half": "left"`,
	).Replace(apitest.POSOrder())
	tw.Post(apitest.CreatePath, body, tw.Shop...).Is(t, http.StatusCreated)
	raw := tw.Behind.Raws()[0]
	for _, member := range []string{ // except for white space between tokens
		`"source":{"app": "web 🌐", "build": 1.50, "flags": [true, null]}`, `"soonest":false`,
		`"loyalty":{"card": "0042", "points": 10.00}`, `"door_code":"B 12"`, `"geo":[41.14, -8.61]`,
		`"course":2`, `"marks":["well done", "без лука"]`, `"half":"left"`,
	} {
		if strings.Count(raw, tight(t, member)) != 1 {
			t.Errorf("%s did not reach the service as it was:\n%s", member, raw)
		}
	}
	tw.Put(apitest.CreatePath+"/1001/pay", strings.Replace(apitest.Payment, `"name": ""`, `"name": "", "terminal": {"id": 7.0}`, 1), tw.Shop...).Is(t, http.StatusOK)
	if paid := tw.Behind.Orders()[0].Payments; len(paid) != 1 || !strings.Contains(string(paid[0]), `"terminal":{"id":7.0}`) {
		t.Errorf("the payment arrived as %s", paid)
	}
	if strings.Contains(raw, "Idempotency") || tw.Behind.Orders()[0].Headers["Idempotency-Key"] != "" {
		t.Errorf("a key arrived: %s", raw)
	}
}

// tight returns the same JSON without white space.
func tight(t *testing.T, text string) string {
	t.Helper()
	alone := strings.HasPrefix(text, `"`)
	if alone {
		text = "{" + text + "}"
	}
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if alone {
		return out.String()[1 : out.Len()-1]
	}
	return out.String()
}

// The spellings and types that clients of such services are known to send (policies W3 to W5 and
// W12).
func TestSpellingsOfClients_W3(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	dish := `"dishList": [{"ID": "e1", "name": "Margherita", "price": 199.9, "quantity": 1, "ingredients": [{"ID": "x1", "name": "Garlic", "price": 10.50, "quantity": 1}]}]`
	for name, test := range map[string]struct{ old, now string }{
		"as documented":          {dish, dish},
		"camel case":             {`"paymentTypeID"`, `"paymentTypeId"`},
		"small ids":              {`"ID"`, `"id"`},
		"mixed ids":              {`"ID"`, `"Id"`},
		"another case":           {`"expeditionType"`, `"ExpeditionType"`},
		"underscores":            {`"expectedAt"`, `"expected_at"`},
		"numbers as texts":       {`"persons": 2`, `"persons": "2"`},
		"a price as text":        {`"price": 199.9`, `"price": "199.90"`},
		"a quantity as text":     {`"quantity": 1,`, `"quantity": "1.0",`},
		"no price":               {`"price": 199.9, `, ``},
		"nothing but nulls":      {`"comment": "no bell"`, `"comment": null, "changeFrom": null, "guest": null`},
		"an empty list inside":   {`"quantity": 1}]`, `"quantity": 1, "ingredients": []}]`},
		"an external id as well": {`"ID": "e1"`, `"externalId": "e1", "id": null`},
		"a whole product":        {`"ID": "e1"`, `"ID": "e1", "categoryId": "c1", "imageUrls": [], "calories": 10, "isContainInStopList": [], "schemeId": "s1"`},
		"a menu id":              {`"ID": "e1"`, `"ID": "p1"`},
		"an empty floor":         {`"floor": 3`, `"floor": ""`},
	} {
		body := strings.ReplaceAll(apitest.POSOrder(), test.old, test.now)
		for _, restaurant := range []string{"restaurantID", "restaurantId", "RestaurantId", "restaurant_id"} {
			got := tw.Post(apitest.CreatePath, strings.Replace(body, "{", `{"`+restaurant+`": "bistro", `, 1), tw.Shop...)
			if got.Status != http.StatusCreated {
				t.Errorf("%s, %s: %d %s", name, restaurant, got.Status, got.Body)
			}
		}
	}
	for _, raw := range tw.Behind.Raws() {
		if !strings.Contains(raw, `"restaurantID":"bistro"`) || !strings.Contains(raw, `"paymentTypeID":"card"`) || !strings.Contains(raw, `{"ID":"e1",`) {
			t.Errorf("the service got %s", raw)
		}
	}
}

// A body is read as JSON whatever its Content-Type is.
func TestAnyContentType(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	for _, media := range []string{"", "application/json", "application/json;charset=UTF-8", "text/json", "text/plain", "application/x-www-form-urlencoded", "no type"} {
		headers := tw.Shop
		if media != "" {
			headers = append([]string{"Content-Type", media}, headers...)
		}
		if got := tw.Do(http.MethodPost, apitest.CreatePath, "\ufeff"+apitest.POSOrder(), headers...); got.Status != http.StatusCreated {
			t.Errorf("Content-Type %q: %d %s", media, got.Status, got.Body)
		}
	}
}

// With a key, a request is executed once; without a key, each request is a new order.
func TestKeysOnTheCompatibleAPI(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := apitest.POSOrder()
	place := func(body, k string, headers ...string) apitest.Reply {
		t.Helper()
		if k != "" {
			headers = append(apitest.Key(k), headers...)
		}
		return tw.Post(apitest.CreatePath, body, headers...)
	}
	first := place(body, "k-1", tw.Shop...).Is(t, http.StatusCreated)
	apitest.SameReplay(t, first, place(body, `"k-1"`, tw.Shop...))
	apitest.SameReplay(t, first, place(tight(t, body), "k-1", tw.Shop...))
	if ref := first.Header.Get("Larder-Order-Ref"); len(ref) != 26 || ref != place(body, "k-1", tw.Shop...).Header.Get("Larder-Order-Ref") {
		t.Errorf("Larder-Order-Ref %q", ref)
	}
	reused := place(strings.Replace(body, "no bell", "ring", 1), "k-1", tw.Shop...)
	reused.RefusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if reused.Header.Get("Larder-Order-Ref") != first.Header.Get("Larder-Order-Ref") {
		t.Errorf("whose key it is: %v", reused.Header)
	}
	place(apitest.POSOrderWith(`"restaurantID": "second"`), "k-1", tw.Shop...).RefusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, append(apitest.Key("k-1"), tw.Shop...)...).RefusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	for range 2 {
		if got := place(body, "", tw.Shop...).Is(t, http.StatusCreated); got.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("without a key: %v", got.Header)
		}
	}
	if n := len(tw.Behind.Orders()); n != 3 {
		t.Errorf("the service has %d orders, want 3", n)
	}

	// With or without a key, a change is executed once.
	change := func(what, body string, k ...string) apitest.Reply {
		return tw.Put(apitest.CreatePath+"/1001/"+what, body, append(k, tw.Shop...)...)
	}
	refused := change("complete", "", apitest.Key("c-1")...).Is(t, http.StatusInternalServerError)
	change("complete", "").Is(t, http.StatusInternalServerError)
	paid := change("pay", apitest.Payment).Is(t, http.StatusOK)
	apitest.SameReplay(t, paid, change("pay", tight(t, apitest.Payment)))
	change("pay", strings.Replace(apitest.Payment, "210.40", "300", 1)).RefusedCompat(t, http.StatusConflict, "order_state")
	apitest.SameReplay(t, refused, change("complete", "", apitest.Key("c-1")...)) // the client's own key keeps the rejection
	done := change("complete", "").Is(t, http.StatusOK)                           // a key that larder created does not
	apitest.SameReplay(t, done, change("complete", ""))
	closed := change("reject", apitest.Reject)
	closed.RefusedCompat(t, http.StatusConflict, "order_state")
	if closed.Header.Get("Larder-Order-Ref") != first.Header.Get("Larder-Order-Ref") {
		t.Errorf("which order it is: %v", closed.Header)
	}
	if orders := tw.Behind.Orders(); len(orders[0].Payments) != 1 || orders[0].State != "closed" {
		t.Errorf("the service has %+v", orders[0])
	}
}

// Orders of other connections are unknown on every route and with every key.
func TestCompatIsolation(t *testing.T) {
	t.Parallel()
	elsewhere := apitest.NewSandbox(t, "north", apitest.North)
	apitest.PutMenu(t, elsewhere.Base, sandbox.DefaultMenu)
	tw := apitest.NewCompat(t, func(p *apitest.Plan) { p.Services["north"] = elsewhere })
	stranger := tw.As(apitest.ClientNorth)
	tw.Post(apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": "bistro"`), append(apitest.Key("k"), tw.Shop...)...).Is(t, http.StatusCreated)

	for id, want := range map[string][]string{apitest.Bistro: {apitest.North}, apitest.Second: {}} {
		refused := tw.Post(apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": "`+id+`"`), stranger...).RefusedCompat(t, http.StatusNotFound, "restaurant_not_found")
		if diff := cmp.Diff(want, knownOf(t, refused)); diff != "" {
			t.Errorf("the ids after %s are not those of the client's connection: %s", id, diff)
		}
	}
	tw.Get(apitest.ViewPath+"?restaurantId=bistro", stranger...).RefusedCompat(t, http.StatusNotFound, "restaurant_not_found")
	tw.Get(causesPath, stranger...).RefusedCompat(t, http.StatusServiceUnavailable, "no_rejection_reasons")
	// The orderID is passed on to the client's own ordering service, which has no such order.
	for what, body := range map[string]string{"pay": apitest.Payment, "complete": "", "reject": apitest.Reject} {
		tw.Put(apitest.CreatePath+"/1001/"+what, body, stranger...).Is(t, http.StatusNotFound)
	}
	if orders := tw.Behind.Orders(); len(orders) != 1 || orders[0].Paid || orders[0].State != "new" {
		t.Errorf("another's order was changed: %+v", orders)
	}
	// The same key of another client is a different key.
	tw.Post(apitest.CreatePath, apitest.POSOrder(), append(apitest.Key("k"), stranger...)...).Is(t, http.StatusCreated)
	if got := tw.Post(apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": "bistro"`), append(apitest.Key("k"), tw.Shop...)...); got.Header.Get("Idempotent-Replayed") != "true" && got.Status != 422 {
		t.Errorf("the first client's key: %d %v", got.Status, got.Header)
	}
	// Two orders with the same id: each client changes only its own.
	if orders := elsewhere.Orders(); len(orders) != 1 || orders[0].OrderID != "1001" {
		t.Fatalf("the other service has %+v", orders)
	}
	tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, stranger...).Is(t, http.StatusOK)
	if tw.Behind.Orders()[0].Paid || !elsewhere.Orders()[0].Paid {
		t.Error("the payment went to the wrong service")
	}
}

// Both APIs share the rate limit for placing orders (policy H1).
func TestCompatIsLimitedByClient(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate.Place = ratelimit.Rate{Count: 1, Per: 3600e9} })
	w.SyncOnce("@main")
	shop := w.As(apitest.ClientShop)
	w.Post(apitest.CreatePath, apitest.POSOrder(), shop...).Is(t, http.StatusCreated)
	got := w.Post(apitest.CreatePath+"/", apitest.POSOrder(), shop...)
	if wait, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || wait < 3000 || wait > 3600 {
		t.Errorf("Retry-After %q, want what is left of an hour", got.Header.Get("Retry-After"))
	}
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("a"), shop...)...).Refused(t, http.StatusTooManyRequests, "rate_limited")
	w.Put(apitest.CreatePath+"/765/complete", "", shop...).Is(t, http.StatusOK)
	w.Put(apitest.CreatePath+"/765/pay", apitest.Payment, shop...).RefusedCompat(t, http.StatusTooManyRequests, "rate_limited")
	w.Get(apitest.ViewPath, shop...).Is(t, http.StatusOK)
}

// Orders are rejected if their records could be lost (policy O14).
func TestCompatWithoutAJournal(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t, func(p *apitest.Plan) { p.Ordering.AllowNonDurable = false })
	got := tw.Post(apitest.CreatePath, apitest.POSOrder(), tw.Shop...)
	got.RefusedCompat(t, http.StatusServiceUnavailable, "journal_unavailable")
	if got.Header.Get("Retry-After") == "" || len(tw.Behind.Orders()) != 0 {
		t.Errorf("Retry-After %q, sent %+v", got.Header.Get("Retry-After"), tw.Behind.Orders())
	}
}

// The log and the metrics contain an order of the compatible API, but no data of the guest.
func TestCompatIsLogged(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	got := tw.Post(apitest.CreatePath, apitest.POSOrderWith(`"restaurantID": "bistro"`), append(apitest.Key("secret-key"), tw.Shop...)...).Is(t, http.StatusCreated)
	found := false
	for _, entry := range tw.Logs.AllEntries() {
		text, err := entry.String()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "Flores") || strings.Contains(text, "secret-key") || strings.Contains(text, "+351") {
			t.Errorf("the log contains too much: %s", text)
		}
		found = found || entry.Data["event"] == "order.placed" && entry.Data["ref"] == got.Header.Get("Larder-Order-Ref")
	}
	if !found {
		t.Error("the order is not in the log")
	}
	tw.Post(apitest.CreatePath, "{", tw.Shop...).RefusedCompat(t, http.StatusBadRequest, "malformed_json")
	metrics := string(tw.Get("/metrics").Body)
	for _, line := range []string{
		`larder_http_requests_total{method="POST",route="/orders/api/v1/orders",status="2xx"} 1`,
		`larder_orders_total{operation="create",outcome="placed"} 1`,
		`larder_orders_total{operation="create",outcome="invalid"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	record, err := tw.Engine.ByOrderID(t.Context(), []string{"main"}, "1001")
	if err != nil || record.Client != apitest.ClientShop || record.Restaurant != "bistro" || record.State != ordering.StatePlaced {
		t.Errorf("record %+v, %v", record, err)
	}
	var shown struct{ OrderID, Restaurant string }
	tw.Get("/v1/orders/1001", tw.Shop...).Is(t, http.StatusOK)
	if err := json.Unmarshal(tw.Get("/v1/orders?key=secret-key", tw.Shop...).Body, &struct{ Result any }{&shown}); err != nil || shown.OrderID != "1001" {
		t.Errorf("by its key, on the other API: %+v, %v", shown, err)
	}
}

// An order id cannot select another path: a proxy in front of the ordering service may unescape
// what larder escapes.
func TestOrderIDsThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	for _, id := range []string{"..%2F..%2Fmenu", "1001%2F..%2F1002", "..%5C1001", "%2e%2e", "1001%0D%0AHost:%20x", "1001%00"} {
		for operation, body := range map[string]string{"pay": apitest.Payment, "complete": "", "reject": apitest.Reject} {
			tw.Put(apitest.CreatePath+"/"+id+"/"+operation, body, tw.Shop...).RefusedCompat(t, http.StatusNotFound, "order_not_found")
		}
	}
	var counted struct{ Calls map[string]int }
	apitest.Do(t, http.MethodGet, tw.Behind.Base+"/sandbox/counters", "").Is(t, http.StatusOK).Into(t, &counted)
	for call, n := range counted.Calls {
		if strings.HasPrefix(call, http.MethodPut) {
			t.Errorf("the service got %d of %s", n, call)
		}
	}
}

// Both APIs share a client's keys: the same request through the other API is the same request, and
// its response has the format of that API.
func TestOneKeyOnBothAPIs(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := strings.Replace(apitest.POSOrder(), "{", `{"restaurantID": "bistro", `, 1)
	both := append(apitest.Key("k"), tw.Shop...)
	first := tw.Post(apitest.CreatePath, body, both...).Is(t, http.StatusCreated)
	ref := first.Header.Get("Larder-Order-Ref")
	var p apitest.Placed
	again := tw.Post(apitest.OrdersPath, body, both...).Is(t, http.StatusCreated)
	if again.Into(t, &p); p.Ref != ref || p.OrderID != "1001" || p.Total != "210.4" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again on the v1 API: %s %v", again.Body, again.Header)
	}
	paid := tw.Put("/v1/orders/1001/pay", apitest.Payment, tw.Shop...).Is(t, http.StatusOK)
	if got := tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, tw.Shop...).Is(t, http.StatusOK); string(got.Body) != `{"result":{}}` || got.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("paid %s, and on the compatible API again: %s", paid.Body, got.Body)
	}
	if orders := tw.Behind.Orders(); len(orders) != 1 || len(orders[0].Payments) != 1 {
		t.Errorf("the service has %+v", orders)
	}
	unnamed := tw.Post(apitest.CreatePath, apitest.POSOrder(), both...).RefusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if !strings.HasSuffix(unnamed.Msg, "(ref "+ref+")") {
		t.Errorf("another restaurant's menu under the key: %q", unnamed.Msg)
	}
}
