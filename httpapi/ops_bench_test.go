package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
)

// BenchmarkConsole measures the requests of the console's list with 10,000 restaurants and a real
// Redis, without the network between browser and larder.
func BenchmarkConsole(b *testing.B) {
	const restaurants = 10_000
	w := newFixtureFor(b, func(p *apitest.Plan) {
		p.Redis.URL, p.Unsynced = redistest.Start(b).URL(), true
		p.Sync = func(deps *menusync.Deps) {
			deps.Restaurants = make([]menusync.Restaurant, restaurants)
			for i := range deps.Restaurants {
				deps.Restaurants[i] = menusync.Restaurant{
					Restaurant: directory.Restaurant{
						ID:   menu.RestaurantID(fmt.Sprintf("%08d-c0c4-42ca-a269-64f031a6a33b", (i*7919)%restaurants)),
						Name: fmt.Sprintf("Trattoria Überall %d", i), Connection: "main",
					},
					Settings: menu.DefaultSettings(), Schedule: "@every 5m",
				}
			}
		}
	})
	all := w.Directory.Menus()
	for _, id := range all {
		w.Service.SetMenu(string(id), apitest.FullMenu)
	}
	var syncing errgroup.Group
	syncing.SetLimit(8)
	for _, id := range all[:restaurants*99/100] {
		syncing.Go(func() error {
			_, err := apitest.SyncOnce(b.Context(), w.Runner, id)
			return err
		})
	}
	if err := syncing.Wait(); err != nil {
		b.Fatal(err)
	}
	following, stop := context.WithCancel(b.Context())
	b.Cleanup(stop)
	var group errgroup.Group
	group.Go(func() error { return w.Replica.Run(following) })
	b.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			b.Error(err)
		}
	})
	last := all[restaurants*99/100-1]
	for {
		if _, has := w.Replica.Version(last); has {
			break
		}
		if b.Context().Err() != nil {
			b.Fatal("the replica has not followed")
		}
	}
	bearer := "Bearer " + tokenOf(w, apitest.ClientOps)
	ask := func(path string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
		request.Header.Set("Authorization", bearer)
		recorder := httptest.NewRecorder()
		w.Server.Handler().ServeHTTP(recorder, request)
		return recorder
	}
	for name, c := range map[string]struct{ path, has string }{
		"first":     {"/v1/ops/restaurants?limit=50", `"states":`},
		"search":    {"/v1/ops/restaurants?limit=50&q=trattoria+99", `"states":`},
		"attention": {"/v1/ops/restaurants?limit=50&state=attention", `"missing"`},
		"none":      {"/v1/ops/restaurants?limit=50&state=held", `"result":[]`},
		"state":     {"/v1/ops/restaurants?limit=50&sort=state", `"missing"`},
		"last run":  {"/v1/ops/restaurants?limit=50&sort=last-run", `"states":`},
		"changes":   {"/v1/ops/changes?limit=50", `"restaurantName":`},
		"summary":   {"/v1/ops/summary", `"restaurants":10000`},
	} {
		b.Run(name, func(b *testing.B) {
			if got := ask(c.path); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), c.has) {
				b.Fatalf("%d %.300s", got.Code, got.Body)
			}
			b.ReportAllocs()
			for b.Loop() {
				ask(c.path)
			}
		})
	}
}
