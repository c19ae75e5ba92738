package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	menusync "larder.local/sync"
)

const (
	causesPath = "/orders/api/v1/rejectionReasons"

	secret = "demo-secret"
)

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
func both(tw *apitest.CompatFixture, method, path, body string, headers ...string) apitest.Reply {
	tw.T.Helper()
	got := apitest.Do(tw.T, method, tw.URL+path, body, append(headers, tw.Shop...)...)
	want := apitest.Do(tw.T, method, tw.Alone.Base+path, body, append(headers, tw.Direct...)...)
	if got.Status != want.Status || got.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
		tw.T.Errorf("%s %s: through larder %d %s %s, alone %d %s %s", method, path,
			got.Status, got.Header.Get("Content-Type"), got.Body, want.Status, want.Header.Get("Content-Type"), want.Body)
	}
	if diff := cmp.Diff(meaning(tw.T, want.Body), meaning(tw.T, got.Body)); diff != "" {
		tw.T.Errorf("%s %s: through larder (+) it is not what the service alone says (-):\n%s", method, path, diff)
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
		created, err := apitest.Create(t.Context(), c, body())
		note(name, upstream.Answer{Status: created.Status, Body: created.Body}, err)
		steps[len(steps)-1].OrderID = created.OrderID
		return created.OrderID
	}
	for _, restaurant := range []string{apitest.Bistro, apitest.Second, ""} {
		view, err := c.MenuView(t.Context(), restaurant, upstream.Validator{}, 0)
		note("menu of "+restaurant, upstream.Answer{Body: view.Body}, err)
		if again, err := c.MenuView(t.Context(), restaurant, view.Validator, 0); err != nil || !again.NotModified {
			t.Errorf("menu of %q again: not modified %t, %v", restaurant, again.NotModified, err)
		}
	}
	first := create("create")
	change := func(name string, op upstream.Operation, orderID, body string) {
		t.Helper()
		r := upstream.WriteRequest{Operation: op, OrderID: orderID}
		if body != "" {
			r.Body = []byte(body)
		}
		answer, err := c.Write(t.Context(), r)
		note(name, answer, err)
	}
	change("complete before it is paid", upstream.OpComplete, first, "")
	change("pay too little", upstream.OpPay, first, strings.Replace(apitest.Payment, "210.40", "1", 1))
	change("pay", upstream.OpPay, first, apitest.Payment)
	change("complete", upstream.OpComplete, first, "")
	change("reject", upstream.OpReject, create("create another"), apitest.Reject)
	change("complete what is not there", upstream.OpComplete, "no-such-order", "")
	reasons, err := c.RejectionReasons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return append(steps, step{Name: "reasons", Body: reasons})
}

// A program that uses the ordering service's interface only needs another base URL.
func TestAnUnchangedClient(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := func() []byte { return []byte(apitest.POSOrderWith(`"restaurantID": "bistro"`)) }
	want := flow(t, client(t, tw.Alone.Base, "demo", secret), body)
	got := flow(t, client(t, tw.URL, apitest.ClientShop, apitest.Secret(apitest.ClientShop)), body)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("through larder (+) the service looks otherwise (-):\n%s", diff)
	}
	if len(got) != 12 || got[4].Status != http.StatusInternalServerError || got[4].Code != "pos_close_order" || got[5].Code != "ERR_EXTERNAL_ERROR_WS" {
		t.Errorf("the flow is not the one meant: %+v", got)
	}
	if orders := tw.Behind.Orders(); len(orders) != 2 || orders[0].State != "closed" || orders[1].State != "rejected" {
		t.Errorf("the service behind larder has %+v", orders)
	}
}

