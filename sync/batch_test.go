package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// chain makes a fixture of n restaurants r0, r1, …, all of connection main except
// the last, which is of "other".
func chain(n int, source func(*service) menusync.Source) func(*menusync.Deps) {
	return func(d *menusync.Deps) {
		d.Restaurants = nil
		for i := range n {
			connection := "main"
			if i == n-1 {
				connection = "other"
			}
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{
				Restaurant: directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("r%d", i)), Connection: connection},
				Schedule:   "@every 24h", Settings: menu.DefaultSettings(),
			})
		}
		own, _ := d.Connections[0].Source.(*service)
		d.Connections = []menusync.Connection{{Name: "main", Source: source(own)}, {Name: "other", Source: source(own)}}
		d.Config.Schedule = "@every 24h"
		d.Clock = time.Now
	}
}

// plain returns the service unchanged.
func plain(s *service) menusync.Source { return s }

// but3 is the service without a menu of r3.
type but3 struct{ *service }

func (b but3) MenuView(ctx context.Context, restaurant string, seen upstream.Validator, most int64) (upstream.Menu, error) {
	if restaurant == "r3" {
		return upstream.Menu{}, &upstream.Error{Operation: upstream.OpMenu, Status: 502, Err: errors.New("no menu")}
	}
	return b.service.MenuView(ctx, restaurant, seen, most)
}

// batch waits until a batch is finished, as any instance reports it.
func (g *fixture) batch(r *menusync.Instance, id string) runlog.Batch {
	g.t.Helper()
	var b runlog.Batch
	eventually(g.t, "the batch is finished", func() bool {
		var err error
		if b, err = r.Batch(g.t.Context(), id); err != nil {
			g.t.Fatal(err)
		}
		return b.Finished() && !b.FinishedAt.IsZero()
	})
	return b
}

