package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
)

// shownElsewhere lists the operations whose responses need no example, with the reason.
var shownElsewhere = map[string]string{
	"getDocumentAsJSON": "the document", "getDocumentAsYAML": "the document", "getDocumentTypes": "types",
	"showDocument": "a page", "getDocsFile": "the page's files",
}

// neverShown lists the codes without an example, with what a response of them would need. Other
// tests cover them.
var neverShown = map[string]string{
	"internal":            "a fault of larder's own",
	"request_timeout":     "a minute's wait for a body",
	"streams_unavailable": "thousands of streams",
}

// Every example of the API document is either a request that is sent or a response of larder in
// front of a complete ordering service. Every operation has examples of its responses.
func TestDocumentExamples(t *testing.T) {
	t.Parallel()
	b := newExampleFixture(t)
	b.tryReads()
	b.tryOrders()
	b.tryDesk()
	b.trySync()
	b.tryVersions()
	b.tryConsole()
	b.tryCompat()
	b.tryRefusals()
	b.tryElsewhere()
	b.tryOtherServices()
	for name, example := range b.document.Doc.Components.Examples {
		if ref := "#/components/examples/" + name; !b.tried[ref] {
			t.Errorf("nothing tries the example %s", name)
			b.took[ref], _ = json.Marshal(example.Value.Value)
		}
	}
	if *update {
		record(t, b.took)
	} else if t.Failed() {
		t.Log("where an answer is meant to be another: go test -tags nomsgpack ./httpapi -run TestDocumentExamples -update, then go generate ./httpapi/openapi && make api-types")
	}
}

// Every operation has an example of its successful response, and every error code has an example.
func TestDocumentHasExamples(t *testing.T) {
	t.Parallel()
	document, err := apicoverage.Document()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, answer := range operation.Responses.Map() {
				if strings.HasPrefix(status, "2") && len(answer.Value.Content) > 0 && examplesOf(answer) == 0 && shownElsewhere[operation.OperationID] == "" {
					t.Errorf("%s %s: no example of the answer %s", method, path, status)
				}
			}
			if body := operation.RequestBody; body != nil && body.Value.Required && body.Value.Content["application/json"] != nil && len(body.Value.Content["application/json"].Examples) == 0 {
				t.Errorf("%s %s: no example of the body", method, path)
			}
		}
	}
	for name, answer := range document.Doc.Components.Responses {
		codes, _ := answer.Value.Extensions["x-codes"].([]any)
		for _, code := range codes {
			code, _ := code.(string)
			for _, content := range answer.Value.Content {
				if content.Examples[code] == nil && neverShown[code] == "" {
					t.Errorf("%s: no example of %s", name, code)
				}
			}
		}
	}
}

func examplesOf(answer *openapi3.ResponseRef) int {
	shown := 0
	for _, content := range answer.Value.Content {
		shown += len(content.Examples)
	}
	return shown
}

func (b *exampleFixture) tryReads() {
	for _, one := range []trial{
		{operation: "getToken", example: "storefront", status: http.StatusOK},
		{operation: "listRestaurants", example: "bistro", status: http.StatusOK},
		{operation: "getRestaurant", example: "bistro", status: http.StatusOK},
		{operation: "getMenu", example: "bistro", status: http.StatusOK},
		{operation: "listProducts", example: "fries", status: http.StatusOK},
		{operation: "getProduct", example: "fries", status: http.StatusOK},
		{operation: "followMenu", example: "first", status: http.StatusOK},
		{operation: "listRejectionReasons", example: "reasons", status: http.StatusOK},
		{operation: "isAlive", example: "alive", status: http.StatusOK},
		{operation: "isReady", example: "ready", status: http.StatusOK},
		{operation: "getMetrics", example: "runs", status: http.StatusOK},
		{operation: "showDocument", status: http.StatusOK},
		{operation: "getTokenMetadata", example: "metadata", status: http.StatusOK},
	} {
		b.try(one)
	}
}

func ofOrder(id string) map[string]string { return map[string]string{"orderID": id} }

