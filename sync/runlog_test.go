package sync_test

import (
	"slices"
	"testing"

	"larder/internal/redistest"
	menusync "larder/sync"
)

// As JSON in a hash, with a place in a sorted set, a finished run took 630 bytes
// of Redis. Ten thousand restaurants keep ten million of them.
func TestFinishedRunsAreKeptSmallAndBounded(t *testing.T) {
	t.Parallel()
	const kept = 200
	g := newRig(t, redistest.Start(t).URL(), func(d *menusync.Deps) { d.Config.Runs = kept })
	var made []string
	for range kept + 50 {
		made = append(made, g.once().ID)
	}
	bytes, err := g.client.MemoryUsage(t.Context(), g.keys.RunLog(bistro)).Result()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records take %d bytes: %d each", kept, bytes, bytes/kept)
	if bytes/kept > 100 {
		t.Errorf("a record takes %d bytes, want at most 100", bytes/kept)
	}
	if open, err := g.client.HLen(t.Context(), g.keys.Runs(bistro)).Result(); err != nil || open != 0 {
		t.Errorf("%d records of finished runs stand among those at work (%v)", open, err)
	}

	slices.Reverse(made)
	var listed []string
	for cursor, pages := "", 0; ; pages++ {
		runs, next, err := g.Runs(t.Context(), menusync.Filter{Restaurant: bistro, Limit: 7, Cursor: cursor})
		if err != nil || pages > kept {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, run := range runs {
			listed = append(listed, run.ID)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(listed, made[:kept]) {
		t.Errorf("%d runs are listed, want the last %d, newest first, each once", len(listed), kept)
	}
	for _, at := range []int{0, kept / 2, kept - 1} {
		if run, err := g.Run(t.Context(), made[at]); err != nil || run.ID != made[at] {
			t.Errorf("run %d from the newest: %v", at, err)
		}
	}
	if _, err := g.Run(t.Context(), made[kept]); err == nil {
		t.Error("the oldest run is still there")
	}
}

// A manual run that waited while many others ran stands behind them, and is
// found by its id all the same.
func TestRunThatWaitedLongIsFound(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newRig(t, url)
		waited := g.start(g.Runner, menusync.Request{By: "ops"})
		for range 40 {
			g.once()
		}
		first, _, err := g.Runs(t.Context(), menusync.Filter{Restaurant: bistro, Limit: 1})
		if err != nil || len(first) != 1 || first[0].ID != waited.ID || first[0].State != menusync.StateQueued {
			t.Fatalf("the first of the list: %+v, %v, want the run that waits", first, err)
		}
		g.schedule(g.Runner)
		if run := g.wait(g.Runner, waited.ID); run.Outcome != menusync.OutcomeUnchanged {
			t.Fatalf("the run that waited: %+v", run)
		}
		if run, err := g.Run(t.Context(), waited.ID); err != nil || len(run.By) != 1 || run.By[0] != "ops" {
			t.Errorf("looked up: %+v, %v", run, err)
		}
		for _, cursor := range []string{"nonsense", "0-0", "1-x"} {
			if runs, next, err := g.Runs(t.Context(), menusync.Filter{Restaurant: bistro, Cursor: cursor}); err != nil || len(runs) > 0 || next != "" {
				t.Errorf("cursor %q: %d runs, %v", cursor, len(runs), err)
			}
		}
	})
}
