package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// rows returns a list of restaurants, r1 and so on, with these members.
func rows(members ...string) http.HandlerFunc {
	list := make([]string, len(members))
	for i, more := range members {
		list[i] = fmt.Sprintf(`{"id":"r%d",%s}`, i+1, more)
	}
	return clitest.Says(200, `{"result":[`+strings.Join(list, ",")+`],"next":null}`)
}

func TestStatusNamesRestaurantsThatAreNotWell(t *testing.T) {
	t.Parallel()
	readyz := clitest.Says(200, `{"status":"degraded","parts":{"redis":{"ok":true,"msg":""}}}`)
	failed, well := `"version":1,"lastOutcome":"failed"`, `"version":1,"lastOutcome":"unchanged"`
	for name, tc := range map[string]struct {
		list http.HandlerFunc
		want string
	}{
		"some of each": {
			rows(well, failed, `"version":2,"stale":true,"lastOutcome":"quarantined"`, `"version":2,"stale":true,"lastOutcome":"unchanged"`, `"version":null,"stale":true,"lastOutcome":null`),
			"  restaurants not ok: 1 failed (r2), 1 quarantined (r3), 1 stale (r4)\n",
		},
		"many":             {rows(failed, failed, failed, failed, failed, failed, failed), "  restaurants not ok: 7 failed (r1, r2, r3, r4, r5, … (2 more))\n"},
		"held":             {rows(well, well+`,"held":true`, failed+`,"held":true`), "  restaurants not ok: 1 failed (r3), 2 held (r2, r3)\n"},
		"none":             {rows(well), ""},
		"menus are closed": {clitest.Says(401, `{"status":401,"code":"unauthorized","msg":"no"}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /readyz": readyz, "GET /v1/restaurants": tc.list})
			want := base + ": degraded\n  redis                ok\n" + tc.want
			if got := larder(t, "status", "--url", base); got.Status != StatusDone || got.Out != want {
				t.Errorf("status: %+v, want 0 and\n%s", got, want)
			}
			answer := clitest.FromJSON[map[string]any](t, must(t, "status", "--json", "--url", base))
			if _, there := answer["restaurantsNotOK"]; there != (tc.want != "") || answer["status"] != "degraded" {
				t.Errorf("status --json gives %v", answer)
			}
		})
	}
}

// The daemon's readiness may already name the restaurants whose sync failed.
func TestStatusNamesEachFailedRestaurantOnce(t *testing.T) {
	t.Parallel()
	failed := `"version":1,"lastOutcome":"failed"`
	readyz := func(names string) http.HandlerFunc {
		return clitest.Says(200, `{"status":"degraded","parts":{"connections":{"main":{"ok":false,"msg":"the last sync of some failed: `+names+`"}}}}`)
	}
	for names, want := range map[string]string{
		"r1, r2":                  "restaurants not ok: 2 failed\n",
		"r2":                      "restaurants not ok: 2 failed (r1)\n",
		"r12, r2; no menu for r1": "restaurants not ok: 2 failed\n",
		"r12, r21":                "restaurants not ok: 2 failed (r1, r2)\n",
	} {
		base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /readyz": readyz(names), "GET /v1/restaurants": rows(failed, failed)})
		if out := must(t, "status", "--url", base); !strings.HasSuffix(out, "  "+want) {
			t.Errorf("status where the daemon names %s:\n%s\nwant %s", names, out, want)
		}
	}
}

// A health check needs no credentials; only readiness decides.
func TestStatusNeedsNoToken(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /readyz":         clitest.Says(200, `{"status":"ok"}`),
		"GET /v1/restaurants": clitest.Says(503, `{"status":503,"code":"storage_unavailable","msg":"Redis does not answer"}`),
	})
	if got := larder(t, clitest.AsOps(base, "status")...); got.Status != StatusDone || got.Out != base+": ok\n" {
		t.Errorf("status while the list fails: %+v, want 0", got)
	}
}

// The operators' port can be ok although guests do not reach theirs, so the line has the address that was asked.
func TestStatusNamesTheAddressThatItAsked(t *testing.T) {
	t.Parallel()
	ops := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /readyz": clitest.Says(200, `{"status":"ok"}`)})
	config := clitest.WriteFile(t, "larder.yaml", `http: {listen: "127.0.0.1:1", ops_listen: "`+strings.TrimPrefix(ops, "http://")+`"}`)
	if got := larder(t, "status", "--config", config); got.Status != StatusDone || got.Out != ops+": ok\n" {
		t.Errorf("status with http.ops_listen: %+v, want the line of %s", got, ops)
	}
}

func TestAnAddressWithoutSchemeIsAnHTTPAddress(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /readyz": clitest.Says(200, `{"status":"ok"}`), "GET /v1/restaurants": rows()})
	if got := larder(t, "status", "--url", strings.TrimPrefix(base, "http://")); got.Status != StatusDone || got.Out != base+": ok\n" {
		t.Errorf("status of an address without scheme: %+v", got)
	}
	for _, wrong := range []string{"ftp://127.0.0.1", "http://", "http://a b", "127.0.0.1:http:80"} {
		if got := larder(t, "status", "--url", wrong); got.Status != StatusUsage || !strings.Contains(got.Err, "--url: ") || !strings.Contains(got.Err, "http://127.0.0.1:8080") {
			t.Errorf("status --url %s: %+v, want 2 and an example", wrong, got)
		}
	}
}
