package demo

import (
	"bytes"
	"cmp"
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

// The keys of the scenario's orders.
const (
	keyPlaced = "demo-placed"
	keyLost   = "demo-lost-answer"
)

// order asks larder to place an order. Where the client asks too often for the
// configuration, it waits for Retry-After.
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

// orderFails is order where the answer must be an error with a status.
func (s *scenario) orderFails(ctx context.Context, order []byte, key string, status int) (*client.Error, error) {
	_, err := s.order(ctx, order, key)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == status {
		return refused, nil
	}
	return nil, fmt.Errorf("the answer should be %d, got: %w", status, err)
}

// receivedOrder is an order as the sandbox keeps it.
type receivedOrder struct {
	OrderID string          `json:"orderID"`
	State   string          `json:"state"`
	Raw     string          `json:"raw"`
	Total   decimal.Decimal `json:"total"`
	Body    struct {
		DishList []json.RawMessage `json:"dishList"`
	} `json:"body"`
}

// atService lists the orders of the ordering service, which must be want.
func (s *scenario) atService(ctx context.Context, want int) ([]receivedOrder, error) {
	received, err := client.Get[[]receivedOrder](ctx, s.sandbox, "/sandbox/orders")
	if err == nil && len(received) != want {
		err = fmt.Errorf("the ordering service has %d orders, want %d", len(received), want)
	}
	return received, err
}

// refused: an order with mistakes is turned away, all of them named, and the
// ordering service gets nothing.
func (s *scenario) refused(ctx context.Context) ([]string, error) {
	refused, err := s.orderFails(ctx, s.bad, "demo-refused", http.StatusUnprocessableEntity)
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("%d %s, %s:", refused.Status, refused.Code, cli.Plural(len(refused.Errors), "violation", "violations"))}
	for _, v := range refused.Errors {
		lines = append(lines, fmt.Sprintf("%s %s: %s", v.Path, v.Code, v.Msg))
	}
	_, err = s.atService(ctx, 0)
	return lines, err
}

// place: a good order, priced by larder, taken by the ordering service.
func (s *scenario) place(ctx context.Context) ([]string, error) {
	answer, err := s.order(ctx, s.good, keyPlaced)
	if err != nil {
		return nil, err
	}
	s.answered = answer.Body
	if err := answer.Result(&s.placed); err != nil || s.placed.OrderID == "" || answer.Status != http.StatusCreated {
		return nil, fmt.Errorf("status %d without an orderID: %s", answer.Status, answer.Body)
	}
	return []string{fmt.Sprintf("orderID %s, total %s, ref %s", s.placed.OrderID, amount(s.placed.Total), s.placed.Ref)}, nil
}

// received: the ordering service has that order, once, at the same price.
func (s *scenario) received(ctx context.Context) ([]string, error) {
	received, err := s.atService(ctx, 1)
	if err != nil {
		return nil, err
	}
	order := received[0]
	total, err := decimal.NewFromString(amount(s.placed.Total))
	switch {
	case order.OrderID != s.placed.OrderID:
		return nil, fmt.Errorf("it has the order %s, not the one that was placed", order.OrderID)
	case err != nil || !total.Equal(order.Total):
		return nil, fmt.Errorf("it computes a total of %s, larder %s", order.Total, amount(s.placed.Total))
	}
	return []string{
		fmt.Sprintf("received order %s (%s), %s, total %s:",
			order.OrderID, order.State, cli.Plural(len(order.Body.DishList), "dish", "dishes"), order.Total),
		strings.TrimSpace(order.Raw),
	}, nil
}

// replayed: the same order with the same key gets the same answer, and the
// ordering service gets nothing.
func (s *scenario) replayed(ctx context.Context) ([]string, error) {
	answer, err := s.order(ctx, s.good, keyPlaced)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(answer.Body, s.answered) || answer.Header.Get("Idempotent-Replayed") != "true" {
		return nil, fmt.Errorf("the same key got another answer: %s", answer.Body)
	}
	reused, err := s.orderFails(ctx, s.bad, keyPlaced, http.StatusUnprocessableEntity)
	if err != nil {
		return nil, err
	}
	_, err = s.atService(ctx, 1)
	return []string{
		fmt.Sprintf("same key, same order: the same %d, byte for byte, replayed", answer.Status),
		fmt.Sprintf("same key, another order: %d %s", reused.Status, reused.Code),
	}, err
}

