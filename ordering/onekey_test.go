package ordering_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// A hundred clients send the same request concurrently to several instances. The service
// gets it once, and all clients get the same response (policy O7).
func TestOneKey_O7(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, 4)
	d.control(t, http.MethodPut, "/sandbox/faults", `[{"match":{"path":"/orders/*"},"do":"latency","delay":"20ms"}]`)
	body := simOrder("one-key", 1)
	placed := d.hundred(t, "place", func(orders *ordering.Orders, client int) (ordering.Result, error) {
		request := newPlaceRequest("one-key", body)
		request.RequestID = fmt.Sprint("request-", client)
		return place(t.Context(), orders, request)
	})
	orderID := placed.Record.OrderID
	if placed.Call.Outcome != ordering.OutcomeDone || orderID == "" {
		t.Fatalf("the order is %s %q, want it placed", placed.Call.Outcome, orderID)
	}
	for _, op := range []ordering.Operation{upstream.OpPay, upstream.OpComplete} {
		key := ""
		if op == upstream.OpPay {
			key = "one-payment"
		}
		d.hundred(t, string(op), func(orders *ordering.Orders, client int) (ordering.Result, error) {
			return orders.Change(t.Context(), ordering.ChangeRequest{
				Operation:  op,
				OrderID:    orderID,
				Connection: "main",
				Client:     "storefront",
				Key:        key,
				RequestID:  fmt.Sprint("request-", client),
				Input: validate.Input{
					Body: []byte(`[{"code":"c","amount":199.9,"paidAt":"2030-01-01T00:00:00Z","name":""}]`),
					V1:   true, FieldCase: upstream.FieldCaseDocument,
				},
			})
		})
	}
	orders := shownOrders(t, d.control(t, http.MethodGet, "/sandbox/orders", ""))
	if len(orders) != 1 || orders[0].OrderID != orderID || !orders[0].Paid || len(orders[0].Payments) != 1 || orders[0].State != "closed" {
		t.Errorf("the service has %d orders, the first %+v; want one, %s, paid once and closed", len(orders), orders[0], orderID)
	}
}

// hundred makes a hundred clients send a request concurrently. Each retries while the first
// one is in progress. hundred returns the result, which must be the same for all clients. It
// checks that the service was called once.
func (d *deployment) hundred(t *testing.T, what string, ask func(orders *ordering.Orders, client int) (ordering.Result, error)) ordering.Result {
	t.Helper()
	const clients = 100
	d.control(t, http.MethodDelete, "/sandbox/counters", "")
	results := make([]ordering.Result, clients)
	errs := make([]error, clients)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			<-start
			for patience := time.Now().Add(20 * time.Second); ; {
				results[i], errs[i] = ask(d.replicas[i%len(d.replicas)].Orders, i)
				var flight *ordering.InFlightError
				if !errors.As(errs[i], &flight) || time.Now().After(patience) {
					return
				}
			}
		})
	}
	close(start)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	made := 0
	for _, result := range results {
		if !result.Replayed {
			made++
		}
		if diff := cmp.Diff(results[0].Call, result.Call); diff != "" || result.Record.Ref != results[0].Record.Ref {
			t.Fatalf("%s: results with %s and %s:\n%s", what, results[0].Record.Ref, result.Record.Ref, diff)
		}
	}
	if made != 1 {
		t.Errorf("%s: %d of the results are not replays, want 1", what, made)
	}
	if calls := d.calls(t); calls != 1 {
		t.Errorf("%s: the service was called %d times, want once", what, calls)
	}
	return results[0]
}
