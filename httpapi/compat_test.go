package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
)

const (
	viewPath   = "/orders/api/v1/menu/view"
	createPath = "/orders/api/v1/orders"
	causesPath = "/orders/api/v1/rejectionReasons"

	second = "second" // a restaurant on connection main
	secret = "demo-secret"
)

// publishedMenu is the menu view of the ordering service: fullMenu with fields that larder does not
// know.
func publishedMenu() string {
	return strings.NewReplacer(
		`{"name": "Dinner",`, `{"name": "Dinner", "isPossibleDelete": false, "haveChanges": null, "vendor": {"era": 3, "ratio": 1.50, "tags": ["a", "б"]},`,
		`"price": 90,`, `"price": "90.00", "allergens": ["milk"], "labels": {},`,
		`"minCount": 1, "maxCount": 2`, `"minCount": 1, "maxCount": 2, "orderNumber": 7`,
		`"name": "Chili", "price": 0`, `"name": "Chili 🌶", "price": 0, "spicy": true`,
	).Replace(fullMenu)
}

// compatFixture is an instance in front of an ordering service, and the same ordering service
// without larder. A client must see no difference between the two.
type compatFixture struct {
	*fixture
	behind, alone *sandboxService
	shop, direct  []string // Authorization headers for both
}

func newCompatFixture(t *testing.T, changes ...func(*plan)) *compatFixture {
	t.Helper()
	tw := &compatFixture{behind: newSandboxService(t, "main", bistro), alone: newSandboxService(t, "main", bistro)}
	for _, one := range []*sandboxService{tw.behind, tw.alone} {
		for _, restaurant := range []string{bistro, second, sandbox.DefaultMenu} {
			putMenu(t, one.base, restaurant)
		}
	}
	all := append([]func(*plan){func(p *plan) {
		p.cfg.Rate, p.unsynced = httpapi.RateConfig{}, true
		p.services = map[string]ordering.Service{"main": tw.behind}
		p.runner = func(deps *menusync.Deps) {
			deps.Connections[0].Source = tw.behind.Client
			chain := deps.Restaurants[1]
			chain.ID = second
			deps.Restaurants = append(deps.Restaurants, chain)
		}
	}}, changes...)
	tw.fixture = newFixture(t, all...)
	for _, id := range []string{bistro, second, "@main", north} {
		tw.syncOnce(id)
	}
	tw.keepReasons()
	tw.shop = tw.as(clientShop)
	token, err := tw.alone.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tw.direct = []string{"Authorization", "Bearer " + token.AccessToken}
	return tw
}

// keepReasons stores the rejection reasons of the ordering service, as a sync does.
func (tw *compatFixture) keepReasons() {
	tw.t.Helper()
	reasons, err := tw.behind.RejectionReasons(tw.t.Context())
	if err != nil {
		tw.t.Fatal(err)
	}
	list, err := json.Marshal(reasons)
	if err != nil {
		tw.t.Fatal(err)
	}
	if err := tw.store.SaveReasons(tw.t.Context(), "main", list); err != nil {
		tw.t.Fatal(err)
	}
}

// putMenu makes the ordering service publish a menu with the name of its restaurant.
func putMenu(t *testing.T, base, restaurant string) {
	t.Helper()
	view := strings.Replace(publishedMenu(), `"Dinner"`, `"`+restaurant+`"`, 1)
	do(t, http.MethodPut, base+"/sandbox/menus/"+restaurant, view).is(t, http.StatusOK)
}

// client is a program that uses the ordering service's interface.
func client(t *testing.T, base, id, secret string) *upstream.Client {
	t.Helper()
	cfg := upstream.Config{
		Name:         "program",
		BaseURL:      base,
		AuthURL:      base,
		ClientID:     id,
		ClientSecret: secret,
	}
	cfg.SetDefaults()
	made, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// both sends the same request to larder and to the ordering service, and checks that the responses
// have the same status, type and meaning. It returns larder's response.
func (tw *compatFixture) both(method, path, body string, headers ...string) reply {
	tw.t.Helper()
	got := do(tw.t, method, tw.url+path, body, append(headers, tw.shop...)...)
	want := do(tw.t, method, tw.alone.base+path, body, append(headers, tw.direct...)...)
	if got.status != want.status || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
		tw.t.Errorf("%s %s: through larder %d %s %s, alone %d %s %s", method, path,
			got.status, got.header.Get("Content-Type"), got.body, want.status, want.header.Get("Content-Type"), want.body)
	}
	if diff := cmp.Diff(meaning(tw.t, want.body), meaning(tw.t, got.body)); diff != "" {
		tw.t.Errorf("%s %s: through larder (+) it is not what the service alone says (-):\n%s", method, path, diff)
	}
	return got
}

