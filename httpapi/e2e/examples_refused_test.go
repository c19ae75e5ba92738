package e2e_test

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
)

// tryRefusals sends the requests that clients of the demo get rejected.
func (b *exampleFixture) tryRefusals() {
	shop, ops := "storefront", "ops"
	nowhere := func(name string) map[string]string { return map[string]string{name: "nowhere"} }
	for _, one := range []trial{
		{operation: "getToken", example: "wrongSecret", status: http.StatusUnauthorized},
		{operation: "getToken", status: http.StatusBadRequest, raw: new("client_ID=storefront&client_secret=storefront-secret&grant_type=password")},
		{operation: "getMenu", status: http.StatusNotFound, with: nowhere("restaurant")},
		{operation: "getMenu", status: http.StatusNotAcceptable, with: map[string]string{"Accept-Encoding": "identity;q=0"}},
		{operation: "listProducts", status: http.StatusBadRequest, with: map[string]string{"limit": "none"}},
		{operation: "getProduct", status: http.StatusNotFound, with: nowhere("id")},
		{operation: "getChanges", status: http.StatusGone, with: map[string]string{"since": "1000"}},
		{operation: "followMenu", status: http.StatusBadRequest, with: map[string]string{"restaurant": ""}},
		{operation: "getDocsFile", status: http.StatusNotFound, with: map[string]string{"file": "none.js"}},
		{operation: "validateOrder", status: http.StatusBadRequest, raw: new(`{"dishList": [`)},
		{operation: "validateOrder", example: "pickup", status: http.StatusUnsupportedMediaType, header: []string{"Content-Type", "text/plain"}},
		{operation: "validateOrder", status: http.StatusRequestEntityTooLarge, raw: new(strings.Repeat(" ", 300<<10))},
		{operation: "placeOrder", example: "pickup", status: http.StatusBadRequest, as: shop, with: map[string]string{"Idempotency-Key": ""}},
		{operation: "getOrder", status: http.StatusUnauthorized, with: ofOrder("1")},
		{operation: "getOrder", status: http.StatusNotFound, as: shop, with: ofOrder("none")},
		{operation: "listRejectionReasons", status: http.StatusNotFound, with: nowhere("connection")},
		{operation: "listRuns", status: http.StatusForbidden, as: shop},
		{operation: "getRun", status: http.StatusNotFound, as: ops, with: nowhere("run")},
		{operation: "getBatch", status: http.StatusNotFound, as: ops, with: nowhere("batch")},
		{operation: "getVersionView", status: http.StatusNotFound, as: ops, with: map[string]string{"version": "1000"}},
		{operation: "createOrder", status: http.StatusBadRequest, as: shop, raw: new(`{"dishList": [`)},
	} {
		b.try(one)
	}
	b.tryBusy()
}

// tryBusy sends requests that are rejected while another request is in progress, and after a
// request with an unknown outcome.
func (b *exampleFixture) tryBusy() {
	shop := "storefront"
	key := map[string]string{"Idempotency-Key": "slow"}
	var slow struct{ OrderID string }
	open := b.behind.Shut()
	var group errgroup.Group
	path, body := "/v1/restaurants/"+demoRestaurant+"/orders", b.example("PickupOrder")
	send := func(method, path, key, body string) {
		group.Go(func() error {
			_, err := apitest.Request(b.T, method, b.URL+path, body, append([]string{"Content-Type", "application/json", "Idempotency-Key", key}, b.tokens[shop]...)...)
			return err
		})
		select {
		case <-b.behind.Arrived:
		case <-time.After(apitest.StreamLimit):
			b.T.Fatalf("%s %s never came to the ordering service", method, path)
		}
	}
	send(http.MethodPost, path, "slow", body)
	b.try(trial{
		operation: "placeOrder",
		example:   "pickup",
		status:    http.StatusConflict,
		as:        shop,
		with:      key,
	})
	open()
	if err := group.Wait(); err != nil {
		b.T.Fatal(err)
	}
	b.try(trial{
		operation: "placeOrder",
		example:   "pickup",
		status:    http.StatusCreated,
		as:        shop,
		with:      key,
		after:     func(got apitest.Reply) { got.Into(b.T, &slow) },
	})
	open = b.behind.Shut()
	send(http.MethodPut, "/v1/orders/"+slow.OrderID+"/pay", "slow payment", b.example("InFull"))
	b.try(trial{
		operation: "rejectOrder",
		example:   "guestLeft",
		status:    http.StatusConflict,
		as:        shop,
		with:      ofOrder(slow.OrderID),
	})
	open()
	if err := group.Wait(); err != nil {
		b.T.Fatal(err)
	}
	b.behind.Fault("complete", `"do":"execute_then_reset"`)
	b.try(trial{
		operation: "completeOrder",
		status:    http.StatusGatewayTimeout,
		as:        shop,
		with:      ofOrder(slow.OrderID),
	})
	b.try(trial{
		operation: "rejectOrder",
		example:   "guestLeft",
		status:    http.StatusConflict,
		as:        shop,
		with:      ofOrder(slow.OrderID),
	})
}

