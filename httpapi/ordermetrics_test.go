package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestScrapeThatIsGivenUp: a scraper that disconnects early does not change the reported state of
// the journal, which later scrapes read from memory for a while.
func TestScrapeThatIsGivenUp(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	k.Server.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/metrics", http.NoBody))
	metrics := string(k.Get("/metrics").Is(t, http.StatusOK).Body)
	for _, want := range []string{
		`larder_orders_ready{connection="main"} 1`, `larder_orders_ready{connection="north"} 1`,
		`larder_orders_unknown{connection="main"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}
