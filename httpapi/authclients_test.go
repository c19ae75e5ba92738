package httpapi_test

import (
	"net/http"
	"slices"
	"testing"

	"larder/httpapi/auth"
)

// A reload of auth.clients applies to existing tokens, sessions and streams at once, on both paths.
func TestClientsFollowAReload(t *testing.T) {
	t.Parallel()
	w := newFixture(t, eager)
	w.schedule()
	w.waitIdle()
	w.syncOnce("@main")
	configured := defaultPlan().auth.Clients
	with := func(change func(all []auth.ClientConfig) []auth.ClientConfig) []auth.ClientConfig {
		return change(slices.Clone(configured))
	}
	ofOps := func(change func(*auth.ClientConfig)) []auth.ClientConfig {
		return with(func(all []auth.ClientConfig) []auth.ClientConfig {
			change(&all[slices.IndexFunc(all, func(one auth.ClientConfig) bool { return one.ID == clientOps })])
			return all
		})
	}
	signedIn, bearer := w.signIn(clientOps), w.as(clientOps)
	status := func(path string, headers []string, want int) {
		t.Helper()
		if got := w.get(path, headers...); got.status != want {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
	const runs, restaurants = "/v1/ops/runs", "/v1/ops/restaurants/" + bistro
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
				return slices.DeleteFunc(all, func(one auth.ClientConfig) bool { return one.ID == clientOps })
			}), 1, http.StatusUnauthorized, http.StatusUnauthorized,
		},
	} {
		bySession, byToken, others := w.watchRuns(signedIn...), w.watchRuns(bearer...), w.watchRuns(w.as(clientNorth)...)
		if got := w.server.SetClients(c.all); got != c.changed {
			t.Errorf("%s: %d clients changed, want %d", name, got, c.changed)
		}
		status(restaurants, signedIn, c.session)
		status(restaurants, bearer, c.token)
		status(runs, w.as(clientNorth), http.StatusOK)
		if c.changed > 0 {
			bySession.over()
			byToken.over()
		}
		others.beat() // the stream continues
		w.server.SetClients(configured)
		others.close()
		bySession.close()
		byToken.close()
		status(restaurants, signedIn, http.StatusOK) // all rights are back
	}

	// The fast path answers for tokens that it has cached.
	reader := w.as(clientRead)
	for range 2 {
		status("/v1/restaurants/"+bistro+"/menu", reader, http.StatusOK)
	}
	w.server.SetClients(with(func(all []auth.ClientConfig) []auth.ClientConfig {
		return append(slices.DeleteFunc(all, func(one auth.ClientConfig) bool { return one.ID == clientRead }),
			auth.ClientConfig{ID: "new", Secret: secretOf("new"), Scopes: []auth.Scope{"ops"}})
	}))
	status("/v1/restaurants/"+bistro+"/menu", reader, http.StatusUnauthorized)
	status(runs, w.signIn("new"), http.StatusOK)
}
