package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
)

// newFixture returns a fixture whose server is not run: a listener of the test serves its public routes.
func newFixture(t *testing.T, changes ...func(*apitest.Plan)) *apitest.Fixture {
	t.Helper()
	return apitest.New(t, notRun(changes)...)
}

// newFixtureFor is newFixture for fuzz tests and benchmarks.
func newFixtureFor(tb testing.TB, changes ...func(*apitest.Plan)) *apitest.Fixture {
	tb.Helper()
	return apitest.NewFor(tb, notRun(changes)...)
}

// newOrderFixture is newFixture with a durable Redis and two ordering services.
func newOrderFixture(t *testing.T, changes ...func(*apitest.Plan)) *apitest.OrderFixture {
	t.Helper()
	return apitest.NewOrders(t, notRun(changes)...)
}

func notRun(changes []func(*apitest.Plan)) []func(*apitest.Plan) {
	return append([]func(*apitest.Plan){func(p *apitest.Plan) { p.Serve = serveFast }}, changes...)
}

// serveFast serves the public routes with the fast path, as Run does.
func serveFast(tb testing.TB, server *httpapi.Server) string {
	tb.Helper()
	behind := httptest.NewUnstartedServer(server.Handler())
	fastPath := server.FastPath(behind.Listener)
	behind.Listener = fastPath
	ctx, cut := context.WithCancel(context.WithoutCancel(tb.Context()))
	var group errgroup.Group
	group.Go(func() error { return fastPath.Run(ctx) })
	behind.Start()
	tb.Cleanup(func() {
		behind.Close()
		cut()
		if err := group.Wait(); err != nil {
			tb.Error(err)
		}
	})
	apicoverage.Watch(tb, behind.URL)
	return behind.URL
}

// serve serves a handler until the test ends, and returns its URL. Responses of larder's own routes are checked
// against the API document.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	url := apitest.Serve(t, handler)
	if _, ours := handler.(*gin.Engine); ours {
		apicoverage.Watch(t, url)
	}
	return url
}
