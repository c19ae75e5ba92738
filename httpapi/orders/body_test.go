package orders_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// TestBodiesInChunks: a body without a length is read like one with a length, and rejected at the
// same limit.
func TestBodiesInChunks(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	for _, tc := range []struct {
		name, body string
		status     int
	}{
		{"an order", apitest.Order(), http.StatusOK},
		{"one with much white space", apitest.Order() + strings.Repeat(" ", 100<<10), http.StatusOK},
		{"one of the limit", apitest.Order() + strings.Repeat(" ", 256<<10-len(apitest.Order())), http.StatusOK},
		{"one byte more", apitest.Order() + strings.Repeat(" ", 256<<10-len(apitest.Order())+1), http.StatusRequestEntityTooLarge},
		{"none", "", http.StatusBadRequest},
	} {
		for _, known := range []bool{true, false} {
			var content io.Reader = strings.NewReader(tc.body)
			if !known {
				content = io.MultiReader(content) // a reader type whose length net/http does not know
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+apitest.ValidatePath, content)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := apitest.Client(t).Do(request)
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
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	var group errgroup.Group
	for guest := range 8 {
		group.Go(func() error {
			for n := range 40 {
				said := strings.Repeat(fmt.Sprintf("%d-%d ", guest, n), 1+(guest*n)%150) // a comment has at most 1,000 characters
				body := strings.Replace(apitest.Order(), "{", fmt.Sprintf(`{"comment": %q, `, said), 1)
				want := fmt.Sprintf(`"order":{"comment":%q,`, said)
				if n%5 == 4 { // an invalid order with its own text in the message
					body = strings.Replace(body, `"p1"`, fmt.Sprintf("%q", said), 1)
					want = fmt.Sprintf(`"params":{"id":%q}`, said)
				}
				got, err := apitest.Request(t, http.MethodPost, w.URL+apitest.ValidatePath, body, "Content-Type", "application/json")
				if err != nil {
					return err
				}
				if got.Status != http.StatusOK || !strings.Contains(string(got.Body), want) {
					return fmt.Errorf("order %d of guest %d, of %d bytes: %d %.300s", n, guest, len(body), got.Status, got.Body)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
