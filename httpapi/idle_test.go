package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/internal/sandbox"
	"larder/internal/upstream"
	"larder/ordering"
)

// The ordering service closes idle connections at once, under a load of orders that arrive at that
// moment. It gets each order once, and larder has the result of each.
func TestAServiceThatClosesIdleConnections(t *testing.T) {
	t.Parallel()
	const orders, guests, rest = 1008, 24, 10 * time.Millisecond
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	service.SetMenu(bistro, []byte(fullMenu))
	server := httptest.NewUnstartedServer(service.Handler())
	server.Config.IdleTimeout = rest
	server.Start()
	t.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{
		Name:         "main",
		BaseURL:      server.URL,
		AuthURL:      server.URL,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
		Concurrency:  guests,
	}, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	k := newOrderFixture(t, func(p *plan) { p.services["main"] = client })

	var all errgroup.Group
	for guest := range guests {
		dice := rand.New(rand.NewPCG(1, uint64(guest)))
		all.Go(func() error {
			for n := range orders / guests {
				<-time.After(rest*9/10 + time.Duration(dice.Int64N(int64(rest/5)))) //testwaits:allow some connections are closed before the order and some are not; both are right
				headers := append(key(fmt.Sprintf("%d-%d", guest, n)), "Content-Type", "application/json")
				got, err := request(t, http.MethodPost, k.url+ordersPath, order(), append(headers, k.shop...)...)
				switch {
				case err != nil:
					return err
				case got.status != http.StatusCreated:
					return fmt.Errorf("order %d of guest %d: %d %s", n, guest, got.status, got.body)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	stand := &sandboxService{t: t, base: server.URL}
	if got := stand.counts(upstream.OpCreate); got != (counted{orders, orders}) {
		t.Errorf("the service was called %d times and took %d orders, want %d", got.Calls, got.Executed, orders)
	}
	k.wantPlaced(t, orders)
}

// wantPlaced checks that the journal has this number of orders, all placed, each with its own
// orderID.
func (k *orderFixture) wantPlaced(t *testing.T, want int) {
	t.Helper()
	var ids []string
	query := ordering.Query{Connections: []string{"main"}, Limit: 500}
	for {
		page, next, err := k.journal.List(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range page {
			if record.State != ordering.StatePlaced || len(record.Calls) != 1 || len(record.Calls[0].Attempts) != 1 {
				t.Errorf("order %s is %s after %+v, want placed after one try", record.Ref, record.State, record.Calls)
			}
			ids = append(ids, record.OrderID)
		}
		if query.Cursor = next; next == "" {
			break
		}
	}
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != want {
		t.Errorf("the journal has %d orders, want %d", got, want)
	}
}
