package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/internal/testkit/clitest"
)

const ref = "01M7XYWYA9ZF3T3GVVC5557T6W"

func TestOrderPlaceSaysWhyAnOrderWasNotPlaced(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	for name, tc := range map[string]struct {
		status int
		body   string
		says   []string
		never  string
	}{
		"refused by the ordering service, with its reasons": {
			502, `{"status":502,"code":"upstream_refused","msg":"the ordering service refused the order: too late","requestId":"r1","errors":null,"ref":"` + ref + `",
			       "upstream":{"status":400,"code":"order_validation","msg":"too late","requestId":"u1","errors":["/expectedAt: in the past",{"path":"/persons","code":"many","msg":"too many"},{"odd":1}]}}`,
			[]string{"not placed: the ordering service refused the order: too late (ref " + ref + ", request r1)\n", "\n  /expectedAt: in the past\n", "\n  /persons  many  too many\n", "\n  {\"odd\":1}\n"},
			"key",
		},
		"refused without reasons": {
			502, `{"status":502,"code":"upstream_refused","msg":"no","requestId":"r1","errors":null,"ref":"` + ref + `","upstream":{"status":400,"code":"x","msg":"no","requestId":"","errors":null}}`,
			[]string{"not placed: no (ref " + ref + ", request r1). See the call"},
			"null",
		},
		"reasons in another shape": {
			502, `{"status":502,"code":"upstream_refused","msg":"no","ref":"` + ref + `","upstream":{"errors":{"a":"b"}}}`,
			[]string{"\n  {\"a\":\"b\"}\n"},
			"request",
		},
		"certainly not sent": {
			503, `{"status":503,"code":"upstream_unavailable","msg":"the order did not reach the ordering service; nothing was placed; try again","requestId":"r1","ref":"` + ref + `"}`,
			[]string{"not placed: the order did not reach", "(ref " + ref + ", request r1)"},
			"Call the restaurant",
		},
		"an unknown outcome": {
			504, `{"status":504,"code":"order_outcome_unknown","msg":"the ordering service did not say","requestId":"r1","ref":"` + ref + `"}`,
			[]string{"it is not known whether the order was placed: the ordering service did not say\n", "Call the restaurant, and quote ref " + ref, "To retry safely, use --key "},
			"try again",
		},
		"a fault of larder's own": {
			500, `{"status":500,"code":"internal","msg":"something went wrong inside larder","requestId":"r1"}`,
			[]string{"it is not known whether the order was placed: something went wrong", "Call the restaurant, and quote request r1", "To retry safely, use --key "},
			"not placed",
		},
		"a proxy that gave up": {
			502, `{"message":"bad gateway"}`,
			[]string{"it is not known whether the order was placed: ", "\nCall the restaurant. To retry safely, use --key "},
			"not placed",
		},
		"a proxy that gave up waiting": {504, `{}`, []string{"\nCall the restaurant. To retry safely, use --key "}, "quote"},
		"no menu yet":                  {503, `{"status":503,"code":"no_catalogue","msg":"no menu"}`, []string{"not placed: "}, "not known"},
		"records of another format": {
			503, `{"status":503,"code":"journal_format","msg":"another","errors":[{"path":"","code":"journal_format","msg":"another","params":{}}]}`,
			[]string{"not placed: ", "503 journal_format: another. Start the version", "(Order records of another version)"},
			"(Upgrade)",
		},
		"a key in flight": {
			409, `{"status":409,"code":"idempotency_key_in_flight","msg":"the first request is not finished","requestId":"r1","ref":"` + ref + `"}`,
			[]string{"still in progress: the first request is not finished (ref " + ref + ", request r1)"},
			"not placed",
		},
		"no restaurant":    {404, `{"status":404,"code":"restaurant_not_found","msg":"there is no such restaurant"}`, []string{"not placed: ", "there is no such restaurant"}, "ref"},
		"too many of them": {429, `{"status":429,"code":"rate_limited","msg":"wait"}`, []string{"429 rate_limited: wait"}, "ref"},
		"no token":         {401, `{"status":401,"code":"unauthorized","msg":"no"}`, []string{"401 unauthorized: no", "Use --config FILE of this daemon"}, "wrong secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/restaurants/one/orders": clitest.Says(tc.status, tc.body)})
			got := larder(t, clitest.AsOps(base, "order", "place", order)...)
			if got.Status != StatusFailed || got.Out != "" || strings.Contains(got.Err, tc.never) {
				t.Errorf("order place: %+v, want 1 and no %q", got, tc.never)
			}
			for _, part := range tc.says {
				if !strings.Contains(got.Err, part) {
					t.Errorf("no %q in\n%s", part, got.Err)
				}
			}
			const withKey = "this attempt placed nothing, but an earlier one with this key may have: "
			again := larder(t, clitest.AsOps(base, "order", "place", order, "--key", "k1")...)
			if known := strings.Contains(got.Err, "ref "+ref); strings.Contains(got.Err, "not placed: ") && strings.Contains(again.Err, withKey) == known {
				t.Errorf("order place --key: %q, the order is known: %t", again.Err, known)
			}
			doubt := strings.Contains(got.Err, "To retry safely, use --key ")
			got = larder(t, clitest.AsOps(base, "order", "place", "--json", order)...)
			if strings.Contains(got.Err, "To retry safely, use --key ") != doubt {
				t.Errorf("order place --json: %q on stderr; want the key where nobody knows what became of the order", got.Err)
			}
			var want, printed any
			if err := json.Unmarshal([]byte(tc.body), &want); err != nil {
				t.Fatal(err)
			}
			printed = clitest.FromJSON[any](t, got.Out)
			members, _ := printed.(map[string]any)
			if whole, ok := want.(map[string]any); ok && whole["code"] != nil {
				whole["next"] = members["next"]
			} else {
				want = map[string]any{"code": codeFailed, "msg": members["msg"], "next": members["next"]}
			}
			if a, b := mustJSON(t, want), mustJSON(t, printed); got.Status != StatusFailed || a != b {
				t.Errorf("order place --json: status %d\n%s\nwant 1 and the whole answer\n%s", got.Status, b, a)
			}
		})
	}
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// After a lost connection the outcome of the order is unknown.
func TestOrderPlaceThatIsCutIsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/restaurants/one/orders": func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}})
	got := larder(t, clitest.AsOps(base, "order", "place", "--key", "k 1", order)...)
	if got.Status != StatusFailed || !strings.Contains(got.Err, "It is not known whether the order was placed. To retry safely, use --key 'k 1'; with another key, the order may be placed twice.") {
		t.Errorf("order place over a cut connection: %+v", got)
	}
	got = larder(t, "order", "place", "--url", "http://127.0.0.1:1", order)
	if got.Status != StatusFailed || strings.Contains(got.Err, "not known") {
		t.Errorf("order place where nobody listens: %+v, want no doubt that nothing was placed", got)
	}
}

