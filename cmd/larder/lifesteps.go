package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"larder/internal/sleep"
)

// The steps of the walk that show what becomes of an order after it was
// placed, and when an answer is lost.

const (
	keyPlaced = "demo-placed"
	keyLost   = "demo-lost-answer"
)

// order asks larder to place an order. Where the client asks too often for the
// configuration, it waits as it is told to.
func (k *walk) order(ctx context.Context, order []byte, key string) (*reply, error) {
	const most = 5
	for try := 1; ; try++ {
		answer, err := k.daemon.call(ctx, http.MethodPost, k.ordersPath(), order, "Idempotency-Key", key)
		limited, ok := errors.AsType[*apiError](err)
		if !ok || limited.Status != http.StatusTooManyRequests || try == most {
			return answer, err
		}
		if err := sleep.For(ctx, limited.retryAfter); err != nil {
			return nil, err
		}
	}
}

// again: the same order under the same key gets the same answer, and the
// kitchen gets nothing.
func (k *walk) again(ctx context.Context) ([]string, error) {
	answer, err := k.order(ctx, k.good, keyPlaced)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(answer.body, k.answered) || answer.header.Get("Idempotent-Replayed") != "true" {
		return nil, fmt.Errorf("the same key got another answer: %s", answer.body)
	}
	_, err = k.order(ctx, k.bad, keyPlaced)
	reused, ok := errors.AsType[*apiError](err)
	if !ok || reused.Status != http.StatusUnprocessableEntity {
		return nil, fmt.Errorf("another order under the key should be answered 422, got: %w", err)
	}
	if err := k.has(ctx, 1); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("same key, same order: the same %d, byte for byte, replayed", answer.status),
		fmt.Sprintf("same key, another order: %d %s", reused.Status, reused.Code),
	}, nil
}

// has tells whether the ordering service has so many orders.
func (k *walk) has(ctx context.Context, want int) error {
	received, err := k.receivedOrders(ctx)
	if err == nil && len(received) != want {
		err = fmt.Errorf("the ordering service has %d orders, want %d", len(received), want)
	}
	return err
}

// lost: the ordering service takes an order and its answer is lost. Larder
// says that it does not know, and does not send the order again.
func (k *walk) lost(ctx context.Context) ([]string, error) {
	const fault = `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,"do":"execute_then_reset"}]`
	if _, err := k.kitchen.call(ctx, http.MethodPut, "/sandbox/faults", []byte(fault)); err != nil {
		return nil, err
	}
	var refs []string
	for range 2 {
		unknown, err := k.placeLost(ctx)
		if err != nil {
			return nil, err
		}
		refs = append(refs, unknown.Ref)
	}
	if refs[0] != refs[1] || refs[0] == "" {
		return nil, fmt.Errorf("the same key got the refs %q", refs)
	}
	k.unknown = refs[0]
	if err := k.has(ctx, 2); err != nil {
		return nil, err
	}
	return []string{
		"the ordering service takes the order, its answer is lost: 504 order_outcome_unknown",
		"same key again: 504 again, and nothing is sent; ref " + k.unknown,
	}, nil
}

// placeLost sends the order whose answer is lost; the answer must be 504.
func (k *walk) placeLost(ctx context.Context) (*apiError, error) {
	_, err := k.order(ctx, k.good, keyLost)
	unknown, ok := errors.AsType[*apiError](err)
	if !ok || unknown.Status != http.StatusGatewayTimeout {
		return nil, fmt.Errorf("a lost answer should be answered 504, got: %w", err)
	}
	return unknown, nil
}

// settled: an operator asks the kitchen, settles the k.good, and the key has
// its answer.
func (k *walk) settled(ctx context.Context) ([]string, error) {
	received, err := k.receivedOrders(ctx)
	if err != nil {
		return nil, err
	}
	found := received[len(received)-1].OrderID
	if found == k.placed.OrderID {
		found = received[0].OrderID
	}
	body := fmt.Appendf(nil, `{"operation":"create","outcome":"done","orderID":%q,"note":"the kitchen has it"}`, found)
	if _, err := k.ops.call(ctx, http.MethodPost, "/v1/ops/orders/"+url.PathEscape(k.unknown)+"/resolve", body); err != nil {
		return nil, err
	}
	answer, err := k.order(ctx, k.good, keyLost)
	if err != nil {
		return nil, err
	}
	var now placed
	if err := answer.result(&now); err != nil {
		return nil, err
	}
	if now.OrderID != found || now.Ref != k.unknown {
		return nil, fmt.Errorf("settled as order %s, the key answers %s", found, answer.body)
	}
	return []string{
		"an operator finds order " + found + " in the kitchen and settles: done",
		fmt.Sprintf("same key again: %d, orderID %s", answer.status, now.OrderID),
	}, k.has(ctx, 2)
}

// closed: the order is paid and closed.
func (k *walk) closed(ctx context.Context) ([]string, error) {
	path := "/v1/orders/" + url.PathEscape(k.placed.OrderID)
	payment := fmt.Appendf(nil, `[{"code":"2c1f8c2e-6f0b-4f7c-9d55-0a4b5d6c7e8f","amount":%s,"paidAt":%q,"name":""}]`,
		number(k.placed.Total), time.Now().Format(time.RFC3339))
	if _, err := k.daemon.call(ctx, http.MethodPut, path+"/pay", payment); err != nil {
		return nil, err
	}
	if _, err := k.daemon.call(ctx, http.MethodPut, path+"/complete", nil); err != nil {
		return nil, err
	}
	order, err := resultOf[orderRecord](ctx, k.daemon, path)
	if err != nil {
		return nil, err
	}
	if order.State != "closed" || !order.Paid {
		return nil, fmt.Errorf("after paying and completing it is %s", order.state())
	}
	return []string{fmt.Sprintf("order %s paid %s and completed: %s", order.OrderID, number(k.placed.Total), order.state())}, nil
}