// lost: the ordering service takes an order and its answer is lost. Larder
// answers that the outcome is unknown, and does not send the order again.
func (s *scenario) lost(ctx context.Context) ([]string, error) {
	const fault = `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,"do":"execute_then_reset"}]`
	if _, err := s.sandbox.Call(ctx, http.MethodPut, "/sandbox/faults", []byte(fault)); err != nil {
		return nil, err
	}
	for range 2 {
		unknown, err := s.orderFails(ctx, s.good, keyLost, http.StatusGatewayTimeout)
		switch {
		case err != nil:
			return nil, err
		case unknown.Ref == "" || s.unknown != "" && s.unknown != unknown.Ref:
			return nil, fmt.Errorf("the same key got the refs %q and %q", s.unknown, unknown.Ref)
		}
		s.unknown = unknown.Ref
	}
	_, err := s.atService(ctx, 2)
	return []string{
		"the ordering service takes the order, its answer is lost: 504 order_outcome_unknown",
		"same key again: 504 again, and nothing is sent; ref " + s.unknown,
	}, err
}

// resolved: an operator asks the restaurant and resolves the order, and the key
// has its answer.
func (s *scenario) resolved(ctx context.Context) ([]string, error) {
	received, err := s.atService(ctx, 2)
	if err != nil {
		return nil, err
	}
	found := received[1].OrderID
	if found == s.placed.OrderID {
		found = received[0].OrderID
	}
	body := fmt.Appendf(nil, `{"operation":"create","outcome":"done","orderID":%q,"note":"the kitchen has it"}`, found)
	if _, err := s.ops.Call(ctx, http.MethodPost, "/v1/ops/orders/"+url.PathEscape(s.unknown)+"/resolve", body); err != nil {
		return nil, err
	}
	answer, err := s.order(ctx, s.good, keyLost)
	if err != nil {
		return nil, err
	}
	var now cli.OrderRecord
	if err := answer.Result(&now); err != nil || now.OrderID != found || now.Ref != s.unknown {
		return nil, fmt.Errorf("resolved as order %s, the key answers %s", found, answer.Body)
	}
	_, err = s.atService(ctx, 2)
	return []string{
		"an operator finds order " + found + " in the kitchen and resolves it: done",
		fmt.Sprintf("same key again: %d, orderID %s", answer.Status, now.OrderID),
	}, err
}

// closed: the order is paid and closed.
func (s *scenario) closed(ctx context.Context) ([]string, error) {
	path := "/v1/orders/" + url.PathEscape(s.placed.OrderID)
	payment := fmt.Appendf(nil, `[{"code":"2c1f8c2e-6f0b-4f7c-9d55-0a4b5d6c7e8f","amount":%s,"paidAt":%q,"name":""}]`,
		amount(s.placed.Total), time.Now().Format(time.RFC3339))
	if _, err := s.daemon.Call(ctx, http.MethodPut, path+"/pay", payment); err != nil {
		return nil, err
	}
	if _, err := s.daemon.Call(ctx, http.MethodPut, path+"/complete", nil); err != nil {
		return nil, err
	}
	order, err := client.Get[cli.OrderRecord](ctx, s.daemon, path)
	if err == nil && (order.State != "closed" || !order.Paid) {
		err = fmt.Errorf("after paying and completing it is %s", order.StateText())
	}
	return []string{fmt.Sprintf("order %s paid %s and completed: %s", order.OrderID, amount(s.placed.Total), order.StateText())}, err
}

// amount is a sum of money as it was sent; "?" for one that is not known.
func amount(n json.Number) string { return cmp.Or(n.String(), "?") }
