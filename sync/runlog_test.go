package sync_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// maxRecord limits the memory of Redis for the record of a finished run, in bytes.
const maxRecord = 400

// manual executes a requested run.
func (g *fixture) manual() runlog.Run {
	g.t.Helper()
	run, err := g.OnceOf(g.t.Context(), bistro, runlog.TriggerManual)
	if err != nil {
		g.t.Fatalf("OnceOf: %v", err)
	}
	return run
}

// listed returns the runs of the restaurant, the newest first.
func (g *fixture) listed() []runlog.Run {
	g.t.Helper()
	runs, next, err := g.Runs(g.t.Context(), runlog.Filter{Restaurant: bistro, Limit: 500})
	if err != nil || next != "" {
		g.t.Fatalf("Runs: %v, next %q", err, next)
	}
	return runs
}

func TestFinishedRunsAreKeptSmallAndBounded_S7(t *testing.T) {
	t.Parallel()
	const kept = 200
	g := newFixture(t, redistest.Start(t).URL(), func(d *menusync.Deps) { d.Config.Runs = kept })
	var made []string
	for range kept + 50 {
		made = append(made, g.manual().ID)
	}
	bytes, err := g.client.MemoryUsage(t.Context(), g.keys.RunLog(bistro)).Result()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records take %d bytes: %d each", kept, bytes, bytes/kept)
	if bytes/kept > maxRecord {
		t.Errorf("a record takes %d bytes, want at most %d", bytes/kept, maxRecord)
	}
	if open, err := g.client.HLen(t.Context(), g.keys.Runs(bistro)).Result(); err != nil || open != 0 {
		t.Errorf("%d records of finished runs are among those in progress (%v)", open, err)
	}

	slices.Reverse(made)
	if listed := g.pages(runlog.Filter{Restaurant: bistro, Limit: 7}); !slices.Equal(listed, made[:kept]) {
		t.Errorf("%d runs are listed, want the last %d, newest first, each once", len(listed), kept)
	}
	for _, at := range []int{0, kept / 2, kept - 1} {
		if run, err := g.FindRun(t.Context(), made[at]); err != nil || run.ID != made[at] {
			t.Errorf("run %d from the newest: %v", at, err)
		}
	}
	if _, err := g.FindRun(t.Context(), made[kept]); err == nil {
		t.Error("the oldest run is still stored")
	}
}

// Scheduled runs that found nothing changed share a record, in the order in which
// runs finished; it is found by each of their ids. All others have their own.
func TestUnchangedScheduledRunsAreFolded_S7(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		again := func(count int) (ids []string) {
			for range count {
				g.advance(2 * time.Minute)
				ids = append(ids, g.once().ID)
			}
			return ids
		}
		first := again(1)[0]
		before := again(3)
		byHand := g.manual().ID
		after := again(5)

		want := []string{after[4], byHand, before[2], first}
		for limit := 1; limit <= 5; limit++ {
			if got := g.pages(runlog.Filter{Restaurant: bistro, Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("%d a page: %v, want %v", limit, got, want)
			}
		}
		if got := g.pages(runlog.Filter{Limit: 2}); !slices.Equal(got, want) {
			t.Errorf("in the list of all restaurants: %v, want %v", got, want)
		}
		for _, fold := range [][]string{before, after} {
			for _, id := range fold {
				run, err := g.FindRun(t.Context(), id)
				if err != nil || run.ID != fold[len(fold)-1] || run.Folded == nil {
					t.Fatalf("run %s: %+v, %v, want the record of %v", id, run, err, fold)
				}
				if f := *run.Folded; f.Count != len(fold) || f.First != fold[0] ||
					run.StartedAt.Sub(f.FirstAt) != time.Duration(len(fold)-1)*2*time.Minute {
					t.Errorf("run %s has the fold %+v, want %v", id, f, fold)
				}
			}
		}
		for _, id := range []string{first, byHand} {
			if run, err := g.FindRun(t.Context(), id); err != nil || run.ID != id || run.Folded != nil {
				t.Errorf("run %s: %+v, %v", id, run, err)
			}
		}
	})
}