// tryElsewhere sends rejected requests to other instances: with two connections, with limits, and
// without Redis.
func (b *exampleFixture) tryElsewhere() {
	rough := apitest.New(b.T)
	for _, client := range []string{apitest.ClientShop, apitest.ClientOps} {
		b.tokens[client] = rough.As(client)
	}
	of := func(restaurant string) map[string]string { return map[string]string{"restaurant": restaurant} }
	b.try(trial{
		on:        rough,
		operation: "listRejectionReasons",
		status:    http.StatusBadRequest,
		with:      map[string]string{"connection": ""},
	})
	b.try(trial{on: rough, operation: "listRejectionReasons", status: http.StatusServiceUnavailable})
	b.try(trial{
		on:        rough,
		operation: "getMenu",
		status:    http.StatusServiceUnavailable,
		with:      of(apitest.Empty),
	})
	b.try(trial{
		on:        rough,
		operation: "getProduct",
		status:    http.StatusConflict,
		with:      map[string]string{"restaurant": apitest.Bistro, "by": "externalId", "id": "twin"},
	})
	rough.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		return upstream.Answer{OrderID: "765", Status: http.StatusCreated}, nil
	})
	for _, restaurant := range []string{apitest.Bistro, apitest.North} { // whose ordering services use the same order ids
		rough.Post("/v1/restaurants/"+restaurant+"/orders", apitest.Order(), append([]string{"Idempotency-Key", restaurant}, b.tokens[apitest.ClientOps]...)...).Is(b.T, http.StatusCreated)
	}
	rough.Service.AnswerCreate(nil)
	b.try(trial{
		on:        rough,
		operation: "getOrder",
		status:    http.StatusBadRequest,
		as:        apitest.ClientOps,
		with:      map[string]string{"orderID": "765", "connection": ""},
	})
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      of(apitest.Bistro),
		raw:       new(apitest.Order()),
		before: func() {
			rough.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
				return upstream.Answer{}, &upstream.Error{Operation: "create", Effect: upstream.EffectNone, Err: errors.New("refused")}
			})
		},
	})
	rough.Service.SetBusy(true)
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      map[string]string{"restaurant": apitest.Bistro, "Idempotency-Key": "busy"},
		raw:       new(apitest.Order()),
	})
	rough.Service.SetBusy(false)
	for range 5 {
		rough.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, "guessed")).Is(b.T, http.StatusUnauthorized)
	}
	b.try(trial{
		on:        rough,
		operation: "signIn",
		example:   "ops",
		status:    http.StatusTooManyRequests,
	})
	if err := rough.Redis.Close(); err != nil {
		b.T.Fatal(err)
	}
	b.try(trial{
		on:        rough,
		operation: "listRuns",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientOps,
	})
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      map[string]string{"restaurant": apitest.Bistro, "Idempotency-Key": "late"},
		raw:       new(apitest.Order()),
	})

	paused := apitest.New(b.T, func(p *apitest.Plan) { p.Ordering.AllowNonDurable, p.Ordering.AcceptRestore = true, new(false) })
	for _, client := range []string{apitest.ClientShop, apitest.ClientOps} {
		b.tokens[client] = paused.As(client)
	}
	late := map[string]string{"restaurant": apitest.Bistro, "Idempotency-Key": "after the restore"}
	b.try(trial{
		on:        paused,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      late,
		raw:       new(apitest.Order()),
		before: func() {
			paused.Post("/v1/restaurants/"+apitest.Bistro+"/orders", apitest.Order(), append([]string{"Idempotency-Key", "before"}, b.tokens[apitest.ClientShop]...)...).Is(b.T, http.StatusCreated)
			paused.RestoreRedis(b.T)
		},
	})
	b.try(trial{
		on:        paused,
		operation: "acceptJournal",
		example:   "accepted",
		status:    http.StatusOK,
		as:        apitest.ClientOps,
		with:      map[string]string{"connection": "main"},
	})
	paused.Post("/v1/restaurants/"+apitest.Bistro+"/orders", apitest.Order(), append([]string{"Idempotency-Key", "after the restore"}, b.tokens[apitest.ClientShop]...)...).Is(b.T, http.StatusCreated)
	b.try(trial{
		on:        paused,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      map[string]string{"restaurant": apitest.Bistro, "Idempotency-Key": "of another version"},
		raw:       new(apitest.Order()),
		before:    func() { paused.OtherFormat(b.T, "main") },
	})

	bare := apitest.New(b.T, func(p *apitest.Plan) { p.Unsynced = true })
	b.try(trial{
		on:        bare,
		operation: "isReady",
		example:   "unready",
		status:    http.StatusServiceUnavailable,
	})
}

// tryOtherServices sends requests to an instance whose connection has another ordering service now.
func (b *exampleFixture) tryOtherServices() {
	of := func(address string) []upstream.Config {
		return []upstream.Config{{Name: "main", BaseURL: address, ClientID: "my-client"}, {Name: "north", BaseURL: address}}
	}
	sources := upstream.NewSources(of("https://old.example"))
	moved := apitest.New(b.T, func(p *apitest.Plan) { p.Sources = sources })
	b.tokens[apitest.ClientShop] = moved.As(apitest.ClientShop)
	var placed struct{ OrderID string }
	moved.Post("/v1/restaurants/"+apitest.Bistro+"/orders", apitest.Order(), append([]string{"Idempotency-Key", "old"}, b.tokens[apitest.ClientShop]...)...).
		Is(b.T, http.StatusCreated).Into(b.T, &placed)
	sources.Set(of("https://new.example"))
	b.try(trial{
		on:        moved,
		operation: "payOrder",
		example:   "inFull",
		status:    http.StatusConflict,
		as:        apitest.ClientShop,
		with:      ofOrder(placed.OrderID),
	})
	b.try(trial{
		on:        moved,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        apitest.ClientShop,
		with:      map[string]string{"restaurant": apitest.Bistro, "Idempotency-Key": "new"},
		raw:       new(apitest.Order()),
	})
}

// example returns an example body of the document.
func (b *exampleFixture) example(name string) string {
	return quoted(b.document.Doc.Components.Examples[name].Value.Value)
}
