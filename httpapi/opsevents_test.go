package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder/internal/testkit/redistest"
	"larder/sync/runlog"
)

// until reads events up to the first one that matches, which is the last of the result.
func (f *feed) until(is func(event) bool) (all []event) {
	f.t.Helper()
	for {
		e := f.next()
		if all = append(all, e); is(e) {
			return all
		}
	}
}

// watchRuns opens a stream of ops events and waits for its reset.
func (w *fixture) watchRuns(headers ...string) *feed {
	w.t.Helper()
	f := openFeed(w.t, w.url+"/v1/ops/events", headers...)
	if first := f.next(); first != (event{"", "reset", "{}"}) {
		w.t.Fatalf("the first event is %+v, want reset", first)
	}
	return f
}

// waitIdle waits until the scheduler has no run of its own left.
func (w *fixture) waitIdle() {
	w.t.Helper()
	for deadline := time.Now().Add(feedLimit); time.Now().Before(deadline); {
		runs, _, err := w.runner.Log().List(w.t.Context(), runlog.Filter{Limit: 500})
		open := 0
		for _, run := range runs {
			if !run.Finished() {
				open++
			}
		}
		if err == nil && open == 0 && len(runs) > 3 { // those of the fixture's start and one more
			return
		}
	}
	w.t.Fatal("the catch-up never ended")
}

// Every replica sends events for all runs, wherever they happen. A client with one connection gets
// those of its connection.
func TestOpsEvents(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	onRedis := func(p *plan) { p.redis.URL = url }
	here := newFixture(t, onRedis)
	there := newFixture(t, onRedis, func(p *plan) { p.unsynced = true })
	here.schedule()
	there.schedule()
	here.waitIdle()
	all, own := there.watchRuns(there.as(clientOps)...), there.watchRuns(there.as(clientNorth)...)
	here.do(http.MethodPost, syncPath+"?wait=30s", "", here.as(clientOps)...).is(t, http.StatusOK)
	here.do(http.MethodPost, "/v1/ops/restaurants/"+north+"/sync?wait=30s", "", here.as(clientNorth)...).is(t, http.StatusOK)

	run := func(e event) (r runRow) {
		if err := json.Unmarshal([]byte(e.data), &r); err != nil {
			t.Fatalf("%v in %s", err, e.data)
		}
		return r
	}
	isNorth := func(e event) bool { return e.name == "run.finished" && run(e).Restaurant == north }
	var received []string
	for _, e := range all.until(isNorth) {
		if r := run(e); r.Trigger == "manual" {
			received = append(received, e.name+" "+r.Restaurant+" "+r.State)
		}
	}
	want := []string{
		"run.started bistro running", "run.finished bistro finished",
		"run.started north-1 running", "run.finished north-1 finished",
	}
	if diff := cmp.Diff(want, received); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, e := range own.until(isNorth) {
		if r := run(e); r.Restaurant != north {
			t.Errorf("a client of one connection gets an event of %s", r.Restaurant)
		}
	}
}

func TestSyncOfAll(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.schedule()
	w.waitIdle()
	ops := w.as(clientOps)
	feed, own := w.watchRuns(ops...), w.watchRuns(w.as(clientNorth)...)
	var started struct {
		Batch string
		Total int
	}
	got := w.do(http.MethodPost, "/v1/ops/sync", "", ops...).is(t, http.StatusAccepted)
	got.into(t, &started)
	if started.Total != 3 || got.header.Get("Location") != "/v1/ops/sync/"+started.Batch {
		t.Errorf("got %s, Location %q", got.body, got.header.Get("Location"))
	}
	done := func(total string) func(event) bool {
		return func(e event) bool { return e.name == "sync.progress" && strings.Contains(e.data, `"done":`+total) }
	}
	last := feed.until(done("3"))
	if want := `{"batch":"` + started.Batch + `","done":3,"failed":1,"total":3}`; last[len(last)-1].data != want {
		t.Errorf("the last progress %s, want %s", last[len(last)-1].data, want)
	}
	var batch runlog.Batch
	w.get("/v1/ops/sync/"+started.Batch, ops...).is(t, http.StatusOK).into(t, &batch)
	if batch.Done != 3 || batch.By != clientOps || len(batch.Faults) != 1 || batch.Faults[0].Restaurant != empty || batch.FinishedAt.IsZero() {
		t.Errorf("got %+v", batch)
	}
	w.get("/v1/ops/sync/"+started.Batch, w.as(clientNorth)...).refused(t, http.StatusNotFound, "batch_not_found")
	w.get("/v1/ops/sync/nothing", ops...).refused(t, http.StatusNotFound, "batch_not_found")

	w.post("/v1/ops/sync", `{"force":true}`, w.as(clientNorth)...).is(t, http.StatusAccepted).into(t, &started)
	if started.Total != 1 {
		t.Errorf("a client of one connection syncs %d restaurants, want 1", started.Total)
	}
	received := own.until(done("1"))
	if want := `{"batch":"` + started.Batch + `","connection":"north","done":1,"failed":0,"total":1}`; received[len(received)-1].data != want {
		t.Errorf("its progress %s, want %s", received[len(received)-1].data, want)
	}
	for _, e := range received {
		if e.name == "sync.progress" && !strings.Contains(e.data, started.Batch) {
			t.Errorf("it gets an event of another client's batch: %s", e.data)
		}
	}
	w.get("/v1/ops/sync/"+started.Batch, w.as(clientNorth)...).is(t, http.StatusOK).into(t, &batch)
	if batch.Outcomes[runlog.OutcomeUpdated] != 1 || !batch.Force {
		t.Errorf("forced: %+v", batch)
	}
}

func TestOpsEventsRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.get("/v1/ops/events").refused(t, http.StatusUnauthorized, "unauthorized")
	w.get("/v1/ops/events", w.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
	w.post("/v1/ops/sync", `{}`, w.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
	w.post("/v1/ops/sync", `{"force":1}`, w.as(clientOps)...).refused(t, http.StatusBadRequest, "invalid_parameter")
	w.get("/v1/ops/sync/x", w.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
}