// meaning decodes JSON, keeping the digits of numbers, without the requestId of an error.
func meaning(t *testing.T, body []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Errorf("%v in %q", err, body)
	}
	if object, ok := v.(map[string]any); ok && object["requestId"] != nil {
		object["requestId"] = "…"
	}
	return v
}

// step is the result of one call, as a program sees it.
type step struct {
	Name, OrderID, Code, Msg string
	Status                   int
	Body                     any
	Effect                   upstream.Effect
}

// flow makes the calls of a typical storefront program.
func flow(t *testing.T, c *upstream.Client, body func() []byte) []step {
	t.Helper()
	var steps []step
	note := func(name string, answer upstream.Answer, err error) {
		s := step{Name: name, Status: answer.Status, Effect: upstream.EffectDone}
		if len(answer.Body) > 0 {
			s.Body = meaning(t, answer.Body)
		}
		if refused, ok := errors.AsType[*upstream.Error](err); ok {
			s.Status, s.Code, s.Msg, s.Effect, s.Body = refused.Status, refused.Code, refused.Msg, refused.Effect, meaning(t, refused.Body)
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps = append(steps, s)
	}
	create := func(name string) string {
		created, err := c.CreateOrder(t.Context(), body())
		note(name, upstream.Answer{Status: created.Status, Body: created.Body}, err)
		steps[len(steps)-1].OrderID = created.OrderID
		return created.OrderID
	}
	for _, restaurant := range []string{bistro, second, ""} {
		view, err := c.MenuView(t.Context(), restaurant, upstream.Validator{}, 0)
		note("menu of "+restaurant, upstream.Answer{Body: view.Body}, err)
		if again, err := c.MenuView(t.Context(), restaurant, view.Validator, 0); err != nil || !again.NotModified {
			t.Errorf("menu of %q again: not modified %t, %v", restaurant, again.NotModified, err)
		}
	}
	first := create("create")
	change := func(name string, answer upstream.Answer, err error) { t.Helper(); note(name, answer, err) }
	answer, err := c.Complete(t.Context(), first)
	change("complete before it is paid", answer, err)
	answer, err = c.Pay(t.Context(), first, []byte(strings.Replace(payment, "210.40", "1", 1)))
	change("pay too little", answer, err)
	answer, err = c.Pay(t.Context(), first, []byte(payment))
	change("pay", answer, err)
	answer, err = c.Complete(t.Context(), first)
	change("complete", answer, err)
	answer, err = c.Reject(t.Context(), create("create another"), []byte(reject))
	change("reject", answer, err)
	answer, err = c.Complete(t.Context(), "no-such-order")
	change("complete what is not there", answer, err)
	reasons, err := c.RejectionReasons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return append(steps, step{Name: "reasons", Body: reasons})
}

// A program that uses the ordering service's interface only needs another base URL.
func TestAnUnchangedClient(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	body := func() []byte { return []byte(with(`"restaurantID": "bistro"`)) }
	want := flow(t, client(t, tw.alone.base, "demo", secret), body)
	got := flow(t, client(t, tw.url, clientShop, secretOf(clientShop)), body)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("through larder (+) the service looks otherwise (-):\n%s", diff)
	}
	if len(got) != 12 || got[4].Status != http.StatusInternalServerError || got[4].Code != "pos_close_order" || got[5].Code != "ERR_EXTERNAL_ERROR_WS" {
		t.Errorf("the flow is not the one meant: %+v", got)
	}
	if orders := tw.behind.has(); len(orders) != 2 || orders[0].State != "closed" || orders[1].State != "rejected" {
		t.Errorf("the service behind larder has %+v", orders)
	}
}

