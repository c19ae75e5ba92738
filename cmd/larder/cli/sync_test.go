package cli

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// listing serves a list of n restaurants, r1 to rn.
func listing(n int) http.HandlerFunc {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"r%d","name":"Name %d","version":1}`, i+1, i+1)
	}
	return clitest.Says(200, `{"result":[`+strings.Join(rows, ",")+`],"next":null}`)
}

// finished returns the JSON of a finished run.
func finished(id, outcome, fault string) string {
	return fmt.Sprintf(`{"result":{"id":"x","restaurant":%q,"state":"finished","outcome":%q,"version":1,"error":%q}}`, id, outcome, fault)
}

// resyncs serves sync requests and counts them. The restaurant's id decides the
// outcome: r2 fails, r3 is quarantined, "gone" is not found, others are unchanged.
func resyncs(asked *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch id := r.PathValue("id"); id {
		case "r2":
			clitest.Says(200, finished(id, "failed", "no menu came"))(w, r)
		case "r3":
			clitest.Says(200, finished(id, "quarantined", "lost 60 of 67"))(w, r)
		case "gone":
			clitest.Says(404, `{"status":404,"code":"restaurant_not_found","msg":"there is no such restaurant"}`)(w, r)
		default:
			clitest.Says(200, finished(id, "unchanged", ""))(w, r)
		}
	}
}

func TestSyncOfTheSameRestaurantTwiceIsOneRun(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/restaurants/{id}/sync": resyncs(&asked)})
	got := larder(t, clitest.AsOps(base, "sync", "r1", "r1")...)
	if got.Status != StatusDone || got.Out != "r1  unchanged  version 1\n" || asked.Load() != 1 {
		t.Errorf("sync r1 r1: %+v, asked %d times; want one run", got, asked.Load())
	}
}

func TestAnUnknownRestaurantIsNotTheEndOfTheOthers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/restaurants/{id}/sync": resyncs(&asked)})
	got := larder(t, clitest.AsOps(base, "sync", "gone", "r1")...)
	if got.Status != StatusFailed || !strings.HasPrefix(got.Out, "r1  unchanged") || !strings.HasSuffix(got.Out, "there is no such restaurant\n2 restaurants: 1 unchanged, 1 failed\n") {
		t.Errorf("sync gone r1: %+v", got)
	}
}

// A restaurant without a run has the error that the daemon sent, not an empty run.
func TestSyncJSON_UnknownRestaurant(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/restaurants/{id}/sync": resyncs(&asked)})
	got := larder(t, clitest.AsOps(base, "sync", "gone", "r1", "--json")...)
	all := clitest.FromJSON[[]map[string]any](t, got.Out)
	if got.Status != StatusFailed || len(all) != 2 || all[1]["outcome"] != "unchanged" {
		t.Fatalf("sync gone r1 --json: %+v", got)
	}
	if e := all[0]; e["code"] != "restaurant_not_found" || e["msg"] != "there is no such restaurant" || e["next"] == "" || e["restaurant"] != "gone" || e["id"] != nil {
		t.Errorf("the result of the unknown restaurant is %v", e)
	}
}