func (b *exampleFixture) tryOrders() {
	shop := "storefront"
	var first, second struct{ OrderID string }
	b.try(trial{operation: "validateOrder", example: "pickup", status: http.StatusOK})
	b.try(trial{operation: "validateOrder", example: "sauceMissing", status: http.StatusOK})
	b.try(trial{
		operation: "placeOrder",
		example:   "pickup",
		status:    http.StatusCreated,
		as:        shop,
		after:     func(got apitest.Reply) { got.Into(b.T, &first) },
	})
	b.try(trial{
		operation: "placeOrder",
		example:   "sauceMissing",
		status:    http.StatusUnprocessableEntity,
		as:        shop,
		with:      map[string]string{"Idempotency-Key": "other"},
	})
	b.try(trial{
		operation: "placeOrder",
		example:   "delivery",
		status:    http.StatusUnprocessableEntity,
		as:        shop,
	}) // the key of the first request
	b.try(trial{
		operation: "findOrder",
		example:   "placed",
		status:    http.StatusOK,
		as:        shop,
	})
	b.try(trial{
		operation: "followOrder",
		example:   "placed",
		status:    http.StatusOK,
		as:        shop,
	})
	b.try(trial{
		operation: "getOrder",
		example:   "placed",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "completeOrder",
		status:    http.StatusBadGateway,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "payOrder",
		example:   "inFull",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "completeOrder",
		example:   "closed",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "rejectOrder",
		example:   "guestLeft",
		status:    http.StatusConflict,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "placeOrder",
		example:   "delivery",
		status:    http.StatusCreated,
		as:        shop,
		with:      map[string]string{"Idempotency-Key": "third"},
		after:     func(got apitest.Reply) { got.Into(b.T, &second) },
	})
	b.try(trial{
		operation: "rejectOrder",
		example:   "guestLeft",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(second.OrderID),
	})
}

func (b *exampleFixture) tryDesk() {
	const ops = "ops"
	var lost struct{ Ref string }
	b.try(trial{
		operation: "placeOrder",
		example:   "unknown",
		status:    http.StatusGatewayTimeout,
		as:        "storefront",
		with:      map[string]string{"Idempotency-Key": "lost"},
		before:    func() { b.behind.Fault(http.MethodPost, `"do":"execute_then_reset"`) },
		after: func(got apitest.Reply) {
			if err := json.Unmarshal(got.Body, &lost); err != nil {
				b.T.Fatal(err)
			}
		},
	})
	ref := map[string]string{"ref": lost.Ref}
	b.try(trial{
		operation: "listOrders",
		example:   "closed",
		status:    http.StatusOK,
		as:        ops,
		with:      map[string]string{"state": "closed"},
	})
	b.try(trial{
		operation: "getOpsOrder",
		example:   "unknown",
		status:    http.StatusOK,
		as:        ops,
		with:      ref,
	})
	b.try(trial{
		operation: "resolveOrder",
		example:   "done",
		status:    http.StatusConflict,
		as:        ops,
		with:      ref,
		raw:       new(`{"operation":"create","outcome":"done","orderID":"` + b.behind.Orders()[0].OrderID + `"}`),
	})
	b.try(trial{
		operation: "resolveOrder",
		example:   "done",
		status:    http.StatusOK,
		as:        ops,
		with:      ref,
	})
	b.behind.Fault(http.MethodPost, `"do":"execute_then_reset"`)
	var another struct{ Ref string }
	got := b.Post("/v1/restaurants/"+demoRestaurant+"/orders",
		`{"expeditionType": "pickup", "paymentTypeID": "card", "soonest": true, "dishList": [{"ID": "dish-roast-beef", "quantity": 1}]}`,
		append(apitest.Key("another"), b.tokens["storefront"]...)...)
	if err := json.Unmarshal(got.Body, &another); err != nil || got.Status != http.StatusGatewayTimeout {
		b.T.Fatalf("%v: %s", err, got.Body)
	}
	b.try(trial{
		operation: "resolveOrders",
		example:   "notDone",
		status:    http.StatusOK,
		as:        ops,
		raw:       new(`{"refs":["` + another.Ref + `","` + lost.Ref + `"],"operation":"create","outcome":"not_done"}`),
	})
	b.try(trial{
		operation: "resolveOrders",
		example:   "notDone",
		status:    http.StatusOK,
		as:        ops,
	})
}

