package auth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"larder.local/httpapi/auth"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
)

const (
	viewer = "viewer" // ops.read
	till   = "till"   // sync
)

func withReaders(p *apitest.Plan) {
	p.Auth.Clients = append(p.Auth.Clients,
		auth.ClientConfig{ID: viewer, Secret: apitest.Secret(viewer), Scopes: []auth.Scope{auth.ScopeOpsRead}},
		auth.ClientConfig{ID: till, Secret: apitest.Secret(till), Scopes: []auth.Scope{auth.ScopeSync}})
}

// Each operators' route accepts the scopes that the document names, and no others.
func TestScopesOfOperatorRoutes_H2(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, withReaders)
	document, err := apicoverage.Document()
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{restaurant}", apitest.Bistro, "{version}", "1", "{id}", "p1", "{run}", "x", "{batch}", "x", "{ref}", "x")
	scopes := map[string]auth.Scope{viewer: auth.ScopeOpsRead, till: auth.ScopeSync, apitest.ClientShop: auth.ScopeOrders, apitest.ClientOps: auth.ScopeOps}
	tried := 0
	for path, item := range document.Doc.Paths.Map() {
		if !strings.HasPrefix(path, "/v1/ops/") {
			continue
		}
		for method, operation := range item.Operations() {
			for client, scope := range scopes {
				allowed := slices.ContainsFunc(*operation.Security, func(one openapi3.SecurityRequirement) bool {
					return slices.ContainsFunc(one["larder"], func(named string) bool { return auth.Holds([]auth.Scope{scope}, auth.Scope(named)) })
				})
				status := statusOf(t, w, method, fill.Replace(path), w.As(client)...)
				if (status != http.StatusForbidden) != allowed {
					t.Errorf("%s %s with the scope %s: %d; the document allows %v", method, path, scope, status, *operation.Security)
				}
				tried++
			}
		}
	}
	if tried < 4*30 {
		t.Errorf("%d requests were tried", tried)
	}
}

// statusOf returns the status of a response, which may have no end. A changing request is not complete, so it changes nothing.
func statusOf(t *testing.T, w *apitest.Fixture, method, path string, headers ...string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.URL+path, strings.NewReader("{"))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodGet {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = res.Body.Close()
	return res.StatusCode
}

// A till syncs one restaurant and follows the run. It cannot force, and it cannot sign in.
func TestScopeSync_H2(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, withReaders)
	w.Schedule()
	headers := w.As(till)
	var run struct{ ID, Outcome string }
	w.Post(apitest.OpsBistro+"/sync?wait=30s", "", headers...).Is(t, http.StatusOK).Into(t, &run)
	if run.ID == "" || run.Outcome != "unchanged" {
		t.Errorf("the run: %+v", run)
	}
	w.Get("/v1/ops/runs/"+run.ID, headers...).Is(t, http.StatusOK)
	w.Post(apitest.OpsBistro+"/sync", `{"force":true}`, headers...).Refused(t, http.StatusForbidden, "forbidden")
	w.Post(apitest.OpsBistro+"/sync", `{"force":false}`, headers...).Is(t, http.StatusAccepted)
	w.Post(apitest.SessionPath, apitest.SignInBody(till, apitest.Secret(till))).Refused(t, http.StatusForbidden, "forbidden")
	var log []struct{ Action, Client string }
	w.Get("/v1/ops/audit?client="+till, w.As(apitest.ClientOps)...).Is(t, http.StatusOK).Into(t, &log)
	if len(log) != 2 || log[0].Action != "sync" {
		t.Errorf("the audit log: %+v", log)
	}
}

// A viewer signs in to the console, reads everything and changes nothing. Who loses the scope ops stays signed in as a viewer.
func TestSessionOfAViewer_H2(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, withReaders)
	session := func(client string) (who struct{ Scopes []auth.Scope }, headers []string) {
		got := w.Post(apitest.SessionPath, apitest.SignInBody(client, apitest.Secret(client))).Is(t, http.StatusOK)
		got.Into(t, &who)
		return who, []string{"Cookie", got.Cookie(t).Name + "=" + got.Cookie(t).Value}
	}
	who, headers := session(viewer)
	if !slices.Equal(who.Scopes, []auth.Scope{auth.ScopeOpsRead}) {
		t.Errorf("the viewer has %v", who.Scopes)
	}
	w.Get(apitest.OpsBistro, headers...).Is(t, http.StatusOK)
	for _, path := range []string{"/pause", "/busy", "/snooze", "/sync", "/rollback"} {
		if got := w.Post(apitest.OpsBistro+path, `{}`, headers...).Refused(t, http.StatusForbidden, "forbidden"); !strings.Contains(got.Msg, "scope") {
			t.Errorf("%s: %s", path, got.Msg)
		}
	}
	who, headers = session(apitest.ClientOps)
	if !slices.Equal(who.Scopes, []auth.Scope{auth.ScopeOps, auth.ScopeOpsRead}) {
		t.Errorf("the operator has %v", who.Scopes)
	}
	w.Post(apitest.OpsBistro+"/busy", `{"leadTime":"90m"}`, headers...).Is(t, http.StatusOK)
	w.Server.SetClients([]auth.ClientConfig{{ID: apitest.ClientOps, Secret: apitest.Secret(apitest.ClientOps), Scopes: []auth.Scope{auth.ScopeOpsRead}}})
	w.Get(apitest.SessionPath, headers...).Is(t, http.StatusOK).Into(t, &who)
	if !slices.Equal(who.Scopes, []auth.Scope{auth.ScopeOpsRead}) {
		t.Errorf("without the scope ops: %v", who.Scopes)
	}
	w.Get(apitest.OpsBistro, headers...).Is(t, http.StatusOK)
	w.Post(apitest.OpsBistro+"/busy", `{"leadTime":"90m"}`, headers...).Refused(t, http.StatusForbidden, "forbidden")
}

// OAuth clients configure themselves by RFC 8414. What the metadata names works.
func TestTokenMetadata(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	var got struct {
		Issuer   string
		Methods  []string `json:"token_endpoint_auth_methods_supported"`
		Grants   []string `json:"grant_types_supported"`
		Scopes   []string `json:"scopes_supported"`
		Endpoint string   `json:"token_endpoint"`
	}
	if err := json.Unmarshal(w.Get("/.well-known/oauth-authorization-server").Is(t, http.StatusOK).Body, &got); err != nil {
		t.Fatal(err)
	}
	if got.Issuer != w.URL || got.Endpoint != w.URL+"/connect/token" || !slices.Contains(got.Scopes, "sync") {
		t.Errorf("%+v", got)
	}
	for _, method := range got.Methods {
		form, headers := "grant_type="+got.Grants[0]+"&scope="+"menu", []string{"Content-Type", apitest.FormMedia}
		if method == "client_secret_basic" {
			req := http.Request{Header: http.Header{}}
			req.SetBasicAuth(apitest.ClientShop, apitest.Secret(apitest.ClientShop))
			headers = append(headers, "Authorization", req.Header.Get("Authorization"))
		} else {
			form += "&client_id=" + apitest.ClientShop + "&client_secret=" + apitest.Secret(apitest.ClientShop)
		}
		w.Do(http.MethodPost, strings.TrimPrefix(got.Endpoint, w.URL), form, headers...).Is(t, http.StatusOK)
	}
}
