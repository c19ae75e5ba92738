package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"larder/httpapi"
)

// TestBodiesInChunks: a body without a length is read like one with a length, and rejected at the
// same limit.
func TestBodiesInChunks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	for _, tc := range []struct {
		name, body string
		status     int
	}{
		{"an order", order(), http.StatusOK},
		{"one with much white space", order() + strings.Repeat(" ", 100<<10), http.StatusOK},
		{"one of the limit", order() + strings.Repeat(" ", 256<<10-len(order())), http.StatusOK},
		{"one byte more", order() + strings.Repeat(" ", 256<<10-len(order())+1), http.StatusRequestEntityTooLarge},
		{"none", "", http.StatusBadRequest},
	} {
		for _, known := range []bool{true, false} {
			var content io.Reader = strings.NewReader(tc.body)
			if !known {
				content = io.MultiReader(content) // a reader type whose length net/http does not know
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+validatePath, content)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := transport(t).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != tc.status {
				t.Errorf("%s, length known: %v: %d, want %d: %.200s, %v", tc.name, known, response.StatusCode, tc.status, answer, err)
			}
			_ = response.Body.Close()
		}
	}
}

// TestValidateKeepsOrdersApart: concurrent validations with reused buffers each get their own
// response.
func TestValidateKeepsOrdersApart(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	var group errgroup.Group
	for guest := range 8 {
		group.Go(func() error {
			for n := range 40 {
				said := strings.Repeat(fmt.Sprintf("%d-%d ", guest, n), 1+(guest*n)%150) // a comment has at most 1,000 characters
				body := strings.Replace(order(), "{", fmt.Sprintf(`{"comment": %q, `, said), 1)
				want := fmt.Sprintf(`"order":{"comment":%q,`, said)
				if n%5 == 4 { // an invalid order with its own text in the message
					body = strings.Replace(body, `"p1"`, fmt.Sprintf("%q", said), 1)
					want = fmt.Sprintf(`"params":{"id":%q}`, said)
				}
				got, err := request(t, http.MethodPost, w.url+validatePath, body, "Content-Type", "application/json")
				if err != nil {
					return err
				}
				if got.status != http.StatusOK || !strings.Contains(string(got.body), want) {
					return fmt.Errorf("order %d of guest %d, of %d bytes: %d %.300s", n, guest, len(body), got.status, got.body)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
