package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/httpapi/ratelimit"
	"larder/internal/sandbox"
	"larder/ordering"
)

// raws returns the orders that the ordering service received, byte for byte.
func (s *sandboxService) raws() []string {
	s.t.Helper()
	var orders []struct{ Raw string }
	do(s.t, http.MethodGet, s.base+"/sandbox/orders", "").is(s.t, http.StatusOK).into(s.t, &orders)
	raws := make([]string, len(orders))
	for i, order := range orders {
		raws[i] = order.Raw
	}
	return raws
}

// Fields that larder does not know reach the ordering service unchanged (policy W8).
func TestUnknownFieldsReachTheService_W8(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	body := strings.NewReplacer(
		`{"comment"`, `{"source": {"app": "web 🌐", "build": 1.50, "flags": [true, null]}, "restaurantID": "bistro", "soonest": false, "comment"`,
		`"firstName": "Inês"`, `"firstName": "Inês", "loyalty": {"card": "0042", "points": 10.00}`,
		`"floor": 3`, `"floor": 3, "door_code": "B 12", "geo": [41.14, -8.61]`,
		`"name": "Margherita"`, `"name": "Margherita", "course": 2, "marks": ["well done", "без лука"]`,
		`"name": "Garlic"`, `"name": "Garlic", "half": "left"`,
	).Replace(posOrder())
	tw.post(createPath, body, tw.shop...).is(t, http.StatusCreated)
	raw := tw.behind.raws()[0]
	for _, member := range []string{ // except for white space between tokens
		`"source":{"app": "web 🌐", "build": 1.50, "flags": [true, null]}`, `"soonest":false`,
		`"loyalty":{"card": "0042", "points": 10.00}`, `"door_code":"B 12"`, `"geo":[41.14, -8.61]`,
		`"course":2`, `"marks":["well done", "без лука"]`, `"half":"left"`,
	} {
		if strings.Count(raw, tight(t, member)) != 1 {
			t.Errorf("%s did not reach the service as it was:\n%s", member, raw)
		}
	}
	tw.put(createPath+"/1001/pay", strings.Replace(payment, `"name": ""`, `"name": "", "terminal": {"id": 7.0}`, 1), tw.shop...).is(t, http.StatusOK)
	if paid := tw.behind.has()[0].Payments; len(paid) != 1 || !strings.Contains(string(paid[0]), `"terminal":{"id":7.0}`) {
		t.Errorf("the payment arrived as %s", paid)
	}
	if strings.Contains(raw, "Idempotency") || tw.behind.has()[0].Headers["Idempotency-Key"] != "" {
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
	tw := newCompatFixture(t)
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
		body := strings.ReplaceAll(posOrder(), test.old, test.now)
		for _, restaurant := range []string{"restaurantID", "restaurantId", "RestaurantId", "restaurant_id"} {
			got := tw.post(createPath, strings.Replace(body, "{", `{"`+restaurant+`": "bistro", `, 1), tw.shop...)
			if got.status != http.StatusCreated {
				t.Errorf("%s, %s: %d %s", name, restaurant, got.status, got.body)
			}
		}
	}
	for _, raw := range tw.behind.raws() {
		if !strings.Contains(raw, `"restaurantID":"bistro"`) || !strings.Contains(raw, `"paymentTypeID":"card"`) || !strings.Contains(raw, `{"ID":"e1",`) {
			t.Errorf("the service got %s", raw)
		}
	}
}

// A body is read as JSON whatever its Content-Type is.
func TestAnyContentType(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	for _, media := range []string{"", "application/json", "application/json;charset=UTF-8", "text/json", "text/plain", "application/x-www-form-urlencoded", "no type"} {
		headers := tw.shop
		if media != "" {
			headers = append([]string{"Content-Type", media}, headers...)
		}
		if got := tw.do(http.MethodPost, createPath, "\ufeff"+posOrder(), headers...); got.status != http.StatusCreated {
			t.Errorf("Content-Type %q: %d %s", media, got.status, got.body)
		}
	}
}

