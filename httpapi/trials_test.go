package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Every example of the API document is what larder answers, in front of a
// whole ordering service.
func TestDocumentExamples(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tryReads()
	b.tryOrders()
	b.tryDesk()
	b.trySync()
	b.tryDropIn()
	for _, item := range b.document.doc.Paths.Map() {
		for _, operation := range item.Operations() {
			var shown []string
			if operation.RequestBody != nil {
				for _, content := range operation.RequestBody.Value.Content {
					for name := range content.Examples {
						shown = append(shown, " request "+name)
					}
				}
			}
			for _, answer := range operation.Responses.Map() {
				for _, content := range answer.Value.Content {
					for name := range content.Examples {
						shown = append(shown, " answer "+name)
					}
				}
			}
			for _, example := range shown {
				if !b.tried[operation.OperationID+example] {
					t.Errorf("nothing tries the example of %s:%s", operation.OperationID, example)
				}
			}
		}
	}
}

func (b *bench) tryReads() {
	for _, one := range []trial{
		{operation: "getToken", example: "storefront", status: http.StatusOK},
		{operation: "getToken", example: "wrongSecret", status: http.StatusUnauthorized},
		{operation: "listRestaurants", example: "bistro", status: http.StatusOK},
		{operation: "getMenu", example: "bistro", status: http.StatusOK},
		{operation: "getMenu", example: "unknown", status: http.StatusNotFound, with: map[string]string{"restaurant": "nowhere"}},
		{operation: "listProducts", example: "fries", status: http.StatusOK},
		{operation: "getProduct", example: "fries", status: http.StatusOK},
		{operation: "getChanges", example: "nothing", status: http.StatusOK},
		{operation: "listRejectionReasons", example: "reasons", status: http.StatusOK},
		{operation: "isAlive", example: "alive", status: http.StatusOK},
		{operation: "isReady", example: "ready", status: http.StatusOK},
	} {
		b.try(one)
	}
}

func (b *bench) tryOrders() {
	shop := "storefront"
	var first, second struct{ OrderID string }
	b.try(trial{operation: "validateOrder", example: "pickup", status: http.StatusOK})
	b.try(trial{operation: "validateOrder", example: "sauceMissing", status: http.StatusOK})
	b.try(trial{operation: "placeOrder", example: "pickup", status: http.StatusCreated, as: shop, after: func(got reply) { got.into(b.t, &first) }})
	b.try(trial{operation: "placeOrder", example: "sauceMissing", status: http.StatusUnprocessableEntity, as: shop, with: map[string]string{"Idempotency-Key": "other"}})
	b.try(trial{operation: "findOrder", example: "placed", status: http.StatusOK, as: shop})
	order := func(id string) map[string]string { return map[string]string{"orderID": id} }
	b.try(trial{operation: "getOrder", example: "placed", status: http.StatusOK, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "payOrder", example: "inFull", status: http.StatusOK, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "completeOrder", example: "closed", status: http.StatusOK, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "placeOrder", example: "delivery", status: http.StatusCreated, as: shop, with: map[string]string{"Idempotency-Key": "third"}, after: func(got reply) { got.into(b.t, &second) }})
	b.try(trial{operation: "rejectOrder", example: "guestLeft", status: http.StatusOK, as: shop, with: order(second.OrderID)})
}

func (b *bench) tryDesk() {
	var lost struct{ Ref string }
	b.try(trial{
		operation: "placeOrder", example: "unknown", status: http.StatusGatewayTimeout, as: "storefront", with: map[string]string{"Idempotency-Key": "lost"},
		before: func() { b.behind.fault(http.MethodPost, `"do":"execute_then_reset"`) },
		after: func(got reply) {
			if err := json.Unmarshal(got.body, &lost); err != nil {
				b.t.Fatal(err)
			}
		},
	})
	b.try(trial{operation: "listOrders", example: "placed", status: http.StatusOK, as: "ops", with: map[string]string{"state": "closed"}})
	b.try(trial{operation: "getOpsOrder", example: "unknown", status: http.StatusOK, as: "ops", with: map[string]string{"ref": lost.Ref}})
	b.try(trial{operation: "resolveOrder", example: "done", status: http.StatusOK, as: "ops", with: map[string]string{"ref": lost.Ref}})
}

func (b *bench) trySync() {
	const ops = "ops"
	var run struct{ ID string }
	var batch struct{ Batch string }
	b.publish("Larder Bistro in spring")
	b.try(trial{operation: "syncRestaurant", example: "forced", status: http.StatusOK, as: ops, after: func(got reply) { got.into(b.t, &run) }})
	b.try(trial{operation: "listRuns", example: "updated", status: http.StatusOK, as: ops})
	b.try(trial{operation: "getRun", example: "updated", status: http.StatusOK, as: ops, with: map[string]string{"run": run.ID}})
	b.try(trial{operation: "lintMenu", example: "findings", status: http.StatusOK, as: ops})
	b.try(trial{operation: "listVersions", example: "two", status: http.StatusOK, as: ops})
	b.try(trial{operation: "getVersionView", example: "bistro", status: http.StatusOK, as: ops})
	b.try(trial{operation: "rollBack", example: "back", status: http.StatusOK, as: ops})
	b.try(trial{operation: "releaseHold", example: "released", status: http.StatusOK, as: ops})
	b.try(trial{operation: "syncAll", example: "all", status: http.StatusAccepted, as: ops, after: func(got reply) { got.into(b.t, &batch) }})
	b.try(trial{operation: "getBatch", example: "batch", status: http.StatusOK, as: ops, with: map[string]string{"batch": batch.Batch}})
}

func (b *bench) tryDropIn() {
	shop := "storefront"
	var first, second struct{ OrderID string }
	b.try(trial{operation: "viewMenu", example: "bistro", status: http.StatusOK, as: shop})
	b.try(trial{operation: "viewRejectionReasons", example: "reasons", status: http.StatusOK, as: shop})
	b.try(trial{operation: "createOrder", example: "pickup", status: http.StatusCreated, as: shop, after: func(got reply) { got.into(b.t, &first) }})
	b.try(trial{operation: "createOrder", example: "sauceMissing", status: http.StatusUnprocessableEntity, as: shop})
	b.try(trial{operation: "createOrder", example: "pickup", status: http.StatusCreated, as: shop, after: func(got reply) { got.into(b.t, &second) }})
	order := func(id string) map[string]string { return map[string]string{"orderID": id} }
	b.try(trial{operation: "completeCreatedOrder", example: "notPaid", status: http.StatusInternalServerError, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "payCreatedOrder", example: "inFull", status: http.StatusOK, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "completeCreatedOrder", example: "closed", status: http.StatusOK, as: shop, with: order(first.OrderID)})
	b.try(trial{operation: "rejectCreatedOrder", example: "guestLeft", status: http.StatusOK, as: shop, with: order(second.OrderID)})
}