// progress is the data of NoticeProgress.
type progress struct {
	Batch  string `json:"batch"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	Total  int    `json:"total"`
}

// noticesUntil collects notices until one satisfies the condition.
func noticesUntil(t *testing.T, f *runlog.Follower, until func(runlog.Notice) bool) (all []runlog.Notice) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		notices, more := f.Next()
		for i, notice := range notices {
			if all = append(all, notice); until(notice) {
				if i != len(notices)-1 {
					all = append(all, notices[i+1:]...)
				}
				return all
			}
		}
		select {
		case <-more:
		case <-limit.C:
			t.Fatalf("no such notice within a minute; %d others", len(all))
		}
	}
}

func isReset(n runlog.Notice) bool { return n.Event == runlog.NoticeReset }

// A batch has a run for every restaurant. Every instance receives notices of each
// run and of the progress, and reports the same batch.
func TestBatch(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		const restaurants = 40
		g := newFixture(t, url, chain(restaurants, func(s *service) menusync.Source { return but3{s} }))
		other := g.another()
		g.schedule(g.Instance)
		g.schedule(other)
		for _, r := range []*menusync.Instance{g.Instance, other} {
			eventually(t, "nothing is left to catch up", func() bool {
				runs, _, err := r.Runs(t.Context(), runlog.Filter{Limit: 500})
				done := map[menu.RestaurantID]bool{}
				for _, run := range runs {
					if run.Finished() {
						done[run.Restaurant] = true
					}
				}
				return err == nil && len(done) == restaurants
			})
		}
		f := other.Follow()
		if first := noticesUntil(t, f, isReset); len(first) != 1 {
			t.Fatalf("before the reset: %+v", first)
		}
		started, err := g.StartBatch(t.Context(), runlog.Batch{By: "ops"})
		if err != nil {
			t.Fatal(err)
		}
		if started.Total != restaurants || started.Done != 0 || started.Finished() {
			t.Errorf("started: %+v", started)
		}
		// The nodes of a cluster deliver at different times: the last progress may
		// arrive before the last run's end.
		var last progress
		notified := map[menu.RestaurantID]bool{}
		notices := noticesUntil(t, f, func(n runlog.Notice) bool {
			var now progress
			switch {
			case n.Event == runlog.NoticeFinished:
				notified[n.Restaurant] = true
			case n.Event == runlog.NoticeProgress && json.Unmarshal(n.Data, &now) == nil && now.Done > last.Done:
				last = now
			}
			return last.Total > 0 && last.Done == last.Total && len(notified) == restaurants
		})
		if diff := cmp.Diff(progress{
			Batch:  started.ID,
			Done:   restaurants,
			Failed: 1,
			Total:  restaurants,
		}, last); diff != "" {
			t.Errorf("the last progress (-want +got):\n%s", diff)
		}
		begun, ended := map[menu.RestaurantID]bool{}, map[menu.RestaurantID]bool{}
		for _, n := range notices {
			var run runlog.Run
			switch n.Event {
			case runlog.NoticeStarted, runlog.NoticeFinished:
				if err := json.Unmarshal(n.Data, &run); err != nil || run.Restaurant != n.Restaurant {
					t.Fatalf("notice %+v: %v", n, err)
				}
				begun[run.Restaurant] = begun[run.Restaurant] || n.Event == runlog.NoticeStarted && run.State == runlog.StateRunning
				ended[run.Restaurant] = ended[run.Restaurant] || n.Event == runlog.NoticeFinished && run.Finished()
			case runlog.NoticeReset:
				t.Error("a second reset")
			}
		}
		if len(begun) != restaurants || len(ended) != restaurants {
			t.Errorf("notices of %d runs that began and %d that ended, want %d", len(begun), len(ended), restaurants)
		}
		b := g.batch(other, started.ID)
		want := map[runlog.Outcome]int{runlog.OutcomeUnchanged: restaurants - 1, runlog.OutcomeFailed: 1}
		if diff := cmp.Diff(want, b.Outcomes); diff != "" || b.Done != restaurants || b.Failed != 1 || b.By != "ops" {
			t.Errorf("finished %+v; outcomes (-want +got):\n%s", b, diff)
		}
		if len(b.Faults) != 1 || b.Faults[0].Restaurant != "r3" || b.Faults[0].Outcome != runlog.OutcomeFailed || b.Faults[0].By[0] != "ops" {
			t.Errorf("faults %+v, want the run of r3", b.Faults)
		}
		eventually(t, "no batch is open", func() bool { return g.client.ZCard(t.Context(), g.keys.Batches()).Val() == 0 })
		for _, key := range []string{g.keys.Batch(b.ID), g.keys.BatchFaults(b.ID)} {
			if life := g.client.PTTL(t.Context(), key).Val(); life <= 0 || life > 24*time.Hour {
				t.Errorf("the TTL of %s is %v, want at most a day", key, life)
			}
		}

		mine, err := g.StartBatch(t.Context(), runlog.Batch{Connection: "other", Force: true})
		if err != nil || mine.Total != 1 {
			t.Fatalf("a batch of one connection: %+v, %v", mine, err)
		}
		if b := g.batch(other, mine.ID); b.Outcomes[runlog.OutcomeUpdated] != 1 || !b.Force || b.Connection != "other" {
			t.Errorf("forced: %+v", b)
		}
		none, err := g.StartBatch(t.Context(), runlog.Batch{Connection: "nobody's"})
		if err != nil || none.Total != 0 || !none.Finished() {
			t.Errorf("a batch without restaurants: %+v, %v", none, err)
		}
		if _, err := g.Batch(t.Context(), "01K0000000000000000000000Z"); !errors.Is(err, runlog.ErrUnknownBatch) {
			t.Errorf("an unknown batch: %v", err)
		}
	})
}

// An instance finishes a batch that another instance left unfinished.
func TestABatchIsTakenOver(t *testing.T) {
	t.Parallel()
	const restaurants = 60
	g := newFixture(t, redistest.Start(t).URL(), chain(restaurants, plain), func(d *menusync.Deps) {
		d.Config.Lease = 5 * time.Second // a busy machine may not renew a shorter one in time
		d.Config.Concurrency = 2
	})
	other := g.another()
	gate, reached := make(chan struct{}), make(chan struct{}, restaurants)
	g.service.set(func(s *service) {
		s.hook = func(ctx context.Context) {
			reached <- struct{}{}
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
	})
	started, err := g.StartBatch(t.Context(), runlog.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	stop := g.schedule(g.Instance)
	<-reached
	stop()
	close(gate)
	g.service.set(func(s *service) { s.hook = nil })
	if b, err := g.Batch(t.Context(), started.ID); err != nil || b.Finished() {
		t.Fatalf("after the stop: %+v, %v, want some restaurants left", b, err)
	}
	// Its queued runs remain for 30 s after the instance; the test does not wait
	// for that.
	for _, restaurant := range g.deps.Restaurants {
		if err := g.client.Del(t.Context(), g.keys.Queue(restaurant.ID)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	g.schedule(other)
	if b := g.batch(g.Instance, started.ID); b.Done != restaurants || b.Failed != 0 {
		t.Errorf("after the takeover: %+v", b)
	}
}

// Instances share a batch: each restaurant is synced by one of them, and counted
// once.
func TestABatchIsShared(t *testing.T) {
	t.Parallel()
	const restaurants = 60
	g := newFixture(t, redistest.Start(t).URL(), chain(restaurants, plain), func(d *menusync.Deps) { d.Config.Concurrency = 2 })
	for _, restaurant := range g.deps.Restaurants {
		if _, err := g.OnceOf(t.Context(), restaurant.ID, runlog.TriggerCron); err != nil {
			t.Fatal(err)
		}
	}
	calls := g.service.count()
	g.service.set(func(s *service) { s.hook = func(context.Context) { time.Sleep(20 * time.Millisecond) } }) //testwaits:allow the service responds late
	one, two := &observer{}, &observer{}
	first := g.another(func(d *menusync.Deps) { d.Observer = one })
	second := g.another(func(d *menusync.Deps) { d.Observer = two })
	started, err := first.StartBatch(t.Context(), runlog.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	g.schedule(first)
	g.schedule(second)
	b := g.batch(first, started.ID)
	want := map[runlog.Outcome]int{runlog.OutcomeUnchanged: restaurants}
	if diff := cmp.Diff(want, b.Outcomes); diff != "" || b.Done != restaurants {
		t.Errorf("finished %+v; outcomes (-want +got):\n%s", b, diff)
	}
	if one.finished() == 0 || two.finished() == 0 {
		t.Errorf("the instances did %d and %d runs, want both to do some", one.finished(), two.finished())
	}
	// A restaurant may be synced twice if an instance requests it just after the
	// other has finished it.
	if runs := g.service.count() - calls; runs > restaurants+8 {
		t.Errorf("%d runs of %d restaurants", runs, restaurants)
	}
}

// Neither a batch nor its followers end when Redis goes down; followers get a
// reset.
func TestABatchContinuesAfterAnOutageOfRedis(t *testing.T) {
	t.Parallel()
	const restaurants = 80
	server := redistest.Start(t, redistest.AppendOnly())
	g := newFixture(t, server.URL(), chain(restaurants, plain), func(d *menusync.Deps) {
		d.Config.Concurrency = 2
		d.Config.Lease = time.Second
	})
	g.schedule(g.Instance)
	f := g.Follow()
	noticesUntil(t, f, isReset)
	started, err := g.StartBatch(t.Context(), runlog.Batch{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	noticesUntil(t, f, func(n runlog.Notice) bool { return n.Event == runlog.NoticeFinished })
	server.Stop()
	server.Restart()
	noticesUntil(t, f, isReset)
	var b runlog.Batch
	eventually(t, "the batch is finished", func() bool {
		b, err = g.Batch(t.Context(), started.ID)
		return err == nil && b.Finished()
	})
	if b.Done != restaurants {
		t.Errorf("after the outage of Redis: %+v", b)
	}
}

// A follower that falls too far behind gets a reset. It does not delay notices to
// others, and its queue does not grow any more.
func TestASlowFollowerGetsAReset(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.schedule(g.Instance)
	laggard, quick := g.Follow(), g.Follow()
	noticesUntil(t, laggard, isReset)
	noticesUntil(t, quick, isReset)
	const words = 10_000
	for n := range words {
		word := fmt.Sprintf(`sync.progress {"batch":"b","done":%d,"failed":0,"total":%d}`, n+1, words)
		if err := g.client.Publish(t.Context(), g.keys.RunNotices(), word).Err(); err != nil {
			t.Fatal(err)
		}
		for _, notice := range noticesUntil(t, quick, func(runlog.Notice) bool { return true }) {
			if isReset(notice) {
				t.Fatal("the fast follower got a reset")
			}
		}
	}
	if got := noticesUntil(t, laggard, func(runlog.Notice) bool { return true }); len(got) != 1 || !isReset(got[0]) {
		t.Errorf("the slow follower got %d notices, the first %+v, want one reset", len(got), got[0])
	}
	if rest, _ := laggard.Next(); len(rest) != 0 {
		t.Errorf("after the reset: %d more notices", len(rest))
	}
}

// A batch is rejected if too many batches are unfinished.
func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	for n := range 8 {
		if _, err := g.StartBatch(t.Context(), runlog.Batch{}); err != nil {
			t.Fatalf("batch %d: %v", n+1, err)
		}
	}
	if _, err := g.StartBatch(t.Context(), runlog.Batch{}); !errors.Is(err, runlog.ErrTooManyBatches) {
		t.Errorf("a batch above the limit: %v", err)
	}
	g.schedule(g.Instance)
	eventually(t, "all of them are done", func() bool { return g.client.ZCard(t.Context(), g.keys.Batches()).Val() == 0 })
}