// posOrder is an order as a client of the ordering service sends it, with the POS's ids: one
// Margherita with garlic, 210.40.
func posOrder() string {
	return fmt.Sprintf(`{"comment": "no bell", "persons": 2, "expeditionType": "pickup", "paymentTypeID": "card", "expectedAt": %q,
 "guest": {"phone": "+351 200 00 00 00", "firstName": "Inês"},
 "address": {"cityName": "Porto", "street": "Rua das Flores", "houseNumber": "7", "fullAddress": "Rua das Flores 7, Porto", "floor": 3},
 "dishList": [{"ID": "e1", "name": "Margherita", "price": 199.9, "quantity": 1, "ingredients": [{"ID": "x1", "name": "Garlic", "price": 10.50, "quantity": 1}]}]}`,
		time.Now().Add(time.Hour).Format(time.RFC3339))
}

// with returns posOrder with one more member.
func with(member string) string { return strings.Replace(posOrder(), "{", "{"+member+", ", 1) }

func TestSameAnswersAsTheService(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	body := posOrder() // the same times for both
	typed := []string{"Content-Type", "application/json"}
	for _, path := range []string{
		viewPath, viewPath + "/", viewPath + "?restaurantId=" + bistro, viewPath + "/?restaurantId=" + second, viewPath + "?restaurantId=",
		causesPath, causesPath + "/",
	} {
		tw.both(http.MethodGet, path, "").is(t, http.StatusOK)
		tw.both(http.MethodGet, path, "{}", typed...).is(t, http.StatusOK)
	}
	place := func(path, member string) {
		t.Helper()
		tw.both(http.MethodPost, path, strings.Replace(body, "{", "{"+member, 1), typed...).is(t, http.StatusCreated)
	}
	place(createPath, "")                                                 // 1001: the connection's default menu
	place(createPath, `"restaurantID": "bistro", `)                       // 1002
	place(createPath+"/", `"restaurantId": "second", `)                   // 1003
	place(createPath, `"restaurantID": null, "soonest": true, "x": [], `) // 1004
	orders := createPath + "/"
	tw.both(http.MethodPut, orders+"1001/complete", "").is(t, http.StatusInternalServerError)
	tw.both(http.MethodPut, orders+"1001/pay", payment, typed...).is(t, http.StatusOK)
	tw.both(http.MethodPut, orders+"1001/complete/", "").is(t, http.StatusOK)
	tw.both(http.MethodPut, orders+"1002/reject", reject, typed...).is(t, http.StatusOK)
	tw.both(http.MethodPut, orders+"1003/pay/", strings.Replace(payment, "210.40", "210.39", 1), typed...).is(t, http.StatusBadRequest)
	tw.both(http.MethodPut, orders+"1003/reject/?restaurantId=bistro", strings.Replace(reject, "{", `{"restaurantID": "bistro", `, 1), typed...).is(t, http.StatusOK)
	tw.both(http.MethodPut, orders+"4711/pay", payment, typed...).is(t, http.StatusNotFound)
	tw.both(http.MethodPut, orders+"4711/complete", "{}", typed...).is(t, http.StatusNotFound)
	tw.both(http.MethodPut, orders+"4711/reject", reject, typed...).is(t, http.StatusNotFound)
	// An order that only the ordering service has is passed through too (policy O9a).
	for _, one := range []*sandboxService{tw.behind, tw.alone} {
		if _, err := one.CreateOrder(t.Context(), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	tw.both(http.MethodPut, orders+"1005/pay", payment, typed...).is(t, http.StatusOK)
	tw.both(http.MethodPut, orders+"1005/complete", "").is(t, http.StatusOK)
	if diff := cmp.Diff(tw.alone.kept(), tw.behind.kept()); diff != "" {
		t.Errorf("the service has another state behind larder (+):\n%s", diff)
	}
}

// kept returns the ordering service's orders without headers. Numbers are compared by value.
func (s *sandboxService) kept() []sandboxOrder {
	s.t.Helper()
	orders := s.has()
	for i := range orders {
		orders[i].Headers, orders[i].Payments = nil, make([]json.RawMessage, len(orders[i].Payments))
	}
	return orders
}

// The restaurant whose menu a request uses (policy O1a).
func TestWithoutARestaurant_O1a(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		ownMenu     bool
		restaurants []string
		query, body string
		status      int
		code        string
		menu        string   // the expected menu, by its name
		known       []string // the ids in the error
	}{
		{name: "the connection's own menu", ownMenu: true, restaurants: []string{bistro, second}, status: 200, menu: "default"},
		{name: "its own although there is one", ownMenu: true, restaurants: []string{bistro}, status: 200, menu: "default"},
		{name: "the only restaurant", restaurants: []string{second}, status: 200, menu: second},
		{name: "one of several", restaurants: []string{bistro, second}, status: 400, code: "restaurant_required", known: []string{bistro, second}},
		{name: "none", status: 404, code: "restaurant_not_found"},
		{name: "named", restaurants: []string{bistro, second}, query: "?RestaurantID=second", body: `"restaurant_id": "second"`, status: 200, menu: second},
		{name: "named, own menu", ownMenu: true, restaurants: []string{bistro, second}, query: "?restaurantid=bistro", body: `"RESTAURANTID": "bistro"`, status: 200, menu: bistro},
		{name: "named empty", restaurants: []string{second}, query: "?restaurantId=", body: `"restaurantID": ""`, status: 200, menu: second},
		{name: "unknown", ownMenu: true, restaurants: []string{bistro}, query: "?restaurantId=nowhere", body: `"restaurantID": "nowhere"`, status: 404, code: "restaurant_not_found"},
		{name: "another connection's", ownMenu: true, restaurants: []string{bistro}, query: "?restaurantId=" + north, body: `"restaurantID": "` + north + `"`, status: 404, code: "restaurant_not_found"},
		{name: "the name of an own menu", ownMenu: true, restaurants: []string{bistro}, query: "?restaurantId=@main", body: `"restaurantID": "@main"`, status: 404, code: "restaurant_not_found", known: []string{bistro}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tw := newCompatFixtureOf(t, test.ownMenu, test.restaurants)
			typed := append([]string{"Content-Type", "application/json"}, tw.shop...)
			view := tw.get(viewPath+test.query, tw.shop...)
			body := posOrder()
			if test.body != "" {
				body = with(test.body)
			}
			made := tw.do(http.MethodPost, createPath, body, typed...)
			if test.code != "" {
				known := knownOf(t, view.refusedCompat(t, test.status, test.code))
				if diff := cmp.Diff(append([]string{}, test.known...), known); diff != "" {
					t.Errorf("the ids listed (+) are not those that follow (-):\n%s", diff)
				}
				made.refusedCompat(t, test.status, test.code)
				return
			}
			var got struct{ Name string }
			view.is(t, test.status).into(t, &got)
			if got.Name != test.menu {
				t.Errorf("the menu of %q, want that of %q", got.Name, test.menu)
			}
			made.is(t, http.StatusCreated)
		})
	}
}

// newCompatFixtureOf returns a fixture with these restaurants on connection main.
func newCompatFixtureOf(t *testing.T, ownMenu bool, restaurants []string) *compatFixture {
	t.Helper()
	tw := &compatFixture{behind: newSandboxService(t, "main", bistro)}
	for _, restaurant := range []string{bistro, second, sandbox.DefaultMenu} {
		putMenu(t, tw.behind.base, restaurant)
	}
	tw.fixture = newFixture(t, func(p *plan) {
		p.unsynced = true
		p.services = map[string]ordering.Service{"main": tw.behind}
		p.runner = func(deps *menusync.Deps) {
			deps.Connections[0].Source, deps.Connections[0].DefaultMenu = tw.behind.Client, ownMenu
			elsewhere, pattern := deps.Restaurants[0], deps.Restaurants[1]
			deps.Restaurants = []menusync.Restaurant{elsewhere}
			for _, id := range restaurants {
				pattern.ID = menu.RestaurantID(id)
				deps.Restaurants = append(deps.Restaurants, pattern)
			}
		}
	})
	if ownMenu {
		tw.syncOnce("@main")
	}
	for _, id := range restaurants {
		tw.syncOnce(id)
	}
	tw.shop = tw.as(clientShop)
	return tw
}
