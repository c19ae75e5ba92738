package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
)

// separateOrder is an order with a text of its own.
type separateOrder struct {
	said, body string
	headers    []string
}

func separateOrders(guest, n int, headers []string) separateOrder {
	said := strings.TrimSpace(strings.Repeat(fmt.Sprintf("%d-%d ", guest, n), 1+(guest*n*7)%150)) // a comment has at most 1,000 characters
	return separateOrder{
		said:    said,
		body:    strings.Replace(apitest.Order(), "{", fmt.Sprintf(`{"comment": %q, `, said), 1),
		headers: append(append(apitest.Key(fmt.Sprintf("apart-%d-%d", guest, n)), "Content-Type", "application/json"), headers...),
	}
}

// leaveEarly sends the order and leaves before the response.
func (o separateOrder) leaveEarly(t *testing.T, address string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond) //testwaits:allow the client may leave before or after the order is placed
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(o.body))
	if err != nil {
		return err
	}
	for i := 0; i < len(o.headers); i += 2 {
		request.Header.Set(o.headers[i], o.headers[i+1])
	}
	if response, err := apitest.Client(t).Do(request); err == nil {
		_ = response.Body.Close()
	}
	return nil
}

// place sends the order until it is placed, because an order whose client left may be in progress.
func (o separateOrder) place(t *testing.T, address string) (orderID string, err error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		got, err := apitest.Request(t, http.MethodPost, address, o.body, o.headers...)
		if err != nil {
			return "", err
		}
		if got.Status == http.StatusCreated {
			var placed struct{ OrderID string }
			got.Into(t, &placed)
			return placed.OrderID, nil
		}
		if got.Status != http.StatusConflict || time.Now().After(deadline) {
			return "", fmt.Errorf("order %.40q: %d %.300s", o.said, got.Status, got.Body)
		}
	}
}

// isNamed sends a request whose response must contain a text of the order.
func (o separateOrder) isNamed(t *testing.T, address, body, text string) error {
	t.Helper()
	got, err := apitest.Request(t, http.MethodPost, address, body, o.headers...)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf(text, o.said); !strings.Contains(string(got.Body), want) {
		return fmt.Errorf("%s: %d, without %.60s: %.300s", address, got.Status, want, got.Body)
	}
	return nil
}

// TestPlaceKeepsOrdersApart: the ordering service gets each of many concurrent orders once, as its guest sent it. The
// orders differ in text and length, some are invalid, and some clients leave early. Order checks use the same memory.
func TestPlaceKeepsOrdersApart(t *testing.T) {
	t.Parallel()
	const guests, each = 6, 20
	k := apitest.NewOrders(t)
	var placed sync.Map // orderID by comment
	var group errgroup.Group
	for guest := range guests {
		group.Go(func() error {
			for n := range each {
				one, err := separateOrders(guest, n, k.Shop), error(nil)
				switch n % 4 {
				case 0:
					err = one.leaveEarly(t, k.URL+apitest.OrdersPath)
				case 1:
					err = one.isNamed(t, k.URL+apitest.OrdersPath, strings.Replace(one.body, `"p1"`, fmt.Sprintf("%q", one.said), 1), `"params":{"id":%q}`)
				case 2:
					err = one.isNamed(t, k.URL+apitest.ValidatePath, one.body, `"comment":%q,`)
				}
				if err != nil {
					return err
				}
				orderID, err := one.place(t, k.URL+apitest.OrdersPath)
				if err != nil {
					return err
				}
				placed.Store(one.said, orderID)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	orders := k.Main.Orders()
	if len(orders) != guests*each {
		t.Errorf("the service has %d orders, want %d", len(orders), guests*each)
	}
	for _, one := range orders {
		if id, _ := placed.LoadAndDelete(one.Body.Comment); id != one.OrderID {
			t.Errorf("the service has %.40q as order %s, its guest has %v", one.Body.Comment, one.OrderID, id)
		}
	}
}