// With a key, a request is executed once; without a key, each request is a new order.
func TestKeysOnTheCompatibleAPI(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	body := posOrder()
	place := func(body, k string, headers ...string) reply {
		t.Helper()
		if k != "" {
			headers = append(key(k), headers...)
		}
		return tw.post(createPath, body, headers...)
	}
	first := place(body, "k-1", tw.shop...).is(t, http.StatusCreated)
	same(t, first, place(body, `"k-1"`, tw.shop...))
	same(t, first, place(tight(t, body), "k-1", tw.shop...))
	if ref := first.header.Get("Larder-Order-Ref"); len(ref) != 26 || ref != place(body, "k-1", tw.shop...).header.Get("Larder-Order-Ref") {
		t.Errorf("Larder-Order-Ref %q", ref)
	}
	reused := place(strings.Replace(body, "no bell", "ring", 1), "k-1", tw.shop...)
	reused.refusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if reused.header.Get("Larder-Order-Ref") != first.header.Get("Larder-Order-Ref") {
		t.Errorf("whose key it is: %v", reused.header)
	}
	place(with(`"restaurantID": "second"`), "k-1", tw.shop...).refusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	tw.put(createPath+"/1001/pay", payment, append(key("k-1"), tw.shop...)...).refusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	for range 2 {
		if got := place(body, "", tw.shop...).is(t, http.StatusCreated); got.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("without a key: %v", got.header)
		}
	}
	if n := len(tw.behind.has()); n != 3 {
		t.Errorf("the service has %d orders, want 3", n)
	}

	// With or without a key, a change is executed once.
	change := func(what, body string, k ...string) reply {
		return tw.put(createPath+"/1001/"+what, body, append(k, tw.shop...)...)
	}
	refused := change("complete", "", key("c-1")...).is(t, http.StatusInternalServerError)
	change("complete", "").is(t, http.StatusInternalServerError)
	paid := change("pay", payment).is(t, http.StatusOK)
	same(t, paid, change("pay", tight(t, payment)))
	change("pay", strings.Replace(payment, "210.40", "300", 1)).refusedCompat(t, http.StatusConflict, "order_state")
	same(t, refused, change("complete", "", key("c-1")...)) // the client's own key keeps the rejection
	done := change("complete", "").is(t, http.StatusOK)     // a key that larder created does not
	same(t, done, change("complete", ""))
	closed := change("reject", reject)
	closed.refusedCompat(t, http.StatusConflict, "order_state")
	if closed.header.Get("Larder-Order-Ref") != first.header.Get("Larder-Order-Ref") {
		t.Errorf("which order it is: %v", closed.header)
	}
	if orders := tw.behind.has(); len(orders[0].Payments) != 1 || orders[0].State != "closed" {
		t.Errorf("the service has %+v", orders[0])
	}
}

// Orders of other connections are unknown on every route and with every key.
func TestCompatIsolation(t *testing.T) {
	t.Parallel()
	elsewhere := newSandboxService(t, "north", north)
	putMenu(t, elsewhere.base, sandbox.DefaultMenu)
	tw := newCompatFixture(t, func(p *plan) { p.services["north"] = elsewhere })
	stranger := tw.as(clientNorth)
	tw.post(createPath, with(`"restaurantID": "bistro"`), append(key("k"), tw.shop...)...).is(t, http.StatusCreated)

	for id, want := range map[string][]string{bistro: {north}, second: {}} {
		refused := tw.post(createPath, with(`"restaurantID": "`+id+`"`), stranger...).refusedCompat(t, http.StatusNotFound, "restaurant_not_found")
		if diff := cmp.Diff(want, knownOf(t, refused)); diff != "" {
			t.Errorf("the ids after %s are not those of the client's connection: %s", id, diff)
		}
	}
	tw.get(viewPath+"?restaurantId=bistro", stranger...).refusedCompat(t, http.StatusNotFound, "restaurant_not_found")
	tw.get(causesPath, stranger...).refusedCompat(t, http.StatusServiceUnavailable, "no_rejection_reasons")
	// The orderID is passed on to the client's own ordering service, which has no such order.
	for what, body := range map[string]string{"pay": payment, "complete": "", "reject": reject} {
		tw.put(createPath+"/1001/"+what, body, stranger...).is(t, http.StatusNotFound)
	}
	if orders := tw.behind.has(); len(orders) != 1 || orders[0].Paid || orders[0].State != "new" {
		t.Errorf("another's order was changed: %+v", orders)
	}
	// The same key of another client is a different key.
	tw.post(createPath, posOrder(), append(key("k"), stranger...)...).is(t, http.StatusCreated)
	if got := tw.post(createPath, with(`"restaurantID": "bistro"`), append(key("k"), tw.shop...)...); got.header.Get("Idempotent-Replayed") != "true" && got.status != 422 {
		t.Errorf("the first client's key: %d %v", got.status, got.header)
	}
	// Two orders with the same id: each client changes only its own.
	if orders := elsewhere.has(); len(orders) != 1 || orders[0].OrderID != "1001" {
		t.Fatalf("the other service has %+v", orders)
	}
	tw.put(createPath+"/1001/pay", payment, stranger...).is(t, http.StatusOK)
	if tw.behind.has()[0].Paid || !elsewhere.has()[0].Paid {
		t.Error("the payment went to the wrong service")
	}
}

// Both APIs share the rate limit for placing orders (policy H1).
func TestCompatIsLimitedByClient(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate.Place = ratelimit.Rate{Count: 1, Per: 3600e9} })
	w.syncOnce("@main")
	shop := w.as(clientShop)
	w.post(createPath, posOrder(), shop...).is(t, http.StatusCreated)
	got := w.post(createPath+"/", posOrder(), shop...)
	if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 3000 || wait > 3600 {
		t.Errorf("Retry-After %q, want what is left of an hour", got.header.Get("Retry-After"))
	}
	w.post(ordersPath, order(), append(key("a"), shop...)...).refused(t, http.StatusTooManyRequests, "rate_limited")
	w.put(createPath+"/765/complete", "", shop...).is(t, http.StatusOK)
	w.put(createPath+"/765/pay", payment, shop...).refusedCompat(t, http.StatusTooManyRequests, "rate_limited")
	w.get(viewPath, shop...).is(t, http.StatusOK)
}

