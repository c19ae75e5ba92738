package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	menusync "larder/sync"
)

// listing is the restaurants' list with so many of them, r1 and so on.
func listing(n int) http.HandlerFunc {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"r%d","name":"Name %d","version":1}`, i+1, i+1)
	}
	return says(200, `{"result":[`+strings.Join(rows, ",")+`],"next":null}`)
}

// finished is a run of a restaurant that is over.
func finished(id, outcome, fault string) string {
	return fmt.Sprintf(`{"result":{"id":"x","restaurant":%q,"state":"finished","outcome":%q,"version":1,"error":%q}}`, id, outcome, fault)
}

// running answers resyncs as the restaurant's id says: all unchanged but r2 and r3.
func resyncs(asked *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch id := r.PathValue("id"); id {
		case "r2":
			says(200, finished(id, "failed", "no menu came"))(w, r)
		case "r3":
			says(200, finished(id, "quarantined", "lost 60 of 67"))(w, r)
		case "gone":
			says(404, `{"status":404,"code":"restaurant_not_found","msg":"there is no such restaurant"}`)(w, r)
		default:
			says(200, finished(id, "unchanged", ""))(w, r)
		}
	}
}

func TestSyncEndsWithWhatWentWrongAndASummary(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := daemonOf(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": listing(200), "POST /v1/ops/restaurants/{id}/sync": resyncs(&asked),
	})
	for name, terminal := range map[string]bool{"on a terminal": true, "in a script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command{terminal: terminal}.run(t, asOps(base, "sync", "--all")...)
			end := "\nr2 Name 2  failed  version 1  no menu came\nr3 Name 3  quarantined  version 1  lost 60 of 67\n200 restaurants: 198 unchanged, 1 failed, 1 quarantined\n"
			if got.status != statusFailed || !strings.HasSuffix(got.out, end) || strings.Count(got.out, "\n") != 201 {
				t.Errorf("sync --all: status %d, %d lines, which end\n%s\nwant 1, 201 and%s", got.status, strings.Count(got.out, "\n"), got.out[max(0, len(got.out)-300):], end)
			}
		})
	}
	runs := fromJSON[[]menusync.Run](t, larder(t, asOps(base, "sync", "--all", "--json")...).out)
	if len(runs) != 200 || runs[1].Outcome != menusync.OutcomeFailed {
		t.Errorf("sync --all --json gives %d runs, want all 200 as they are", len(runs))
	}
}

func TestSyncOfTheSameRestaurantTwiceIsOneRun(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := daemonOf(t, map[string]http.HandlerFunc{"POST /v1/ops/restaurants/{id}/sync": resyncs(&asked)})
	got := larder(t, asOps(base, "sync", "r1", "r1")...)
	if got.status != statusDone || got.out != "r1  unchanged  version 1\n" || asked.Load() != 1 {
		t.Errorf("sync r1 r1: %+v, asked %d times; want one run", got, asked.Load())
	}
}

func TestAnUnknownRestaurantIsNotTheEndOfTheOthers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := daemonOf(t, map[string]http.HandlerFunc{"POST /v1/ops/restaurants/{id}/sync": resyncs(&asked)})
	got := larder(t, asOps(base, "sync", "gone", "r1")...)
	if got.status != statusFailed || !strings.HasPrefix(got.out, "r1  unchanged") || !strings.HasSuffix(got.out, "there is no such restaurant\n2 restaurants: 1 unchanged, 1 failed\n") {
		t.Errorf("sync gone r1: %+v", got)
	}
}

// A daemon that goes away, or lets nobody in, is said once, and not asked for
// the rest.
func TestADaemonThatIsGoneIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"no scope": {says(403, `{"status":403,"code":"forbidden","msg":"the token has no scope ops"}`), "403 forbidden"},
		"gone":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := daemonOf(t, map[string]http.HandlerFunc{"GET /v1/restaurants": listing(200), "POST /v1/ops/restaurants/{id}/sync": tc.answer})
			got := larder(t, asOps(base, "sync", "--all")...)
			if got.status != statusFailed || got.out != "" || strings.Count(got.err, tc.says) != 1 || strings.Count(got.err, "\n") != 1 {
				t.Errorf("sync --all: %+v, want one line", got)
			}
		})
	}
}

func TestCtrlCDuringASyncIsOneLine(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"text": nil, "JSON": {"--json"}} {
		for _, terminal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, terminal %t", name, terminal), func(t *testing.T) {
				t.Parallel()
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				var asked atomic.Int64
				base := daemonOf(t, map[string]http.HandlerFunc{
					"GET /v1/restaurants": listing(200),
					"POST /v1/ops/restaurants/{id}/sync": func(w http.ResponseWriter, r *http.Request) {
						if asked.Add(1) <= 3 {
							says(200, finished(r.PathValue("id"), "unchanged", ""))(w, r)
							return
						}
						_, _ = io.Copy(io.Discard, r.Body) // only then a disconnect is seen
						interrupt()
						<-r.Context().Done()
					},
				})
				var out, err bytes.Buffer
				status := run(ctx, asOps(base, append([]string{"sync", "--all"}, flags...)...), world{in: strings.NewReader(""), out: &out, err: &err, terminal: terminal})
				lines := strings.Count(out.String(), "\n")
				said := "of 200 done; the runs go on in the daemon\n"
				if status != statusFailed || strings.Count(err.String(), said) != 1 || !strings.Contains(err.String(), "larder: interrupted: ") || len(flags) == 0 && lines > 3 {
					t.Errorf("status %d, %d lines\n%s\nwant 1 and what was done, on one line", status, lines, err.String())
				}
				if len(flags) > 0 && fromJSON[fault](t, out.String()).Code != codeInterrupted {
					t.Errorf("JSON %s, want the code %s", out.String(), codeInterrupted)
				}
			})
		}
	}
}
