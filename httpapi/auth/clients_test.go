package auth_test

import (
	"net/http"
	"slices"
	"testing"

	"larder.local/httpapi/auth"
	"larder.local/internal/testkit/apitest"
)

// A reload of auth.clients applies to existing tokens, sessions and streams at once, on both paths.
func TestClientsFollowAReload(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, apitest.Eager)
	w.Schedule()
	w.WaitIdle()
	w.SyncOnce("@main")
	configured := apitest.DefaultPlan().Auth.Clients
	with := func(change func(all []auth.ClientConfig) []auth.ClientConfig) []auth.ClientConfig {
		return change(slices.Clone(configured))
	}
	ofOps := func(change func(*auth.ClientConfig)) []auth.ClientConfig {
		return with(func(all []auth.ClientConfig) []auth.ClientConfig {
			change(&all[slices.IndexFunc(all, func(one auth.ClientConfig) bool { return one.ID == apitest.ClientOps })])
			return all
		})
	}
	signedIn, bearer := w.SignIn(apitest.ClientOps), w.As(apitest.ClientOps)
	status := func(path string, headers []string, want int) {
		t.Helper()
		if got := w.Get(path, headers...); got.Status != want {
			t.Errorf("%s: %d %s, want %d", path, got.Status, got.Body, want)
		}
	}
	const runs, restaurants = "/v1/ops/runs", "/v1/ops/restaurants/" + apitest.Bistro
	for name, c := range map[string]struct {
		all                     []auth.ClientConfig
		changed, session, token int
	}{
		"as they are": {configured, 0, http.StatusOK, http.StatusOK},
		"another secret ends sessions": {
			ofOps(func(c *auth.ClientConfig) { c.Secret = "another-0123456789" }), 1, http.StatusUnauthorized, http.StatusOK,
		},
		"without the scope ops": {
			ofOps(func(c *auth.ClientConfig) { c.Scopes = []auth.Scope{"menu"} }), 1, http.StatusUnauthorized, http.StatusForbidden,
		},
		"of another connection": {
			ofOps(func(c *auth.ClientConfig) { c.Connection = "north" }), 1, http.StatusNotFound, http.StatusNotFound,
		},
		"gone": {
			with(func(all []auth.ClientConfig) []auth.ClientConfig {
				return slices.DeleteFunc(all, func(one auth.ClientConfig) bool { return one.ID == apitest.ClientOps })
			}), 1, http.StatusUnauthorized, http.StatusUnauthorized,
		},
	} {
		bySession, byToken, others := w.WatchRuns(signedIn...), w.WatchRuns(bearer...), w.WatchRuns(w.As(apitest.ClientNorth)...)
		if got := w.Server.SetClients(c.all); got != c.changed {
			t.Errorf("%s: %d clients changed, want %d", name, got, c.changed)
		}
		status(restaurants, signedIn, c.session)
		status(restaurants, bearer, c.token)
		status(runs, w.As(apitest.ClientNorth), http.StatusOK)
		if c.changed > 0 {
			bySession.Over()
			byToken.Over()
		}
		others.Beat() // the stream continues
		w.Server.SetClients(configured)
		others.Close()
		bySession.Close()
		byToken.Close()
		status(restaurants, signedIn, http.StatusOK) // all rights are back
	}

	// The fast path answers for tokens that it has cached.
	reader := w.As(apitest.ClientRead)
	for range 2 {
		status("/v1/restaurants/"+apitest.Bistro+"/menu", reader, http.StatusOK)
	}
	w.Server.SetClients(with(func(all []auth.ClientConfig) []auth.ClientConfig {
		return append(slices.DeleteFunc(all, func(one auth.ClientConfig) bool { return one.ID == apitest.ClientRead }),
			auth.ClientConfig{ID: "new", Secret: apitest.Secret("new"), Scopes: []auth.Scope{"ops"}})
	}))
	status("/v1/restaurants/"+apitest.Bistro+"/menu", reader, http.StatusUnauthorized)
	status(runs, w.SignIn("new"), http.StatusOK)
}