// Orders are rejected if their records could be lost (policy O14).
func TestCompatWithoutAJournal(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t, func(p *plan) { p.ordering.AllowNonDurable = false })
	got := tw.post(createPath, posOrder(), tw.shop...)
	got.refusedCompat(t, http.StatusServiceUnavailable, "journal_unavailable")
	if got.header.Get("Retry-After") == "" || len(tw.behind.has()) != 0 {
		t.Errorf("Retry-After %q, sent %+v", got.header.Get("Retry-After"), tw.behind.has())
	}
}

// The log and the metrics contain an order of the compatible API, but no data of the guest.
func TestCompatIsLogged(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	got := tw.post(createPath, with(`"restaurantID": "bistro"`), append(key("secret-key"), tw.shop...)...).is(t, http.StatusCreated)
	found := false
	for _, entry := range tw.logs.AllEntries() {
		text, err := entry.String()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "Flores") || strings.Contains(text, "secret-key") || strings.Contains(text, "+351") {
			t.Errorf("the log contains too much: %s", text)
		}
		found = found || entry.Data["event"] == "order.placed" && entry.Data["ref"] == got.header.Get("Larder-Order-Ref")
	}
	if !found {
		t.Error("the order is not in the log")
	}
	tw.post(createPath, "{", tw.shop...).refusedCompat(t, http.StatusBadRequest, "malformed_json")
	metrics := string(tw.get("/metrics").body)
	for _, line := range []string{
		`larder_http_requests_total{method="POST",route="/orders/api/v1/orders",status="2xx"} 1`,
		`larder_orders_total{operation="create",outcome="placed"} 1`,
		`larder_orders_total{operation="create",outcome="invalid"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	record, err := tw.engine.ByOrderID(t.Context(), []string{"main"}, "1001")
	if err != nil || record.Client != clientShop || record.Restaurant != "bistro" || record.State != ordering.StatePlaced {
		t.Errorf("record %+v, %v", record, err)
	}
	var shown struct{ OrderID, Restaurant string }
	tw.get("/v1/orders/1001", tw.shop...).is(t, http.StatusOK)
	if err := json.Unmarshal(tw.get("/v1/orders?key=secret-key", tw.shop...).body, &struct{ Result any }{&shown}); err != nil || shown.OrderID != "1001" {
		t.Errorf("by its key, on the other API: %+v, %v", shown, err)
	}
}

// An order id cannot select another path: a proxy in front of the ordering service may unescape
// what larder escapes.
func TestOrderIDsThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	for _, id := range []string{"..%2F..%2Fmenu", "1001%2F..%2F1002", "..%5C1001", "%2e%2e", "1001%0D%0AHost:%20x", "1001%00"} {
		for operation, body := range map[string]string{"pay": payment, "complete": "", "reject": reject} {
			tw.put(createPath+"/"+id+"/"+operation, body, tw.shop...).refusedCompat(t, http.StatusNotFound, "order_not_found")
		}
	}
	var counted struct{ Calls map[string]int }
	do(t, http.MethodGet, tw.behind.base+"/sandbox/counters", "").is(t, http.StatusOK).into(t, &counted)
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
	tw := newCompatFixture(t)
	body := strings.Replace(posOrder(), "{", `{"restaurantID": "bistro", `, 1)
	both := append(key("k"), tw.shop...)
	first := tw.post(createPath, body, both...).is(t, http.StatusCreated)
	ref := first.header.Get("Larder-Order-Ref")
	var p placed
	again := tw.post(ordersPath, body, both...).is(t, http.StatusCreated)
	if again.into(t, &p); p.Ref != ref || p.OrderID != "1001" || p.Total != "210.4" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again on the v1 API: %s %v", again.body, again.header)
	}
	paid := tw.put("/v1/orders/1001/pay", payment, tw.shop...).is(t, http.StatusOK)
	if got := tw.put(createPath+"/1001/pay", payment, tw.shop...).is(t, http.StatusOK); string(got.body) != `{"result":{}}` || got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("paid %s, and on the compatible API again: %s", paid.body, got.body)
	}
	if orders := tw.behind.has(); len(orders) != 1 || len(orders[0].Payments) != 1 {
		t.Errorf("the service has %+v", orders)
	}
	unnamed := tw.post(createPath, posOrder(), both...).refusedCompat(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if !strings.HasSuffix(unnamed.Msg, "(ref "+ref+")") {
		t.Errorf("another restaurant's menu under the key: %q", unnamed.Msg)
	}
}
