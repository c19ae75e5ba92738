package runlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/sync/runlog"
)

const bistro, grill menu.RestaurantID = "bistro", "grill"

// endScript finishes a run as the script of package sync does.
var endScript = redis.NewScript(runlog.AppendLua() + `
redis.call("DEL", KEYS[1])
appendrun(KEYS[2], KEYS[3])
return 1`)

// fixture is a Log on an embedded Redis.
type fixture struct {
	*runlog.Log
	t        *testing.T
	db       *redisdb.DB
	keys     cache.Keys
	now      time.Time
	orphaned []runlog.Run
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db, err := redisdb.Open(redisdb.Config{URL: redisdb.Embedded}, silentlog.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	g := &fixture{
		t:    t,
		db:   db,
		keys: cache.NewKeys(db.Prefix()),
		now:  time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	g.Log = runlog.New(runlog.Config{
		Keys:         cache.NewKeys(db.Prefix()),
		Redis:        db,
		Runs:         20,
		Index:        12,
		UnlistedRuns: 2,
		Unlisted:     func(id menu.RestaurantID) bool { return strings.HasPrefix(string(id), "@") },
		Restaurants:  func() []menu.RestaurantID { return []menu.RestaurantID{grill, bistro} },
		Orphaned:     func(run runlog.Run) { g.orphaned = append(g.orphaned, run) },
		Clock:        func() time.Time { return g.now },
		Log:          silentlog.New(),
	})
	return g
}

// begin writes a running run with its lease.
func (g *fixture) begin(restaurant menu.RestaurantID, why runlog.Trigger) runlog.Run {
	g.t.Helper()
	g.now = g.now.Add(time.Minute)
	run := runlog.Run{
		ID:         g.NewID(g.now),
		Restaurant: restaurant,
		Trigger:    why,
		State:      runlog.StateRunning,
		StartedAt:  g.now,
	}
	_, err := g.db.Client().Pipelined(g.t.Context(), func(pipe redis.Pipeliner) error {
		pipe.HSet(g.t.Context(), g.keys.Lease(restaurant), "run", run.ID)
		pipe.HSet(g.t.Context(), g.keys.Runs(restaurant), run.ID, run.JSON())
		g.AddToIndex(g.t.Context(), pipe, &run)
		return nil
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return run
}

// end finishes a run.
func (g *fixture) end(run runlog.Run, outcome runlog.Outcome) runlog.Run {
	g.t.Helper()
	run.State, run.Outcome, run.FinishedAt = runlog.StateFinished, outcome, run.StartedAt.Add(time.Second)
	err := endScript.Run(g.t.Context(), g.db.NoRetry(),
		[]string{g.keys.Lease(run.Restaurant), g.keys.Runs(run.Restaurant), g.keys.RunLog(run.Restaurant)},
		g.Ending(&run)...).Err()
	if err != nil {
		g.t.Fatal(err)
	}
	return run
}

// listed returns the ids of all pages, the newest first.
func (g *fixture) listed(f runlog.Filter) (ids []string) {
	g.t.Helper()
	for {
		runs, next, err := g.List(g.t.Context(), f)
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
}

func TestRunIsFoundRunningAndFinished(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	run := g.begin(bistro, runlog.TriggerManual)
	if err := g.db.Client().HSet(t.Context(), g.keys.Runs(bistro), run.ID+":by", "ops\nshop\nops").Err(); err != nil {
		t.Fatal(err)
	}
	run.By = []string{"ops", "shop"}
	for range 2 {
		for name, read := range map[string]func() (runlog.Run, error){
			"Get":    func() (runlog.Run, error) { return g.Get(t.Context(), bistro, run.ID) },
			"Find":   func() (runlog.Run, error) { return g.Find(t.Context(), run.ID) },
			"Stored": func() (runlog.Run, error) { return g.Stored(t.Context(), bistro, run.ID) },
		} {
			if got, err := read(); err != nil || !cmp.Equal(got, run) {
				t.Errorf("%s: %v\n%s", name, err, cmp.Diff(run, got))
			}
		}
		if ids := g.listed(runlog.Filter{}); !slices.Equal(ids, []string{run.ID}) {
			t.Errorf("List = %v", ids)
		}
		by := run.By
		run.By = nil
		run = g.end(run, runlog.OutcomeUpdated)
		run.By = by
	}
	if len(g.orphaned) != 0 {
		t.Errorf("ended as orphans: %v", g.orphaned)
	}
}

func TestScheduledUnchangedRunsAreFolded(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	var ids []string
	for range 3 {
		ids = append(ids, g.end(g.begin(bistro, runlog.TriggerCron), runlog.OutcomeUnchanged).ID)
	}
	byHand := g.end(g.begin(bistro, runlog.TriggerManual), runlog.OutcomeUnchanged).ID
	open := g.end(g.begin(bistro, runlog.TriggerCron), runlog.OutcomeUnchanged).ID
	want := []string{open, byHand, ids[2]}
	for _, f := range []runlog.Filter{{Restaurant: bistro, Limit: 1}, {Restaurant: bistro}, {Limit: 2}, {Outcome: runlog.OutcomeUnchanged}} {
		if got := g.listed(f); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", f, got, want)
		}
	}
	for _, id := range ids {
		run, err := g.Find(t.Context(), id)
		if err != nil || run.ID != ids[2] || run.Folded == nil || run.Folded.Count != 3 || run.Folded.First != ids[0] {
			t.Errorf("Find(%s) = %+v, %v, want the fold", id, run, err)
		}
	}
}

func TestListFiltersAndIsBounded(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	var failed, all []string
	for i := range 20 {
		restaurant, outcome := bistro, runlog.OutcomeUpdated
		if i%2 == 1 {
			restaurant, outcome = grill, runlog.OutcomeFailed
		}
		id := g.end(g.begin(restaurant, runlog.TriggerCron), outcome).ID
		if all = append(all, id); restaurant == grill {
			failed = append(failed, id)
		}
	}
	slices.Reverse(all)
	slices.Reverse(failed)
	if got := g.listed(runlog.Filter{Limit: 5}); !slices.Equal(got, all[:12]) {
		t.Errorf("the list of all restaurants: %v, want the latest of the index %v", got, all[:12])
	}
	if got := g.listed(runlog.Filter{Restaurant: grill, Limit: 3}); !slices.Equal(got, failed) {
		t.Errorf("the list of one restaurant: %v, want %v", got, failed)
	}
	if got := g.listed(runlog.Filter{Outcome: runlog.OutcomeFailed, Limit: 2}); !slices.Equal(got, failed[:6]) {
		t.Errorf("failed: %v, want %v", got, failed[:6])
	}
	if got := g.listed(runlog.Filter{Restaurant: grill, Cursor: "nonsense"}); len(got) != 0 {
		t.Errorf("after an invalid position: %v", got)
	}
	oldest := all[len(all)-1]
	if run, err := g.Find(t.Context(), oldest); err != nil || run.ID != oldest {
		t.Errorf("a run older than the index: %+v, %v", run, err)
	}
	for _, id := range []string{"", "nonsense", g.NewID(g.now)} {
		if _, err := g.Find(t.Context(), id); !errors.Is(err, runlog.ErrUnknownRun) {
			t.Errorf("Find(%q): %v", id, err)
		}
		if _, err := g.Get(t.Context(), bistro, id); !errors.Is(err, runlog.ErrUnknownRun) {
			t.Errorf("Get(%q): %v", id, err)
		}
	}
}

// The list of changes has the runs that were added to it, the newest first, of a period. Last returns the last run of each
// restaurant, and Requested the times of the latest ones.
func TestChangesOfAPeriod(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	var ids []string
	var times []time.Time
	for i := range 15 { // 12 are kept
		run := g.begin([]menu.RestaurantID{bistro, grill}[i%2], runlog.TriggerManual)
		run.From = int64(i)
		if err := g.AddChange(t.Context(), &run); err != nil {
			t.Fatal(err)
		}
		run = g.end(run, runlog.OutcomeUpdated)
		g.end(g.begin(bistro, runlog.TriggerManual), runlog.OutcomeUpdated) // of stop lists only
		ids, times = append(ids, run.ID), append(times, run.StartedAt)
	}
	list := func(from, to int) []string {
		want := slices.Clone(ids[from:to])
		slices.Reverse(want)
		return want
	}
	changed := runlog.Filter{Changed: true, Outcome: runlog.OutcomeUpdated, Limit: 2}
	if got := g.listed(changed); !slices.Equal(got, list(3, 15)) {
		t.Errorf("all changes: %v, want %v", got, list(3, 15))
	}
	changed.From, changed.To = times[5], times[10]
	if got := g.listed(changed); !slices.Equal(got, list(5, 10)) {
		t.Errorf("of a period: %v, want %v", got, list(5, 10))
	}
	if runs, _, err := g.List(t.Context(), changed); err != nil || runs[0].From != 9 || runs[0].Restaurant != grill {
		t.Errorf("the newest of the period: %+v, %v", runs, err)
	}
	last, err := g.Last(t.Context(), []menu.RestaurantID{grill, "none", bistro})
	if err != nil || last[0].ID != ids[13] || last[1].ID != "" || last[2].ID <= ids[14] || last[2].Outcome != runlog.OutcomeUpdated {
		t.Errorf("the last runs: %+v, %v", last, err)
	}
	requested, err := g.Requested(t.Context())
	if err != nil || !requested[grill].Equal(times[13]) || !requested[bistro].After(times[14]) || len(requested) != 2 {
		t.Errorf("requested: %v, %v", requested, err)
	}
}

// A stored run that cannot be read, or that has another id, is skipped. The others are still found.
func TestUnreadableUnfinishedRunIsSkipped(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	run := g.begin(bistro, runlog.TriggerManual)
	start, end := run.ID[:len(run.ID)-1], run.ID[len(run.ID)-1:]
	others := strings.ReplaceAll("0123", end, "") // never the run itself
	for i, text := range []string{"{", `{"id":"no id"}`, `{"id":"` + run.ID + `"}`} {
		id := start + others[i:i+1]
		if err := g.db.Client().HSet(t.Context(), g.keys.Runs(bistro), id, text).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := g.Find(t.Context(), id); err == nil {
			t.Errorf("Find(%s) = %+v for the record %s", id, got, text)
		}
	}
	if ids := g.listed(runlog.Filter{Restaurant: bistro, Limit: 10}); !slices.Equal(ids, []string{run.ID}) {
		t.Errorf("listed: %v, want only %s", ids, run.ID)
	}
}

// The first reader of a run without a lease finishes it, once.
func TestRunWithoutHolderIsEndedByItsReader(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	run := g.begin(bistro, runlog.TriggerManual)
	if err := g.db.Client().Del(t.Context(), g.keys.Lease(bistro)).Err(); err != nil {
		t.Fatal(err)
	}
	if stored, err := g.Stored(t.Context(), bistro, run.ID); err != nil || stored.Finished() {
		t.Errorf("Stored = %+v, %v, want the run as it is stored", stored, err)
	}
	for range 2 {
		got, err := g.Find(t.Context(), run.ID)
		if err != nil || got.Outcome != runlog.OutcomeFailed || got.Error != runlog.HolderLost {
			t.Errorf("Find = %+v, %v", got, err)
		}
	}
	if len(g.orphaned) != 1 || g.orphaned[0].ID != run.ID {
		t.Errorf("ended as orphans: %+v", g.orphaned)
	}
}

func TestUnlistedRunsNotifyNobody(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for id, kept := range map[menu.RestaurantID]int{bistro: 20, "@main/reasons": 2} {
		end := g.Ending(&runlog.Run{ID: g.NewID(g.now), Restaurant: id})
		if listed := id == bistro; end[2] != kept || (end[4] != "") != listed || end[4] != g.NoticeChannel(id) {
			t.Errorf("Ending of %s = %v", id, end)
		}
	}
}

func TestBatchCountsItsRestaurantsOnce(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	b, err := g.StartBatch(t.Context(), runlog.Batch{By: "ops", Force: true}, []menu.RestaurantID{bistro, grill})
	if err != nil || b.Total != 2 || b.Finished() {
		t.Fatalf("StartBatch = %+v, %v", b, err)
	}
	if ids, err := g.OpenBatches(t.Context()); err != nil || !slices.Equal(ids, []string{b.ID}) {
		t.Errorf("OpenBatches = %v, %v", ids, err)
	}
	if pending, err := g.Pending(t.Context(), b.ID); err != nil || len(pending) != 2 {
		t.Errorf("Pending = %v, %v", pending, err)
	}
	fault := g.end(g.begin(grill, runlog.TriggerManual), runlog.OutcomeFailed)
	for i, run := range []runlog.Run{fault, fault, {Restaurant: bistro, Outcome: runlog.OutcomeUpdated}} {
		if err := g.CountDone(t.Context(), b, run); err != nil {
			t.Errorf("count %d: %v", i, err)
		}
		now, err := g.Batch(t.Context(), b.ID)
		if ended := i == 2; err != nil || now.Finished() != ended || now.FinishedAt.IsZero() == ended {
			t.Errorf("after count %d: %+v, %v", i, now, err)
		}
		if still, err := g.IsPending(t.Context(), b.ID, bistro); err != nil || still != (i < 2) {
			t.Errorf("after count %d: pending %v, %v", i, still, err)
		}
	}
	got, err := g.Batch(t.Context(), b.ID)
	b.Done, b.Failed, b.FinishedAt, b.Faults = 2, 1, g.now, []runlog.Run{fault}
	b.Outcomes = map[runlog.Outcome]int{runlog.OutcomeUpdated: 1, runlog.OutcomeFailed: 1}
	if diff := cmp.Diff(b, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("Batch: %v\n%s", err, diff)
	}
	for _, want := range []bool{true, false} {
		if closed, err := g.CloseBatch(t.Context(), b.ID); err != nil || closed != want {
			t.Errorf("CloseBatch = %v, %v", closed, err)
		}
	}
}

func TestOpenBatchesAreBounded(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	if none, err := g.StartBatch(t.Context(), runlog.Batch{}, nil); err != nil || !none.Finished() {
		t.Errorf("a batch without restaurants: %+v, %v", none, err)
	}
	var err error
	started := 0
	for ; err == nil && started < 100; started++ {
		_, err = g.StartBatch(t.Context(), runlog.Batch{}, []menu.RestaurantID{bistro})
	}
	if started != 9 || !errors.Is(err, runlog.ErrTooManyBatches) {
		t.Errorf("batch %d: %v", started, err)
	}
	for _, id := range []string{"nonsense", g.NewID(g.now)} {
		if _, err := g.Batch(t.Context(), id); !errors.Is(err, runlog.ErrUnknownBatch) {
			t.Errorf("Batch(%q): %v", id, err)
		}
	}
}

func TestFollowersGetEveryNoticeOrAReset(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error { g.ReceiveNotices(ctx); return nil })
	defer func() { stop(); _ = group.Wait() }()
	follower := g.Follow()
	next := func() []runlog.Notice {
		t.Helper()
		for {
			notices, more := follower.Next()
			if len(notices) > 0 {
				return notices
			}
			select {
			case <-more:
			case <-time.After(10 * time.Second):
				t.Fatal("no notice")
			}
		}
	}
	if first := next(); len(first) != 1 || first[0].Event != runlog.NoticeReset {
		t.Fatalf("first: %+v", first)
	}
	if err := g.db.Client().Publish(ctx, g.keys.RunNotices(), "nonsense").Err(); err != nil {
		t.Fatal(err)
	}
	g.end(g.begin(bistro, runlog.TriggerCron), runlog.OutcomeUpdated)
	if got := next(); got[0].Event != runlog.NoticeFinished || got[0].Restaurant != bistro {
		t.Errorf("after a run: %+v", got)
	}
	for i := range 5000 {
		payload := fmt.Sprintf(`%s {"batch":"%d","connection":"main"}`, runlog.NoticeProgress, i)
		if err := g.db.Client().Publish(ctx, g.keys.RunNotices(), payload).Err(); err != nil {
			t.Fatal(err)
		}
	}
	behind := g.Follow()
	for { // to the end, unless the follower was too far behind
		notices := next()
		last := notices[len(notices)-1]
		if last.Event == runlog.NoticeReset || strings.Contains(string(last.Data), `"4999"`) {
			break
		}
	}
	if notices, _ := behind.Next(); len(notices) != 1 || notices[0].Event != runlog.NoticeReset {
		t.Errorf("a new follower: %d notices", len(notices))
	}
}

func TestUnreachableRedisIsReported(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	b, err := g.StartBatch(t.Context(), runlog.Batch{}, []menu.RestaurantID{bistro})
	if err != nil {
		t.Fatal(err)
	}
	id := g.NewID(g.now)
	if err := g.db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"List": func(ctx context.Context) error { _, _, err := g.List(ctx, runlog.Filter{}); return err },
		"List one": func(ctx context.Context) error {
			_, _, err := g.List(ctx, runlog.Filter{Restaurant: bistro})
			return err
		},
		"Find":       func(ctx context.Context) error { _, err := g.Find(ctx, id); return err },
		"Get":        func(ctx context.Context) error { _, err := g.Get(ctx, bistro, id); return err },
		"Stored":     func(ctx context.Context) error { _, err := g.Stored(ctx, bistro, id); return err },
		"StartBatch": func(ctx context.Context) error { _, err := g.StartBatch(ctx, runlog.Batch{}, nil); return err },
		"Batch":      func(ctx context.Context) error { _, err := g.Batch(ctx, b.ID); return err },
		"IsPending":  func(ctx context.Context) error { _, err := g.IsPending(ctx, b.ID, bistro); return err },
		"CountDone":  func(ctx context.Context) error { return g.CountDone(ctx, b, runlog.Run{Restaurant: bistro}) },
	} {
		if err := call(t.Context()); !errors.Is(err, redisdb.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := call(ended); !errors.Is(err, context.Canceled) || errors.Is(err, redisdb.ErrUnavailable) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
}