// net/http repeats a request with an Idempotency-Key if a kept connection is lost, and that one may find no listener.
func TestOrderPlaceOverALostKeptConnection(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	for range 50 { // net/http may open another connection before that of the token is free
		if placedOverLostConnection(t, order) {
			return
		}
	}
	t.Error("no order came over the connection of its token")
}

// placedOverLostConnection places an order with a server that stops instead of responding. It reports whether the order came
// over the connection of the token.
func placedOverLostConnection(t *testing.T, order string) bool {
	t.Helper()
	var kept, used atomic.Value // string
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("POST /connect/token", func(w http.ResponseWriter, r *http.Request) {
		kept.Store(r.RemoteAddr)
		clitest.Says(200, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)(w, r)
	})
	mux.HandleFunc("POST /v1/restaurants/one/orders", func(_ http.ResponseWriter, r *http.Request) {
		used.Store(r.RemoteAddr)
		_ = server.Listener.Close()
		panic(http.ErrAbortHandler)
	})
	got := larder(t, clitest.AsOps(server.URL, "order", "place", order)...)
	if got.Status != StatusFailed || !strings.Contains(got.Err, "It is not known whether the order was placed. To retry safely, use --key ") {
		t.Errorf("order place: %+v, want the key", got)
	}
	return used.Load() != nil && used.Load() == kept.Load()
}

// A proxy may answer instead of larder, after larder has the order.
func TestOrderPlaceWithAForeignSuccess(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/restaurants/one/orders": clitest.Says(200, "<html>")})
	got := larder(t, clitest.AsOps(base, "order", "place", order)...)
	if got.Status != StatusFailed || !strings.Contains(got.Err, "It is not known whether the order was placed. To retry safely, use --key ") {
		t.Errorf("order place: %+v, want the key", got)
	}
}

