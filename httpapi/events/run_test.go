package events_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/sync/runlog"
)

// until reads events up to the first one that matches, which is the last of the result.
func until(f *apitest.Stream, is func(apitest.Event) bool) (all []apitest.Event) {
	f.T.Helper()
	for {
		e := f.Next()
		if all = append(all, e); is(e) {
			return all
		}
	}
}

// Every replica sends events for all runs, wherever they happen. A client with one connection gets
// those of its connection.
func TestOpsEvents(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	onRedis := func(p *apitest.Plan) { p.Redis.URL = url }
	here := apitest.New(t, onRedis)
	there := apitest.New(t, onRedis, func(p *apitest.Plan) { p.Unsynced = true })
	here.Schedule()
	there.Schedule()
	here.WaitIdle()
	all, own := there.WatchRuns(there.As(apitest.ClientOps)...), there.WatchRuns(there.As(apitest.ClientNorth)...)
	here.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", here.As(apitest.ClientOps)...).Is(t, http.StatusOK)
	here.Do(http.MethodPost, "/v1/ops/restaurants/"+apitest.North+"/sync?wait=30s", "", here.As(apitest.ClientNorth)...).Is(t, http.StatusOK)

	run := func(e apitest.Event) (r apitest.RunRow) {
		if err := json.Unmarshal([]byte(e.Data), &r); err != nil {
			t.Fatalf("%v in %s", err, e.Data)
		}
		return r
	}
	isNorth := func(e apitest.Event) bool { return e.Name == "run.finished" && run(e).Restaurant == apitest.North }
	var received []string
	for _, e := range until(all, isNorth) {
		if r := run(e); r.Trigger == "manual" {
			received = append(received, e.Name+" "+r.Restaurant+" "+r.State)
		}
	}
	want := []string{
		"run.started bistro running", "run.finished bistro finished",
		"run.started north-1 running", "run.finished north-1 finished",
	}
	if diff := cmp.Diff(want, received); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, e := range until(own, isNorth) {
		if r := run(e); r.Restaurant != apitest.North {
			t.Errorf("a client of one connection gets an event of %s", r.Restaurant)
		}
	}
}

func TestSyncOfAll(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.Schedule()
	w.WaitIdle()
	ops := w.As(apitest.ClientOps)
	feed, own := w.WatchRuns(ops...), w.WatchRuns(w.As(apitest.ClientNorth)...)
	var started struct {
		Batch string
		Total int
	}
	got := w.Do(http.MethodPost, "/v1/ops/sync", "", ops...).Is(t, http.StatusAccepted)
	got.Into(t, &started)
	if started.Total != 3 || got.Header.Get("Location") != "/v1/ops/sync/"+started.Batch {
		t.Errorf("got %s, Location %q", got.Body, got.Header.Get("Location"))
	}
	done := func(total string) func(apitest.Event) bool {
		return func(e apitest.Event) bool {
			return e.Name == "sync.progress" && strings.Contains(e.Data, `"done":`+total)
		}
	}
	last := until(feed, done("3"))
	if want := `{"batch":"` + started.Batch + `","done":3,"failed":1,"total":3}`; last[len(last)-1].Data != want {
		t.Errorf("the last progress %s, want %s", last[len(last)-1].Data, want)
	}
	var batch runlog.Batch
	w.Get("/v1/ops/sync/"+started.Batch, ops...).Is(t, http.StatusOK).Into(t, &batch)
	if batch.Done != 3 || batch.By != apitest.ClientOps || len(batch.Faults) != 1 || batch.Faults[0].Restaurant != apitest.Empty || batch.FinishedAt.IsZero() {
		t.Errorf("got %+v", batch)
	}
	w.Get("/v1/ops/sync/"+started.Batch, w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "batch_not_found")
	w.Get("/v1/ops/sync/nothing", ops...).Refused(t, http.StatusNotFound, "batch_not_found")

	w.Post("/v1/ops/sync", `{"force":true}`, w.As(apitest.ClientNorth)...).Is(t, http.StatusAccepted).Into(t, &started)
	if started.Total != 1 {
		t.Errorf("a client of one connection syncs %d restaurants, want 1", started.Total)
	}
	received := until(own, done("1"))
	if want := `{"batch":"` + started.Batch + `","connection":"north","done":1,"failed":0,"total":1}`; received[len(received)-1].Data != want {
		t.Errorf("its progress %s, want %s", received[len(received)-1].Data, want)
	}
	for _, e := range received {
		if e.Name == "sync.progress" && !strings.Contains(e.Data, started.Batch) {
			t.Errorf("it gets an event of another client's batch: %s", e.Data)
		}
	}
	w.Get("/v1/ops/sync/"+started.Batch, w.As(apitest.ClientNorth)...).Is(t, http.StatusOK).Into(t, &batch)
	if batch.Outcomes[runlog.OutcomeUpdated] != 1 || !batch.Force {
		t.Errorf("forced: %+v", batch)
	}
}

func TestOpsEventsRefusals(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.Get("/v1/ops/events").Refused(t, http.StatusUnauthorized, "unauthorized")
	w.Get("/v1/ops/events", w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
	w.Post("/v1/ops/sync", `{}`, w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
	w.Post("/v1/ops/sync", `{"force":1}`, w.As(apitest.ClientOps)...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get("/v1/ops/sync/x", w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
}