// A page that ends at the open fold is followed by the earlier records, even if the
// fold has been closed meanwhile.
func TestPagingContinuesAfterAFoldIsClosed(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redistest.Start(t).URL())
	first := g.once().ID
	g.once()
	fold := g.once().ID
	runs, next, err := g.Runs(t.Context(), runlog.Filter{Restaurant: bistro, Limit: 1})
	if err != nil || len(runs) != 1 || runs[0].ID != fold {
		t.Fatalf("the first page: %+v, %v", runs, err)
	}
	g.manual()
	runs, next, err = g.Runs(t.Context(), runlog.Filter{Restaurant: bistro, Limit: 1, Cursor: next})
	if err != nil || len(runs) != 1 || runs[0].ID != first || next != "" {
		t.Errorf("the second page: %+v, %q, %v, want run %s", runs, next, err, first)
	}
}

// Runs are not folded if they were requested, joined, forced or executed at startup.
// Runs that failed or published are not folded either.
func TestOtherRunsAreNotFolded(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redistest.Start(t).URL())
	g.once()
	var want []string
	add := func(run runlog.Run, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, run.ID)
	}
	for range 2 {
		add(g.manual(), nil)
		add(g.OnceOf(t.Context(), bistro, runlog.TriggerStartup))
		g.service.set(func(s *service) { s.err = &upstream.Error{Operation: upstream.OpMenu, Status: 502} })
		add(g.once(), nil)
		g.service.set(func(s *service) { s.err = nil })
		g.service.set(func(s *service) {
			s.hook = func(ctx context.Context) { // joined by a client without a name
				if run, err := g.Start(ctx, bistro, menusync.Request{}); err != nil || run.State != runlog.StateRunning {
					t.Errorf("Start: %+v, %v, want the run in flight", run, err)
				}
			}
		})
		add(g.once(), nil)
		g.service.set(func(s *service) { s.hook = nil })
	}
	slices.Reverse(want)
	runs := g.listed()
	for i, run := range runs[:len(runs)-1] {
		if i >= len(want) || run.ID != want[i] || run.Folded != nil {
			t.Fatalf("run %d of %d: %+v, want one record for each of %d", i, len(runs), run, len(want))
		}
	}
}

// A manual run waits while many others run. After that, it is the newest in the list
// and is found by its id.
func TestRunThatWaitedLongIsFound(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		waited := g.start(g.Instance, menusync.Request{By: "ops"})
		for range 20 {
			g.manual()
			g.once()
		}
		first, _, err := g.Runs(t.Context(), runlog.Filter{Restaurant: bistro, Limit: 1})
		if err != nil || len(first) != 1 || first[0].ID != waited.ID || first[0].State != runlog.StateQueued {
			t.Fatalf("the first of the list: %+v, %v, want the waiting run", first, err)
		}
		g.schedule(g.Instance)
		if run := g.wait(g.Instance, waited.ID); run.Outcome != runlog.OutcomeUnchanged {
			t.Fatalf("the run after its wait: %+v", run)
		}
		if run, err := g.FindRun(t.Context(), waited.ID); err != nil || run.ID != waited.ID || len(run.By) != 1 || run.By[0] != "ops" {
			t.Errorf("found by its id: %+v, %v", run, err)
		}
		for _, cursor := range []string{"nonsense", "0-0", "1-x"} {
			if runs, next, err := g.Runs(t.Context(), runlog.Filter{Restaurant: bistro, Cursor: cursor}); err != nil || len(runs) > 0 || next != "" {
				t.Errorf("cursor %q: %d runs, %v", cursor, len(runs), err)
			}
		}
	})
}

