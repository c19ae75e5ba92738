package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Operators' routes reject query parameters that they do not have: ?force=true of a sync was ignored.
func TestOperatorsRoutesRejectUnknownQueryParameters(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	runs := func() int {
		return strings.Count(string(k.Get("/v1/ops/runs", k.Ops...).Is(t, http.StatusOK).Body), `"trigger"`)
	}
	before := runs()
	for _, path := range []string{"/v1/ops/restaurants/bistro/sync?wait=30s&force=true", "/v1/ops/sync?force=true"} {
		refused := k.Post(path, "", k.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
		if !strings.HasPrefix(refused.Msg, "force is not a query parameter of this route") {
			t.Errorf("%s: %s", path, refused.Msg)
		}
	}
	if after := runs(); after != before {
		t.Errorf("%d runs after the rejected requests, want %d", after, before)
	}
	for _, path := range []string{"/v1/ops/orders?status=unknown", "/v1/ops/restaurants?Q=x", "/v1/ops/restaurants/bistro?verbose", "/v1/ops/runs?limt=5"} {
		k.Get(path, k.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
		k.Get(path).Refused(t, http.StatusUnauthorized, "unauthorized") // a caller without a token learns nothing
	}
	k.Get("/v1/ops/restaurants?q=x&state=stale&connection=main&limit=1", k.Ops...).Is(t, http.StatusOK)
	k.Get("/v1/restaurants?unknown=1").Is(t, http.StatusOK) // guests' addresses may have parameters of other programs
}
