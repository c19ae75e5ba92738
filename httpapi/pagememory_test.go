package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
)

// A distinct page of a long menu needs no more memory than one of a short menu, apart from its own dishes: the order of
// the dishes and whether a price has cents are computed once for each content (policy H7).
func TestDistinctPagesOfALongMenu_H7(t *testing.T) { //nolint:paralleltest // it measures the process
	var used [2]uint64
	for i, products := range []int{300, 10_000} {
		k := newFixture(t, func(p *apitest.Plan) {
			p.Unsynced = true
			p.HTTP.Page.Enabled = true
		})
		k.Service.Menus[apitest.Bistro] = string(sandbox.Generate{Products: products, Seed: 1}.Menu(0))
		k.SyncOnce(apitest.Bistro)
		k.Get("/?restaurant="+apitest.Bistro).Is(t, http.StatusOK)
		used[i] = ^uint64(0)
		for _, view := range []string{"lang=ru&dir=rtl", "lang=ru", "dir=rtl", "lang=en&dir=rtl"} {
			for page := 1; page <= 2; page++ {
				path := fmt.Sprintf("/?restaurant=%s&%s&page=%d", apitest.Bistro, view, page)
				used[i] = min(used[i], bytesOf(k, http.MethodGet, path, "", nil))
			}
		}
	}
	t.Logf("a distinct page allocates %d bytes with 300 dishes, %d with 10,000", used[0], used[1])
	if most := used[0] + used[0]/4; used[1] > most {
		t.Errorf("a distinct page allocates %d bytes with 10,000 dishes, at most %d are allowed", used[1], most)
	}
}
