package ops_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	menusync "larder.local/sync"
)

// Lists contain the restaurants that are configured at the time of the request, also from page to
// page.
func TestListsFollowAReload(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	replace := func(ids ...menu.RestaurantID) {
		t.Helper()
		restaurants := make([]menusync.Restaurant, len(ids))
		for i, id := range ids {
			restaurants[i] = menusync.Restaurant{
				Restaurant: directory.Restaurant{ID: id, Name: "Café " + string(id), Connection: "main"},
				Settings:   menu.DefaultSettings(), Schedule: "@every 24h",
			}
		}
		w.Replace(restaurants)
	}
	if rows, _ := opsRows(w, "?q=caf", ops...); len(rows) != 0 {
		t.Fatalf("before: %v", idsOf(rows))
	}
	replace("d", "b", "a", "e")
	rows, next := opsRows(w, "?limit=2&q=CAFÉ", ops...)
	if !slices.Equal(idsOf(rows), []string{"a", "b"}) || next == nil {
		t.Fatalf("the first page: %v, next %v", idsOf(rows), next)
	}
	replace("e", "a", "c", "d") // the last restaurant of the previous page was removed
	if rows, next = opsRows(w, "?limit=2&q=CAFÉ&cursor="+*next, ops...); !slices.Equal(idsOf(rows), []string{"c", "d"}) || next == nil {
		t.Fatalf("the second page: %v, next %v", idsOf(rows), next)
	}
	if rows, next = opsRows(w, "?limit=2&q=CAFÉ&cursor="+*next, ops...); !slices.Equal(idsOf(rows), []string{"e"}) || next != nil {
		t.Errorf("the third page: %v, next %v", idsOf(rows), next)
	}
	if rows, _ = opsRows(w, "?state=missing", ops...); !slices.Equal(idsOf(rows), []string{"a", "c", "d", "e"}) {
		t.Errorf("without a menu: %v", idsOf(rows))
	}
}

// With thousands of restaurants, the states are cached for one second.
func TestStatesOfThousandsAreSoonThoseOfNow(t *testing.T) {
	t.Parallel()
	const restaurants = 10_000
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.Sync = func(deps *menusync.Deps) {
			for i := range restaurants - len(deps.Restaurants) {
				other := deps.Restaurants[0]
				other.ID = menu.RestaurantID(fmt.Sprintf("other-%d", i))
				deps.Restaurants = append(deps.Restaurants, other)
			}
		}
	})
	without := func() int {
		t.Helper()
		var got struct{ States map[string]int }
		w.Get("/v1/ops/summary", w.As(apitest.ClientOps)...).Is(t, http.StatusOK).Into(t, &got)
		return got.States["missing"]
	}
	if got := without(); got != restaurants {
		t.Fatalf("%d restaurants are without a menu, want %d", got, restaurants)
	}
	w.SyncOnce(apitest.Bistro)
	w.Ahead(time.Second)
	if got := without(); got != restaurants-1 {
		t.Errorf("a second later %d restaurants are without a menu, want %d", got, restaurants-1)
	}
}
