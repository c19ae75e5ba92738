package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"larder/internal/directory"
	"larder/internal/menu"
	menusync "larder/sync"
)

// Lists contain the restaurants that are configured at the time of the request, also from page to
// page.
func TestListsFollowAReload(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	replace := func(ids ...menu.RestaurantID) {
		t.Helper()
		restaurants := make([]menusync.Restaurant, len(ids))
		for i, id := range ids {
			restaurants[i] = menusync.Restaurant{
				Restaurant: directory.Restaurant{ID: id, Name: "Café " + string(id), Connection: "main"},
				Settings:   menu.DefaultSettings(), Schedule: "@every 24h",
			}
		}
		w.replace(restaurants)
	}
	if rows, _ := w.opsRows("?q=caf", ops...); len(rows) != 0 {
		t.Fatalf("before: %v", idsOf(rows))
	}
	replace("d", "b", "a", "e")
	rows, next := w.opsRows("?limit=2&q=CAFÉ", ops...)
	if !slices.Equal(idsOf(rows), []string{"a", "b"}) || next == nil {
		t.Fatalf("the first page: %v, next %v", idsOf(rows), next)
	}
	replace("e", "a", "c", "d") // the last restaurant of the previous page was removed
	if rows, next = w.opsRows("?limit=2&q=CAFÉ&cursor="+*next, ops...); !slices.Equal(idsOf(rows), []string{"c", "d"}) || next == nil {
		t.Fatalf("the second page: %v, next %v", idsOf(rows), next)
	}
	if rows, next = w.opsRows("?limit=2&q=CAFÉ&cursor="+*next, ops...); !slices.Equal(idsOf(rows), []string{"e"}) || next != nil {
		t.Errorf("the third page: %v, next %v", idsOf(rows), next)
	}
	if rows, _ = w.opsRows("?state=missing", ops...); !slices.Equal(idsOf(rows), []string{"a", "c", "d", "e"}) {
		t.Errorf("without a menu: %v", idsOf(rows))
	}
}

// With thousands of restaurants, the states are cached for one second.
func TestStatesOfThousandsAreSoonThoseOfNow(t *testing.T) {
	t.Parallel()
	const restaurants = 10_000
	w := newFixture(t, func(p *plan) {
		p.unsynced = true
		p.runner = func(deps *menusync.Deps) {
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
		w.get("/v1/ops/summary", w.as(clientOps)...).is(t, http.StatusOK).into(t, &got)
		return got.States["missing"]
	}
	if got := without(); got != restaurants {
		t.Fatalf("%d restaurants are without a menu, want %d", got, restaurants)
	}
	w.syncOnce(bistro)
	w.ahead(time.Second)
	if got := without(); got != restaurants-1 {
		t.Errorf("a second later %d restaurants are without a menu, want %d", got, restaurants-1)
	}
}
