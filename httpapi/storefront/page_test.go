package storefront

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/cache/replica"
	"larder.local/httpapi/visible"
	"larder.local/httpapi/web"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/ordering/validate"
)

func newPage(t *testing.T, restaurants *directory.Directory) *Page {
	t.Helper()
	assets := web.NewAssets()
	page, err := New(Deps{Assets: assets, Served: visible.Served{
		Replica: &replica.Replica{}, Directory: restaurants, Clock: time.Now,
		Terms: validate.New(validate.DefaultConfig(), time.Now).Terms,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A request with a current ETag gets 304 without a page being rendered, and a request that waits for its
// turn ends with its context (policy H7).
func TestOnlyNeededPagesAreRendered(t *testing.T) {
	t.Parallel()
	page := newPage(t, directory.New(nil, nil))
	serve := func(ctx context.Context, tag string) (*httptest.ResponseRecorder, error) {
		recorder := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(recorder)
		c.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
		c.Request.Header.Set("If-None-Match", tag)
		err := page.Serve(c) //nolint:contextcheck // the request has the context
		c.Writer.WriteHeaderNow()
		return recorder, err
	}
	first, err := serve(t.Context(), `"none"`)
	if err != nil || first.Code != http.StatusOK {
		t.Fatal(first.Code, err)
	}
	page.pages = encoded.NewBodies(1 << 20)
	if !page.slots.TryAcquire(rendering) { // nothing can be rendered now
		t.Fatal("a page is rendered")
	}
	if again, err := serve(t.Context(), first.Header().Get("ETag")); err != nil || again.Code != http.StatusNotModified {
		t.Errorf("with the current ETag: %d, %v", again.Code, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := serve(ended, `"none"`); !errors.Is(err, context.Canceled) || len(got.Header()["Etag"]) > 0 {
		t.Errorf("after the client has gone: %v, %v", err, got.Header())
	}
}

// The pages in memory stay within the limit, whatever guests request (policy H7).
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	page := newPage(t, directory.New(nil, nil))
	const limit = 200 << 10
	page.pages = encoded.NewBodies(limit)
	for i := range 500 {
		v := view{Lang: "en", Dir: "ltr", Page: 1, Name: "A restaurant", Restaurant: directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("r%d", i))}}
		key := encoded.Key{Restaurant: v.Restaurant.ID, Content: page.etag(v, &cache.Snapshot{}), Encoding: encoded.Gzip}
		first, err := page.body(t.Context(), v, &cache.Snapshot{}, key)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := page.body(t.Context(), v, &cache.Snapshot{}, key); err != nil || again != first {
			t.Fatalf("the page was rendered again, %v", err)
		}
		if got := page.pages.Size(); got > limit {
			t.Fatalf("%d bytes in memory, at most %d are allowed", got, limit)
		}
	}
}