func (b *exampleFixture) trySync() {
	const ops = "ops"
	var run struct{ ID string }
	var batch struct{ Batch string }
	b.publish(`"price": 269`, `"price": "249"`) // another price of the bruschetta, and a price that lint reports
	b.try(trial{
		operation: "syncRestaurant",
		example:   "forced",
		status:    http.StatusOK,
		as:        ops,
		after:     func(got apitest.Reply) { got.Into(b.T, &run) },
	})
	b.try(trial{
		operation: "listRuns",
		example:   "updated",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "listChanges",
		example:   "updated",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "getRun",
		example:   "updated",
		status:    http.StatusOK,
		as:        ops,
		with:      map[string]string{"run": run.ID},
	})
	b.try(trial{
		operation: "lintMenu",
		example:   "findings",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "followRuns",
		example:   "reset",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "syncAll",
		example:   "all",
		status:    http.StatusAccepted,
		as:        ops,
		after:     func(got apitest.Reply) { got.Into(b.T, &batch) },
	})
	for done := (struct{ Done int }{}); done.Done == 0; {
		b.Get("/v1/ops/sync/"+batch.Batch, b.tokens[ops]...).Is(b.T, http.StatusOK).Into(b.T, &done)
	}
	b.try(trial{
		operation: "getBatch",
		example:   "batch",
		status:    http.StatusOK,
		as:        ops,
		with:      map[string]string{"batch": batch.Batch},
	})
}

func (b *exampleFixture) tryAvailability() {
	for _, one := range []trial{
		{operation: "pauseOrders", example: "pickup", status: http.StatusOK},
		{operation: "endPause", example: "ended", status: http.StatusOK},
		{operation: "setBusy", example: "party", status: http.StatusOK},
		{operation: "endBusy", example: "ended", status: http.StatusOK},
		{operation: "snoozeItems", example: "fries", status: http.StatusOK},
		{operation: "wakeItem", example: "ended", status: http.StatusOK},
		{operation: "snoozeItems", status: http.StatusUnprocessableEntity, raw: new(`{"ids": ["dish-fries"], "until": "next_open"}`)},
	} {
		one.as = "ops"
		b.try(one)
	}
}

