package httpapi_test

import (
	"net/http"
	"testing"
)

func TestOpsOnAListenerOfTheirOwn(t *testing.T) { // policy H6
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.OpsListen = "127.0.0.1:0" })
	ops := w.as(clientOps)
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/orders", "/metrics", "/v1/ops/restaurants/bistro/lint"} {
		w.get(path, ops...).refused(t, http.StatusNotFound, "not_found")
	}
	second := serve(t, w.server.OpsHandler())
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/orders", "/metrics", "/v1/ops/restaurants/bistro/lint", "/livez", "/readyz"} {
		do(t, http.MethodGet, second+path, "", ops...).is(t, http.StatusOK)
	}
	do(t, http.MethodGet, second+menuPath, "").refused(t, http.StatusNotFound, "not_found")
	form := "client_id=ops&client_secret=" + secretOf(clientOps) + "&grant_type=client_credentials"
	do(t, http.MethodPost, second+"/connect/token", form, "Content-Type", formMedia).is(t, http.StatusOK)
}

// http.ops_listen also moves the sessions (policy H6).
func TestSessionsMoveWithOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.OpsListen = "127.0.0.1:0" })
	ops := serve(t, w.server.OpsHandler())
	w.post(sessionPath, signInBody(clientOps, secretOf(clientOps))).refused(t, http.StatusNotFound, "not_found")
	w.get("/ops").refused(t, http.StatusNotFound, "not_found")
	cookie := do(t, http.MethodPost, ops+sessionPath, signInBody(clientOps, secretOf(clientOps)), "Content-Type", "application/json").is(t, http.StatusOK).cookieOf(t)
	header := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	do(t, http.MethodGet, ops+"/v1/ops/runs", "", header...).is(t, http.StatusOK)
	w.get("/v1/ops/runs", header...).refused(t, http.StatusNotFound, "not_found")
}
