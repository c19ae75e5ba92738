package storefront

import (
	"fmt"
	"testing"

	"larder/cache/encoded"
	"larder/cache/replica"
	"larder/httpapi/web"
	"larder/internal/directory"
	"larder/internal/menu"
)

// The pages in memory stay within the limit, whatever guests request (policy H7).
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	assets, err := web.NewAssets()
	if err != nil {
		t.Fatal(err)
	}
	page, err := New(Deps{Replica: &replica.Replica{}, Directory: directory.New(nil, nil), Assets: assets})
	if err != nil {
		t.Fatal(err)
	}
	const limit = 200 << 10
	page.pages = encoded.NewBodies(limit)
	for i := range 500 {
		v := view{Lang: "en", Dir: "ltr", Page: 1, Name: "A restaurant", Restaurant: directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("r%d", i))}}
		first, err := page.body(t.Context(), v, encoded.Gzip)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := page.body(t.Context(), v, encoded.Gzip); err != nil || again != first {
			t.Fatalf("the page was rendered again, %v", err)
		}
		if got := page.pages.Size(); got > limit {
			t.Fatalf("%d bytes in memory, at most %d are allowed", got, limit)
		}
	}
}
