package httpapi_test

import (
	"net/http"
	"testing"

	"larder.local/internal/testkit/apitest"
)

func TestOpsOnAListenerOfTheirOwn(t *testing.T) { // policy H6
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.OpsListen = "127.0.0.1:0" })
	ops := w.As(apitest.ClientOps)
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/orders", "/metrics", "/v1/ops/restaurants/bistro/lint"} {
		w.Get(path, ops...).Refused(t, http.StatusNotFound, "not_found")
	}
	second := serve(t, w.Server.OpsHandler())
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/orders", "/metrics", "/v1/ops/restaurants/bistro/lint", "/livez", "/readyz"} {
		apitest.Do(t, http.MethodGet, second+path, "", ops...).Is(t, http.StatusOK)
	}
	apitest.Do(t, http.MethodGet, second+apitest.MenuPath, "").Refused(t, http.StatusNotFound, "not_found")
	form := "client_id=ops&client_secret=" + apitest.Secret(apitest.ClientOps) + "&grant_type=client_credentials"
	apitest.Do(t, http.MethodPost, second+"/connect/token", form, "Content-Type", apitest.FormMedia).Is(t, http.StatusOK)
}

// http.ops_listen also moves the sessions (policy H6).
func TestSessionsMoveWithOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.OpsListen = "127.0.0.1:0" })
	ops := serve(t, w.Server.OpsHandler())
	w.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps))).Refused(t, http.StatusNotFound, "not_found")
	w.Get("/ops").Refused(t, http.StatusNotFound, "not_found")
	cookie := apitest.Do(t, http.MethodPost, ops+apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps)), "Content-Type", "application/json").Is(t, http.StatusOK).Cookie(t)
	header := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	apitest.Do(t, http.MethodGet, ops+"/v1/ops/runs", "", header...).Is(t, http.StatusOK)
	w.Get("/v1/ops/runs", header...).Refused(t, http.StatusNotFound, "not_found")
}
