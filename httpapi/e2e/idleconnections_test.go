package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The ordering service closes idle connections at once, under a load of orders that arrive at that
// moment. It gets each order once, and larder has the result of each.
func TestAServiceThatClosesIdleConnections(t *testing.T) {
	t.Parallel()
	const orders, guests, rest = 1008, 24, 10 * time.Millisecond
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	service.SetMenu(apitest.Bistro, []byte(apitest.FullMenu))
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
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.Services["main"] = client })

	var all errgroup.Group
	for guest := range guests {
		dice := rand.New(rand.NewPCG(1, uint64(guest)))
		all.Go(func() error {
			for n := range orders / guests {
				<-time.After(rest*9/10 + time.Duration(dice.Int64N(int64(rest/5)))) //testwaits:allow some connections are closed before the order and some are not; both are right
				headers := append(apitest.Key(fmt.Sprintf("%d-%d", guest, n)), "Content-Type", "application/json")
				got, err := apitest.Request(t, http.MethodPost, k.URL+apitest.OrdersPath, apitest.Order(), append(headers, k.Shop...)...)
				switch {
				case err != nil:
					return err
				case got.Status != http.StatusCreated:
					return fmt.Errorf("order %d of guest %d: %d %s", n, guest, got.Status, got.Body)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	stand := &apitest.Sandbox{T: t, Base: server.URL}
	if got := countsOf(stand, upstream.OpCreate); got != (counted{orders, orders}) {
		t.Errorf("the service was called %d times and took %d orders, want %d", got.Calls, got.Executed, orders)
	}
	wantPlaced(t, k, orders)
}

// wantPlaced checks that the journal has this number of orders, all placed, each with its own
// orderID.
func wantPlaced(t *testing.T, k *apitest.OrderFixture, want int) {
	t.Helper()
	var ids []string
	query := ordering.Query{Connections: []string{"main"}, Limit: 500}
	for {
		page, next, err := k.Journal.List(t.Context(), query)
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
