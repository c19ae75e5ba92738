package apitest

import (
	"encoding/json"
	"time"

	"larder.local/sync/runlog"
)

// ReadyState is the detailed response of /readyz.
type ReadyState struct {
	Status string
	Parts  *struct {
		Redis, Journal, Catalogues struct {
			OK  bool
			Msg string
		}
		Connections map[string]struct {
			OK  bool
			Msg string
		}
	}
}

// Ready requests /readyz and checks the status.
func (w *Fixture) Ready(status int) ReadyState {
	w.T.Helper()
	got := w.Get("/readyz?verbose").Is(w.T, status)
	var state ReadyState
	if err := json.Unmarshal(got.Body, &state); err != nil {
		w.T.Fatal(err)
	}
	if got.Header.Get("Cache-Control") != "no-store" {
		w.T.Errorf("readyz may be cached: %v", got.Header)
	}
	return state
}

// RunRow is a run in the format of the API.
type RunRow struct {
	ID, Restaurant, Trigger, State string
	By                             []string
	Outcome, Error                 *string
	Force                          bool
	Version                        int
	FinishedAt                     *time.Time
}

// WatchRuns opens a stream of ops events and waits for its reset.
func (w *Fixture) WatchRuns(headers ...string) *Stream {
	w.T.Helper()
	f := OpenStream(w.T, w.URL+"/v1/ops/events", headers...)
	if first := f.Next(); first != (Event{"", "reset", "{}"}) {
		w.T.Fatalf("the first event is %+v, want reset", first)
	}
	return f
}

// WaitIdle waits until the scheduler has no run of its own left.
func (w *Fixture) WaitIdle() {
	w.T.Helper()
	for deadline := time.Now().Add(StreamLimit); time.Now().Before(deadline); {
		runs, _, err := w.Runner.Log().List(w.T.Context(), runlog.Filter{Limit: 500})
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
	w.T.Fatal("the catch-up never ended")
}