// Unreadable records, for example in an older format, are omitted.
func TestUnreadableRecordsAreOmitted(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redistest.Start(t).URL())
	for _, text := range []string{"", "{", "[]", "\x01\x00\x01\x00packed", `{"id":"7"}`, `{"id":"01KCF0000000000000000000AB","folded":{"count":2}}`} {
		if err := g.client.HSet(t.Context(), g.keys.Runs(bistro), "fold", text).Err(); err != nil {
			t.Fatal(err)
		}
		if runs := g.listed(); len(runs) != 0 {
			t.Errorf("%q in the hash was read as %+v", text, runs)
		}
		if err := g.client.XAdd(t.Context(), &redis.XAddArgs{Stream: g.keys.RunLog(bistro), Values: []string{"r", text}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.client.Del(t.Context(), g.keys.Runs(bistro)).Err(); err != nil {
		t.Fatal(err)
	}
	made := []string{g.manual().ID, g.once().ID}
	slices.Reverse(made)
	for limit := 1; limit <= 3; limit++ {
		if got := g.pages(runlog.Filter{Restaurant: bistro, Limit: limit}); !slices.Equal(got, made) {
			t.Errorf("%d a page: %v, want %v", limit, got, made)
		}
	}
	if _, err := g.FindRun(t.Context(), "01K"+strings.Repeat("0", 23)); err == nil {
		t.Error("an unknown run is found")
	}
}

func TestRunsArePagedFilteredAndBounded(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		const second menu.RestaurantID = "second"
		g := newFixture(t, url, func(d *menusync.Deps) {
			d.Config.Runs, d.Config.RunIndex = 5, 8
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: second, Connection: "main"}, Settings: menu.DefaultSettings()})
		})
		var ids []string
		for i := range 8 {
			g.advance(time.Second)
			id := bistro
			if i%2 == 1 {
				id = second
			}
			g.service.body = viewWith(10, 100+i, "") // each has a change
			if i >= 6 {
				g.service.err = errors.New("down")
			}
			run, err := g.OnceOf(t.Context(), id, runlog.TriggerCron)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		slices.Reverse(ids)
		if got := g.pages(runlog.Filter{Limit: 3}); !cmp.Equal(got, ids) {
			t.Errorf("all runs %v, want %v", got, ids)
		}
		if got := g.pages(runlog.Filter{Limit: 1, Outcome: runlog.OutcomeFailed}); !cmp.Equal(got, ids[:2]) {
			t.Errorf("failed runs %v, want %v", got, ids[:2])
		}
		if got := g.pages(runlog.Filter{Restaurant: second, Limit: 2}); !cmp.Equal(got, []string{ids[0], ids[2], ids[4], ids[6]}) {
			t.Errorf("runs of %s: %v of %v", second, got, ids)
		}
		for range 4 { // over the limits of both lists
			g.advance(time.Second)
			g.once() // fails, and has its own record
		}
		if got := g.pages(runlog.Filter{Restaurant: bistro}); len(got) != 5 {
			t.Errorf("%d records of a restaurant are kept, want 5", len(got))
		}
		// The list over all has eight entries, one of them without a record.
		if got := g.pages(runlog.Filter{}); len(got) != 7 {
			t.Errorf("%d runs in the list over all, want 7", len(got))
		}
		if run, err := g.FindRun(t.Context(), ids[6]); err != nil || run.Restaurant != second {
			t.Errorf("a run that is only in its restaurant's list: %+v, %v", run, err)
		}
	})
}

// pages collects the ids of all pages.
func (g *fixture) pages(f runlog.Filter) []string {
	g.t.Helper()
	var ids []string
	for range 100 {
		runs, next, err := g.Runs(g.t.Context(), f)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, run := range runs {
			ids = append(ids, run.ID)
		}
		if next == "" {
			return ids
		}
		f.Cursor = next
	}
	g.t.Fatal("the pages do not end")
	return nil
}