func TestSameAnswersAsTheService(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	body := apitest.POSOrder() // the same times for both
	typed := []string{"Content-Type", "application/json"}
	for _, path := range []string{
		apitest.ViewPath, apitest.ViewPath + "/", apitest.ViewPath + "?restaurantId=" + apitest.Bistro, apitest.ViewPath + "/?restaurantId=" + apitest.Second, apitest.ViewPath + "?restaurantId=",
		causesPath, causesPath + "/",
	} {
		both(tw, http.MethodGet, path, "").Is(t, http.StatusOK)
		both(tw, http.MethodGet, path, "{}", typed...).Is(t, http.StatusOK)
	}
	place := func(path, member string) {
		t.Helper()
		both(tw, http.MethodPost, path, strings.Replace(body, "{", "{"+member, 1), typed...).Is(t, http.StatusCreated)
	}
	place(apitest.CreatePath, "")                                                 // 1001: the connection's default menu
	place(apitest.CreatePath, `"restaurantID": "bistro", `)                       // 1002
	place(apitest.CreatePath+"/", `"restaurantId": "second", `)                   // 1003
	place(apitest.CreatePath, `"restaurantID": null, "soonest": true, "x": [], `) // 1004
	orders := apitest.CreatePath + "/"
	both(tw, http.MethodPut, orders+"1001/complete", "").Is(t, http.StatusInternalServerError)
	both(tw, http.MethodPut, orders+"1001/pay", apitest.Payment, typed...).Is(t, http.StatusOK)
	both(tw, http.MethodPut, orders+"1001/complete/", "").Is(t, http.StatusOK)
	both(tw, http.MethodPut, orders+"1002/reject", apitest.Reject, typed...).Is(t, http.StatusOK)
	both(tw, http.MethodPut, orders+"1003/pay/", strings.Replace(apitest.Payment, "210.40", "210.39", 1), typed...).Is(t, http.StatusBadRequest)
	both(tw, http.MethodPut, orders+"1003/reject/?restaurantId=bistro", strings.Replace(apitest.Reject, "{", `{"restaurantID": "bistro", `, 1), typed...).Is(t, http.StatusOK)
	both(tw, http.MethodPut, orders+"4711/pay", apitest.Payment, typed...).Is(t, http.StatusNotFound)
	both(tw, http.MethodPut, orders+"4711/complete", "{}", typed...).Is(t, http.StatusNotFound)
	both(tw, http.MethodPut, orders+"4711/reject", apitest.Reject, typed...).Is(t, http.StatusNotFound)
	// An order that only the ordering service has is passed through too (policy O9a).
	for _, one := range []*apitest.Sandbox{tw.Behind, tw.Alone} {
		if _, err := apitest.Create(t.Context(), one.Client, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	both(tw, http.MethodPut, orders+"1005/pay", apitest.Payment, typed...).Is(t, http.StatusOK)
	both(tw, http.MethodPut, orders+"1005/complete", "").Is(t, http.StatusOK)
	if diff := cmp.Diff(keptOrders(tw.Alone), keptOrders(tw.Behind)); diff != "" {
		t.Errorf("the service has another state behind larder (+):\n%s", diff)
	}
}

// keptOrders returns the ordering service's orders without headers. Numbers are compared by value.
func keptOrders(s *apitest.Sandbox) []apitest.SandboxOrder {
	s.T.Helper()
	orders := s.Orders()
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
		{name: "the connection's own menu", ownMenu: true, restaurants: []string{apitest.Bistro, apitest.Second}, status: 200, menu: "default"},
		{name: "its own although there is one", ownMenu: true, restaurants: []string{apitest.Bistro}, status: 200, menu: "default"},
		{name: "the only restaurant", restaurants: []string{apitest.Second}, status: 200, menu: apitest.Second},
		{name: "one of several", restaurants: []string{apitest.Bistro, apitest.Second}, status: 400, code: "restaurant_required", known: []string{apitest.Bistro, apitest.Second}},
		{name: "none", status: 404, code: "restaurant_not_found"},
		{name: "named", restaurants: []string{apitest.Bistro, apitest.Second}, query: "?RestaurantID=second", body: `"restaurant_id": "second"`, status: 200, menu: apitest.Second},
		{name: "named, own menu", ownMenu: true, restaurants: []string{apitest.Bistro, apitest.Second}, query: "?restaurantid=bistro", body: `"RESTAURANTID": "bistro"`, status: 200, menu: apitest.Bistro},
		{name: "named empty", restaurants: []string{apitest.Second}, query: "?restaurantId=", body: `"restaurantID": ""`, status: 200, menu: apitest.Second},
		{name: "unknown", ownMenu: true, restaurants: []string{apitest.Bistro}, query: "?restaurantId=nowhere", body: `"restaurantID": "nowhere"`, status: 404, code: "restaurant_not_found"},
		{name: "another connection's", ownMenu: true, restaurants: []string{apitest.Bistro}, query: "?restaurantId=" + apitest.North, body: `"restaurantID": "` + apitest.North + `"`, status: 404, code: "restaurant_not_found"},
		{name: "the name of an own menu", ownMenu: true, restaurants: []string{apitest.Bistro}, query: "?restaurantId=@main", body: `"restaurantID": "@main"`, status: 404, code: "restaurant_not_found", known: []string{apitest.Bistro}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tw := newCompatFixtureOf(t, test.ownMenu, test.restaurants)
			typed := append([]string{"Content-Type", "application/json"}, tw.Shop...)
			view := tw.Get(apitest.ViewPath+test.query, tw.Shop...)
			body := apitest.POSOrder()
			if test.body != "" {
				body = apitest.POSOrderWith(test.body)
			}
			made := tw.Do(http.MethodPost, apitest.CreatePath, body, typed...)
			if test.code != "" {
				known := knownOf(t, view.RefusedCompat(t, test.status, test.code))
				if diff := cmp.Diff(append([]string{}, test.known...), known); diff != "" {
					t.Errorf("the ids listed (+) are not those that follow (-):\n%s", diff)
				}
				made.RefusedCompat(t, test.status, test.code)
				return
			}
			var got struct{ Name string }
			view.Is(t, test.status).Into(t, &got)
			if got.Name != test.menu {
				t.Errorf("the menu of %q, want that of %q", got.Name, test.menu)
			}
			made.Is(t, http.StatusCreated)
		})
	}
}

// newCompatFixtureOf returns a fixture with these restaurants on connection main.
func newCompatFixtureOf(t *testing.T, ownMenu bool, restaurants []string) *apitest.CompatFixture {
	t.Helper()
	tw := &apitest.CompatFixture{Behind: apitest.NewSandbox(t, "main", apitest.Bistro)}
	for _, restaurant := range []string{apitest.Bistro, apitest.Second, sandbox.DefaultMenu} {
		apitest.PutMenu(t, tw.Behind.Base, restaurant)
	}
	tw.Fixture = apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.Services = map[string]ordering.Service{"main": tw.Behind}
		p.Sync = func(deps *menusync.Deps) {
			deps.Connections[0].Source, deps.Connections[0].DefaultMenu = tw.Behind.Client, ownMenu
			elsewhere, pattern := deps.Restaurants[0], deps.Restaurants[1]
			deps.Restaurants = []menusync.Restaurant{elsewhere}
			for _, id := range restaurants {
				pattern.ID = menu.RestaurantID(id)
				deps.Restaurants = append(deps.Restaurants, pattern)
			}
		}
	})
	if ownMenu {
		tw.SyncOnce("@main")
	}
	for _, id := range restaurants {
		tw.SyncOnce(id)
	}
	tw.Shop = tw.As(apitest.ClientShop)
	return tw
}