func TestFailuresAreJSONWhereJSONWasAskedFor(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	file := clitest.WriteFile(t, "larder.yaml", "sync: {history: many}\n")
	down := []string{"--url", "http://127.0.0.1:1"}
	server := httptest.NewServer(clitest.Says(401, `{"error":"invalid_client","error_description":"no"}`))
	t.Cleanup(server.Close)
	refusing := server.URL
	for name, tc := range map[string]struct {
		args []string
		code string
	}{
		"status":         {append([]string{"status"}, down...), codeUnreachable},
		"sync --all":     {append([]string{"sync", "--all"}, down...), codeUnreachable},
		"sync of one":    {append([]string{"sync", "one"}, down...), codeUnreachable},
		"order validate": {append([]string{"order", "validate", order}, down...), codeUnreachable},
		"order place":    {append([]string{"order", "place", order}, down...), codeUnreachable},
		"menu show":      {append([]string{"menu", "show", "one"}, down...), codeUnreachable},
		"no file":        {[]string{"menu", "lint", "./none.json"}, codeFailed},
		"a wrong secret": {clitest.AsOps(refusing, "sync", "--all"), "unauthorized"},
		"a usage error":  {[]string{"sync"}, codeUsage},
		"config print":   {[]string{"config", "print", "--config", file}, codeConfiguration},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := larder(t, append(tc.args, "--json")...)
			f := clitest.FromJSON[commandError](t, got.Out)
			status := StatusFailed
			if tc.code == codeUsage {
				status = StatusUsage
			}
			if got.Status != status || f.Code != tc.code || f.Msg == "" || got.Err == "" ||
				f.Next == "" || !strings.Contains(got.Err, f.Next) {
				t.Errorf("larder %v: %+v, want %d, the code %s, and the message and the hint on stderr", tc.args, got, status, tc.code)
			}
		})
	}
}

func TestHintsFitWhatIsWrong(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	restaurants := clitest.Says(200, `{"result":[{"id":"one","name":"One","version":1}],"next":null}`)
	unauthorized := clitest.Says(401, `{"status":401,"code":"unauthorized","msg":"a valid token is required"}`)
	open := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": restaurants, "POST /v1/restaurants/one/orders": unauthorized, "POST /v1/ops/restaurants/one/sync": unauthorized,
		"POST /v1/ops/sync": unauthorized, "GET /v1/ops/events": unauthorized,
	})
	tokens := func(status int, body string) string {
		server := httptest.NewServer(clitest.Says(status, body))
		t.Cleanup(server.Close)
		return server.URL
	}
	for name, tc := range map[string]struct {
		args  []string
		says  string
		never string
	}{
		"sync without credentials":  {[]string{"sync", "--all", "--url", open}, "--config FILE of this daemon, or --client-id and --client-secret", ""},
		"place without credentials": {[]string{"order", "place", order, "--url", open}, "--config FILE of this daemon, or --client-id and --client-secret", ""},
		"a wrong secret": {
			clitest.AsOps(tokens(401, `{"error":"invalid_client","error_description":"the client is unknown"}`), "sync", "one"),
			"authentication failed at http", "",
		},
		"Redis is down": {
			clitest.AsOps(tokens(503, `{"error":"storage_unavailable","error_description":"Redis does not answer; try again"}`), "sync", "one"),
			": storage_unavailable: Redis does not answer; try again. See larder status;", "--client-secret",
		},
		"not a larder": {clitest.AsOps(tokens(404, `<html>`), "sync", "one"), "the response is not from larder; check the address", "--client-secret"},
		"nobody listens": {
			clitest.AsOps("http://127.0.0.1:1", "sync", "one"),
			"larder at http://127.0.0.1:1 does not answer. Start larder (larder serve, larder demo), or use --url with the address of a running daemon.\n", "dial",
		},
		"no such host": {[]string{"status", "--url", "http://nowhere.invalid"}, "nowhere.invalid", "lookup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := larder(t, tc.args...)
			if got.Status != StatusFailed || !strings.Contains(got.Err, tc.says) || tc.never != "" && strings.Contains(got.Err, tc.never) {
				t.Errorf("larder %s: %+v, want 1, %q and no %q", strings.Join(tc.args, " "), got, tc.says, tc.never)
			}
		})
	}
}
