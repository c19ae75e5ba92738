package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/cli"
	"larder/internal/client"
	"larder/internal/sleep"
)

// The idempotency keys of the scenario's orders.
const (
	keyPlaced = "demo-placed"
	keyLost   = "demo-lost-answer"
)

// order places an order. At the rate limit it waits for Retry-After and retries.
func (s *scenario) order(ctx context.Context, order []byte, key string) (*client.Reply, error) {
	const most = 5
	for attempt := 1; ; attempt++ {
		answer, err := s.daemon.Call(ctx, http.MethodPost, client.RestaurantPath(s.restaurant)+"/orders", order, "Idempotency-Key", key)
		limited, ok := errors.AsType[*client.Error](err)
		if !ok || limited.Status != http.StatusTooManyRequests || attempt == most {
			return answer, err
		}
		if err := sleep.For(ctx, limited.RetryAfter); err != nil {
			return nil, err
		}
	}
}

// orderFails places an order and returns its error response, which must have the status.
func (s *scenario) orderFails(ctx context.Context, order []byte, key string, status int) *client.Error {
	_, err := s.order(ctx, order, key)
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status != status {
		check(fmt.Errorf("placing the order should fail with status %d: %w", status, err))
	}
	return refused
}

// receivedOrder is an order in the sandbox.
type receivedOrder struct {
	OrderID string          `json:"orderID"`
	State   string          `json:"state"`
	Raw     string          `json:"raw"`
	Total   decimal.Decimal `json:"total"`
	Body    struct {
		DishList []json.RawMessage `json:"dishList"`
	} `json:"body"`
}

// atService returns the orders of the ordering service. Their number must be want.
func (s *scenario) atService(ctx context.Context, want int) []receivedOrder {
	received := must(client.Get[[]receivedOrder](ctx, s.sandbox, "/sandbox/orders"))
	if len(received) != want {
		check(fmt.Errorf("the ordering service has %d orders, want %d", len(received), want))
	}
	return received
}

// refused checks that larder does not send an invalid order, and prints its violations.
func (s *scenario) refused(ctx context.Context) []string {
	refused := s.orderFails(ctx, s.bad, "demo-refused", http.StatusUnprocessableEntity)
	lines := []string{fmt.Sprintf("%d %s, %s:", refused.Status, refused.Code, cli.Plural(len(refused.Errors), "violation", "violations"))}
	for _, v := range refused.Errors {
		lines = append(lines, fmt.Sprintf("%s %s: %s", v.Path, v.Code, v.Msg))
	}
	s.atService(ctx, 0)
	return lines
}

// place places a valid order.
func (s *scenario) place(ctx context.Context) []string {
	answer := must(s.order(ctx, s.good, keyPlaced))
	s.answered = answer.Body
	if err := answer.Result(&s.placed); err != nil || s.placed.OrderID == "" || answer.Status != http.StatusCreated {
		check(fmt.Errorf("status %d without an orderID: %s", answer.Status, answer.Body))
	}
	p := s.placed
	return []string{fmt.Sprintf("orderID %s, total %s, ref %s", p.OrderID, cli.Number(p.Total), p.Ref)}
}

// received checks that the ordering service has this order once, with the same total.
func (s *scenario) received(ctx context.Context) []string {
	order := s.atService(ctx, 1)[0]
	total, err := decimal.NewFromString(cli.Number(s.placed.Total))
	switch {
	case order.OrderID != s.placed.OrderID:
		check(fmt.Errorf("the ordering service has the order %s, not %s", order.OrderID, s.placed.OrderID))
	case err != nil || !total.Equal(order.Total):
		check(fmt.Errorf("the total is %s at the ordering service and %s at larder", order.Total, cli.Number(s.placed.Total)))
	}
	return []string{
		fmt.Sprintf("received order %s (%s), %s, total %s:",
			order.OrderID, order.State, cli.Plural(len(order.Body.DishList), "dish", "dishes"), order.Total),
		strings.TrimSpace(order.Raw),
	}
}

// replayed checks that a repeated order with the same key is replayed and not sent.
func (s *scenario) replayed(ctx context.Context) []string {
	answer := must(s.order(ctx, s.good, keyPlaced))
	if !bytes.Equal(answer.Body, s.answered) || answer.Header.Get("Idempotent-Replayed") != "true" {
		check(fmt.Errorf("the same key got another response: %s", answer.Body))
	}
	reused := s.orderFails(ctx, s.bad, keyPlaced, http.StatusUnprocessableEntity)
	s.atService(ctx, 1)
	return []string{
		fmt.Sprintf("same key, same order: %d with the same body, replayed", answer.Status),
		fmt.Sprintf("same key, another order: %d %s", reused.Status, reused.Code),
	}
}

// lost checks that an order whose response is lost has an unknown outcome and is not sent again.
func (s *scenario) lost(ctx context.Context) []string {
	const fault = `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,"do":"execute_then_reset"}]`
	must(s.sandbox.Call(ctx, http.MethodPut, "/sandbox/faults", []byte(fault)))
	for range 2 {
		unknown := s.orderFails(ctx, s.good, keyLost, http.StatusGatewayTimeout)
		if unknown.Ref == "" || s.unknown != "" && s.unknown != unknown.Ref {
			check(fmt.Errorf("the same key got the refs %q and %q", s.unknown, unknown.Ref))
		}
		s.unknown = unknown.Ref
	}
	s.atService(ctx, 2)
	return []string{
		"the ordering service accepts the order, but its response is lost: 504 order_outcome_unknown",
		"same key again: 504 again, and nothing is sent; ref " + s.unknown,
	}
}

// resolved checks that the key returns the order after an operator has resolved it.
func (s *scenario) resolved(ctx context.Context) []string {
	received := s.atService(ctx, 2)
	found := received[1].OrderID
	if found == s.placed.OrderID {
		found = received[0].OrderID
	}
	body := fmt.Appendf(nil, `{"operation":"create","outcome":"done","orderID":%q,"note":"the kitchen has it"}`, found)
	must(s.ops.Call(ctx, http.MethodPost, "/v1/ops/orders/"+url.PathEscape(s.unknown)+"/resolve", body))
	answer := must(s.order(ctx, s.good, keyLost))
	var now cli.OrderRecord
	if err := answer.Result(&now); err != nil || now.OrderID != found || now.Ref != s.unknown {
		check(fmt.Errorf("the call was resolved as order %s, but its key returns %s", found, answer.Body))
	}
	s.atService(ctx, 2)
	return []string{
		"an operator asks the restaurant, which has order " + found + ", and resolves the call as done",
		fmt.Sprintf("same key again: %d, orderID %s", answer.Status, now.OrderID),
	}
}

// closed pays and completes the order.
func (s *scenario) closed(ctx context.Context) []string {
	path, paid := "/v1/orders/"+url.PathEscape(s.placed.OrderID), cli.Number(s.placed.Total)
	payment := fmt.Appendf(nil, `[{"code":"2c1f8c2e-6f0b-4f7c-9d55-0a4b5d6c7e8f","amount":%s,"paidAt":%q,"name":""}]`,
		paid, time.Now().Format(time.RFC3339))
	must(s.daemon.Call(ctx, http.MethodPut, path+"/pay", payment))
	must(s.daemon.Call(ctx, http.MethodPut, path+"/complete", nil))
	order := must(client.Get[cli.OrderRecord](ctx, s.daemon, path))
	if order.State != "closed" || !order.Paid {
		check(fmt.Errorf("after payment and completion the order is %s", order.StateText()))
	}
	return []string{fmt.Sprintf("order %s paid %s and completed: %s", order.OrderID, paid, order.StateText())}
}