func (b *exampleFixture) tryVersions() {
	const ops = "ops"
	var run apitest.RunRow
	b.try(trial{
		operation: "listVersions",
		example:   "two",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "getVersionView",
		example:   "bistro",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{operation: "getChanges", example: "prices", status: http.StatusOK})
	b.try(trial{
		operation: "compareVersions",
		example:   "prices",
		status:    http.StatusOK,
		as:        ops,
	})
	b.tryAvailability()
	b.tryQuarantined()
	b.try(trial{
		operation: "syncRestaurant",
		example:   "queued",
		status:    http.StatusAccepted,
		as:        ops,
		with:      map[string]string{"wait": ""},
		before: func() {
			b.behind.Faults(`[{"match":{"method":"GET","path":"/orders/api/v1/menu/view*"},"times":1,"do":"latency","delay":"1s"}]`)
		},
		after: func(got apitest.Reply) { got.Into(b.T, &run) },
	})
	for run.State != "running" {
		b.Get("/v1/ops/runs/"+run.ID, b.tokens[ops]...).Is(b.T, http.StatusOK).Into(b.T, &run)
	}
	b.try(trial{
		operation: "rollBack",
		example:   "back",
		status:    http.StatusConflict,
		as:        ops,
		with:      map[string]string{"wait": "1ms"},
	})
	b.try(trial{operation: "syncRestaurant", status: http.StatusOK, as: ops}) // the end of the same run
	b.try(trial{
		operation: "rollBack",
		example:   "back",
		status:    http.StatusOK,
		as:        ops,
	})
}

func (b *exampleFixture) tryQuarantined() {
	const ops = "ops"
	const other = `{"result":{"name":"Other","categories":[],"products":[{"id":"dish-1","name":"Soup","price":5,"isContainInStopList":[]}],` +
		`"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`
	apitest.Do(b.T, http.MethodPut, b.behind.Base+"/sandbox/menus/"+demoRestaurant, other).Is(b.T, http.StatusOK)
	b.Post("/v1/ops/restaurants/"+demoRestaurant+"/sync?wait=30s", "", b.tokens[ops]...).Is(b.T, http.StatusOK)
	b.try(trial{operation: "getQuarantinedView", status: http.StatusOK, as: ops})
	b.try(trial{operation: "compareQuarantined", status: http.StatusOK, as: ops})
	b.try(trial{operation: "lintQuarantined", status: http.StatusOK, as: ops})
	b.publish(`"price": 269`, `"price": "249"`)
	b.Post("/v1/ops/restaurants/"+demoRestaurant+"/sync?wait=30s", "", b.tokens[ops]...).Is(b.T, http.StatusOK)
}

func (b *exampleFixture) tryConsole() {
	const ops = "ops"
	var cookie []string
	b.try(trial{operation: "getSession", example: "nobody", status: http.StatusOK})
	b.try(trial{
		operation: "signIn",
		example:   "ops",
		status:    http.StatusOK,
		after: func(got apitest.Reply) {
			one := got.Cookie(b.T)
			cookie = []string{"Cookie", one.Name + "=" + one.Value}
		},
	})
	b.try(trial{
		operation: "getSession",
		example:   "ops",
		status:    http.StatusOK,
		header:    cookie,
	})
	b.try(trial{
		operation: "getSummary",
		example:   "summary",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "listAuditEntries",
		example:   "rollback",
		status:    http.StatusOK,
		as:        ops,
		with:      map[string]string{"action": "rollback"},
	})
	b.try(trial{
		operation: "listOpsRestaurants",
		example:   "held",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "getOpsRestaurant",
		example:   "held",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{operation: "signOut", status: http.StatusNoContent, header: cookie})
	b.try(trial{
		operation: "releaseHold",
		example:   "released",
		status:    http.StatusOK,
		as:        ops,
	})
	b.try(trial{
		operation: "releaseHold",
		example:   "queued",
		status:    http.StatusAccepted,
		as:        ops,
		with:      map[string]string{"wait": ""},
	})
}

func (b *exampleFixture) tryCompat() {
	shop := "storefront"
	var first, second struct{ OrderID string }
	b.try(trial{
		operation: "viewMenu",
		example:   "bistro",
		status:    http.StatusOK,
		as:        shop,
	})
	b.try(trial{operation: "viewMenu", status: http.StatusUnauthorized})
	b.try(trial{
		operation: "viewMenu",
		status:    http.StatusNotFound,
		as:        shop,
		with:      map[string]string{"restaurantId": "nowhere"},
	})
	b.try(trial{
		operation: "viewRejectionReasons",
		example:   "reasons",
		status:    http.StatusOK,
		as:        shop,
	})
	b.try(trial{
		operation: "createOrder",
		example:   "pickup",
		status:    http.StatusCreated,
		as:        shop,
		after:     func(got apitest.Reply) { got.Into(b.T, &first) },
	})
	b.try(trial{
		operation: "createOrder",
		example:   "sauceMissing",
		status:    http.StatusUnprocessableEntity,
		as:        shop,
	})
	b.try(trial{
		operation: "createOrder",
		example:   "pickup",
		status:    http.StatusCreated,
		as:        shop,
		after:     func(got apitest.Reply) { got.Into(b.T, &second) },
	})
	b.try(trial{
		operation: "completeCreatedOrder",
		status:    http.StatusInternalServerError,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "payCreatedOrder",
		example:   "inFull",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "completeCreatedOrder",
		example:   "closed",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(first.OrderID),
	})
	b.try(trial{
		operation: "rejectCreatedOrder",
		example:   "guestLeft",
		status:    http.StatusOK,
		as:        shop,
		with:      ofOrder(second.OrderID),
	})
}
