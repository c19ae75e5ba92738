package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/menus"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/openapi"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/apicoverage"
)

// written has the parts of the API document that these tests read.
type written struct {
	Paths      map[string]map[string]struct{ Responses map[string]json.RawMessage }
	Components struct {
		Responses map[string]struct {
			Codes   []respond.Code             `json:"x-codes"`
			Content map[string]json.RawMessage `json:"content"`
		}
		Schemas map[string]struct{ Enum []string }
	}
}

func readDocument(t *testing.T) written {
	t.Helper()
	var document written
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// The error codes and violation codes in the document are those of the code's tables.
func TestDocumentHasTheCodes(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	var codes []string
	for _, code := range declaredCodes(t, "respond/codes.go") {
		if status, _ := respond.Code(code).Status(); status != statusClientGone { // the client has disconnected and gets no response
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	if diff := cmp.Diff(codes, slices.Sorted(slices.Values(document.Components.Schemas["ErrorCode"].Enum))); diff != "" {
		t.Errorf("ErrorCode (-in the code +in the document):\n%s", diff)
	}
	violations := declaredCodes(t, "../ordering/violation/codes.go")
	slices.Sort(violations)
	if diff := cmp.Diff(violations, slices.Sorted(slices.Values(document.Components.Schemas["ViolationCode"].Enum))); diff != "" {
		t.Errorf("ViolationCode (-in the code +in the document):\n%s", diff)
	}
}

// The codes of each response have its status. Each code belongs to a response, except those of
// unknown paths.
func TestDocumentHasEachCodeUnderItsStatus(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	statuses := map[string][]string{} // by the name of the response
	for path, item := range document.Paths {
		for method, operation := range item {
			for status, raw := range operation.Responses {
				var ref struct {
					Ref string `json:"$ref"`
				}
				if err := json.Unmarshal(raw, &ref); err != nil {
					t.Fatalf("%s %s: %v", method, path, err)
				}
				if name, isRef := strings.CutPrefix(ref.Ref, "#/components/responses/"); isRef {
					statuses[name] = append(statuses[name], status)
				}
			}
		}
	}
	documented := map[string]bool{"method_not_allowed": true} // used by no operation
	for name, answer := range document.Components.Responses {
		if len(statuses[name]) == 0 {
			t.Errorf("no operation answers %s", name)
		}
		if _, problem := answer.Content["application/problem+json"]; problem && len(answer.Codes) == 0 {
			t.Errorf("%s names no codes", name)
		}
		for _, code := range answer.Codes {
			documented[string(code)] = true
			status, _ := code.Status()
			for _, listed := range statuses[name] {
				if listed != strconv.Itoa(status) {
					t.Errorf("%s has %s under %s, the code under %d", name, code, listed, status)
				}
			}
		}
	}
	for _, code := range document.Components.Schemas["ErrorCode"].Enum {
		if !documented[code] && code != string(respond.CodeRestaurantRequired) {
			t.Errorf("no answer names %s", code)
		}
	}
}

// Every route is in the document, and every operation is a route. HEAD belongs to GET, and a
// trailing slash is not a path of its own. Pages for people are not in the document.
func TestDocumentHasTheRoutes(t *testing.T) {
	t.Parallel()
	var cfg Config
	cfg.SetDefaults()
	cfg.OpsListen = "127.0.0.1:0"
	server := newRouted(t, cfg)
	routes := map[string]bool{}
	for _, route := range server.Routes() {
		path := strings.TrimSuffix(route.Path, "/")
		for segment := range strings.SplitSeq(path, "/") {
			if name, param := strings.CutPrefix(segment, ":"); param {
				path = strings.Replace(path, segment, "{"+name+"}", 1)
			}
		}
		if route.Method != http.MethodHead && !apicoverage.OfPages(route.Path) {
			routes[route.Method+" "+path] = true
		}
	}
	if len(routes) < 30 {
		t.Fatalf("only %d routes", len(routes))
	}
	for path, item := range readDocument(t).Paths {
		for method := range item {
			name := strings.ToUpper(method) + " " + path
			if !routes[name] {
				t.Errorf("the document has %s, which is no route", name)
			}
			delete(routes, name)
		}
	}
	for name := range routes {
		t.Errorf("the document lacks %s", name)
	}
}

// The fast path recognizes the menu view by its path, which is a route of the compatible API, with
// and without a trailing slash.
func TestFastPathKnowsTheRouteOfTheView(t *testing.T) {
	t.Parallel()
	if want := compat.Path + "v1/menu/view"; menus.ViewPath != want {
		t.Errorf("the fast path looks for %s, the compatible API has %s", menus.ViewPath, want)
	}
	var cfg Config
	cfg.SetDefaults()
	routes := map[string]bool{}
	for _, route := range newRouted(t, cfg).Routes() {
		routes[route.Method+" "+route.Path] = true
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, path := range []string{menus.ViewPath, menus.ViewPath + "/"} {
			if !routes[method+" "+path] {
				t.Errorf("%s %s is no route", method, path)
			}
		}
	}
}

// newRouted returns a server with routes but without dependencies.
func newRouted(t *testing.T, cfg Config) *Server {
	t.Helper()
	logger := silentlog.New()
	store, err := redisdb.Open(embedded(), logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	kept := cache.NewStore(store, cache.StoreConfig{})
	var authCfg auth.Config
	authCfg.SetDefaults()
	server, err := New(cfg, authCfg, Deps{
		Replica: replica.New(kept, replica.Config{Restaurants: func() []menu.RestaurantID { return nil }, Log: logger}),
		Store:   kept, Redis: store, Metrics: metrics.New(""), Log: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func embedded() redisdb.Config {
	var cfg redisdb.Config
	cfg.SetDefaults()
	return cfg
}
