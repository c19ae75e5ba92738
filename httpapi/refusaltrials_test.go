package httpapi_test

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/internal/upstream"
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
	open := b.behind.shut()
	var group errgroup.Group
	path, body := "/v1/restaurants/"+demoRestaurant+"/orders", b.example("PickupOrder")
	send := func(method, path, key, body string) {
		group.Go(func() error {
			_, err := request(b.t, method, b.url+path, body, append([]string{"Content-Type", "application/json", "Idempotency-Key", key}, b.tokens[shop]...)...)
			return err
		})
		select {
		case <-b.behind.arrived:
		case <-time.After(feedLimit):
			b.t.Fatalf("%s %s never came to the ordering service", method, path)
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
		b.t.Fatal(err)
	}
	b.try(trial{
		operation: "placeOrder",
		example:   "pickup",
		status:    http.StatusCreated,
		as:        shop,
		with:      key,
		after:     func(got reply) { got.into(b.t, &slow) },
	})
	open = b.behind.shut()
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
		b.t.Fatal(err)
	}
	b.behind.fault("complete", `"do":"execute_then_reset"`)
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
	rough := newFixture(b.t)
	for _, client := range []string{clientShop, clientOps} {
		b.tokens[client] = rough.as(client)
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
		with:      of(empty),
	})
	b.try(trial{
		on:        rough,
		operation: "getProduct",
		status:    http.StatusConflict,
		with:      map[string]string{"restaurant": bistro, "by": "externalId", "id": "twin"},
	})
	rough.service.answerCreate(func([]byte) (upstream.Created, error) {
		return upstream.Created{OrderID: "765", Answer: upstream.Answer{Status: http.StatusCreated}}, nil
	})
	for _, restaurant := range []string{bistro, north} { // whose ordering services use the same order ids
		rough.post("/v1/restaurants/"+restaurant+"/orders", order(), append([]string{"Idempotency-Key", restaurant}, b.tokens[clientOps]...)...).is(b.t, http.StatusCreated)
	}
	rough.service.answerCreate(nil)
	b.try(trial{
		on:        rough,
		operation: "getOrder",
		status:    http.StatusBadRequest,
		as:        clientOps,
		with:      map[string]string{"orderID": "765", "connection": ""},
	})
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      of(bistro),
		raw:       new(order()),
		before: func() {
			rough.service.answerCreate(func([]byte) (upstream.Created, error) {
				return upstream.Created{}, &upstream.Error{Operation: "create", Effect: upstream.EffectNone, Err: errors.New("refused")}
			})
		},
	})
	rough.service.setBusy(true)
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      map[string]string{"restaurant": bistro, "Idempotency-Key": "busy"},
		raw:       new(order()),
	})
	rough.service.setBusy(false)
	for range 5 {
		rough.post(sessionPath, signInBody(clientOps, "guessed")).is(b.t, http.StatusUnauthorized)
	}
	b.try(trial{
		on:        rough,
		operation: "signIn",
		example:   "ops",
		status:    http.StatusTooManyRequests,
	})
	if err := rough.redis.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.try(trial{
		on:        rough,
		operation: "listRuns",
		status:    http.StatusServiceUnavailable,
		as:        clientOps,
	})
	b.try(trial{
		on:        rough,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      map[string]string{"restaurant": bistro, "Idempotency-Key": "late"},
		raw:       new(order()),
	})

	paused := newFixture(b.t, func(p *plan) { p.ordering.AllowNonDurable, p.ordering.AcceptRestore = true, new(false) })
	for _, client := range []string{clientShop, clientOps} {
		b.tokens[client] = paused.as(client)
	}
	late := map[string]string{"restaurant": bistro, "Idempotency-Key": "after the restore"}
	b.try(trial{
		on:        paused,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      late,
		raw:       new(order()),
		before: func() {
			paused.post("/v1/restaurants/"+bistro+"/orders", order(), append([]string{"Idempotency-Key", "before"}, b.tokens[clientShop]...)...).is(b.t, http.StatusCreated)
			paused.restore(b.t)
		},
	})
	b.try(trial{
		on:        paused,
		operation: "acceptJournal",
		example:   "accepted",
		status:    http.StatusOK,
		as:        clientOps,
		with:      map[string]string{"connection": "main"},
	})
	paused.post("/v1/restaurants/"+bistro+"/orders", order(), append([]string{"Idempotency-Key", "after the restore"}, b.tokens[clientShop]...)...).is(b.t, http.StatusCreated)
	b.try(trial{
		on:        paused,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      map[string]string{"restaurant": bistro, "Idempotency-Key": "of another version"},
		raw:       new(order()),
		before:    func() { paused.otherFormat(b.t, "main") },
	})

	bare := newFixture(b.t, func(p *plan) { p.unsynced = true })
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
	moved := newFixture(b.t, func(p *plan) { p.sources = sources })
	b.tokens[clientShop] = moved.as(clientShop)
	var placed struct{ OrderID string }
	moved.post("/v1/restaurants/"+bistro+"/orders", order(), append([]string{"Idempotency-Key", "old"}, b.tokens[clientShop]...)...).
		is(b.t, http.StatusCreated).into(b.t, &placed)
	sources.Set(of("https://new.example"))
	b.try(trial{
		on:        moved,
		operation: "payOrder",
		example:   "inFull",
		status:    http.StatusConflict,
		as:        clientShop,
		with:      ofOrder(placed.OrderID),
	})
	b.try(trial{
		on:        moved,
		operation: "placeOrder",
		status:    http.StatusServiceUnavailable,
		as:        clientShop,
		with:      map[string]string{"restaurant": bistro, "Idempotency-Key": "new"},
		raw:       new(order()),
	})
}

// example returns an example body of the document.
func (b *exampleFixture) example(name string) string {
	return quoted(b.document.doc.Components.Examples[name].Value.Value)
}
