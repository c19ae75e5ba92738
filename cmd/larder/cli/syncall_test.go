package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/internal/testkit/clitest"
	"larder.local/sync/runlog"
)

const batchOf200 = `{"batch":"b","by":"ops","force":false,"total":200,"done":200,"failed":2,"outcomes":{"unchanged":198,"failed":1,"quarantined":1},"startedAt":null,"finishedAt":null,
"faults":[{"restaurant":"r2","state":"finished","outcome":"failed","version":1,"error":"no menu came"},{"restaurant":"r3","state":"finished","outcome":"quarantined","version":1,"error":"lost 60 of 67"}]}`

// batchDaemon syncs 200 restaurants. The test sets how many are done at each poll.
func batchDaemon(t *testing.T, done func() int) (base string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	return clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": listing(200),
		"POST /v1/ops/sync":   clitest.Says(202, `{"result":{"batch":"b","total":200}}`),
		"GET /v1/ops/sync/b": func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if now := done(); now < 200 {
				clitest.Says(200, fmt.Sprintf(`{"result":{"batch":"b","total":200,"done":%d}}`, now))(w, r)
				return
			}
			clitest.Says(200, `{"result":`+batchOf200+`}`)(w, r)
		},
	}), asked
}

func TestSyncAllEndsWithWhatWentWrongAndASummary(t *testing.T) {
	t.Parallel()
	for name, terminal := range map[string]bool{"on a terminal": true, "in a script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var done atomic.Int64
			base, asked := batchDaemon(t, func() int { return int(done.Add(90)) })
			got := command{terminal: terminal}.run(t, clitest.AsOps(base, "sync", "--all")...)
			want := "Name 2 (r2)  failed  version 1  no menu came\nName 3 (r3)  quarantined  version 1  lost 60 of 67\n200 restaurants: 198 unchanged, 1 failed, 1 quarantined\n"
			if got.Status != StatusFailed || got.Out != want {
				t.Errorf("sync --all: %+v, want 1 and\n%s", got, want)
			}
			if asked.Load() != 3 { // 90, 180, all
				t.Errorf("asked %d times, want 3", asked.Load())
			}
			if terminal != strings.Contains(got.Err, "syncing") || !terminal && !strings.Contains(got.Err, "180 of 200 done, 0 failed, ") {
				t.Errorf("progress %q", got.Err)
			}
		})
	}
	base, _ := batchDaemon(t, func() int { return 200 })
	batch := clitest.FromJSON[runlog.Batch](t, larder(t, clitest.AsOps(base, "sync", "--all", "--json")...).Out)
	if batch.Total != 200 || batch.Failed != 2 || len(batch.Faults) != 2 || batch.Faults[0].Outcome != runlog.OutcomeFailed {
		t.Errorf("sync --all --json gives %+v", batch)
	}
}

// A daemon that is unreachable or rejects the client is reported once.
func TestADaemonThatIsGoneIsSaidOnce(t *testing.T) {
	t.Parallel()
	refused := clitest.Says(403, `{"status":403,"code":"forbidden","msg":"the token has no scope ops"}`)
	gone := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, tc := range map[string]struct {
		start http.HandlerFunc
		says  string
	}{
		"no scope":                   {refused, "403 forbidden"},
		"gone":                       {gone, "does not answer"},
		"a Redis that is away":       {clitest.Says(503, `{"status":503,"code":"storage_unavailable","msg":"Redis does not answer; try again"}`), "503 storage_unavailable"},
		"a daemon with nothing kept": {clitest.Says(202, `{"result":{"batch":"b","total":0}}`), "no restaurants"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/sync": tc.start})
			got := larder(t, clitest.AsOps(base, "sync", "--all")...)
			if got.Status != StatusFailed || got.Out != "" || strings.Count(got.Err, tc.says) != 1 || strings.Count(got.Err, "\n") > 2 {
				t.Errorf("sync --all: %+v, want it once, and what to try", got)
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
				base, _ := batchDaemon(t, func() int {
					interrupt()
					return 3
				})
				var out, err bytes.Buffer
				status := command{terminal: terminal}.program(ctx, clitest.AsOps(base, append([]string{"sync", "--all"}, flags...)...), &out, &err)
				said := "of 200 done; the runs continue in the daemon"
				if status != StatusFailed || strings.Count(err.String(), said) != 1 || strings.Count(err.String(), ". Follow the daemon with larder status --watch.\n") != 1 || !strings.Contains(err.String(), " interrupted: ") || len(flags) == 0 && out.Len() > 0 {
					t.Errorf("status %d\n%s\nwant 1 and what was done, on one line", status, err.String())
				}
				if len(flags) > 0 && clitest.FromJSON[commandError](t, out.String()).Code != codeInterrupted {
					t.Errorf("JSON %s, want the code %s", out.String(), codeInterrupted)
				}
			})
		}
	}
}
