package sync_test

import (
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// A failover may lose a lease with its fence, so that the next holder gets the same
// one. A menu that the first holder fetched before must not replace the version of
// the second one.
func TestOnlyOneHolderOfAFencePublishes_S2(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redistest.Start(t).URL())
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	gate := newGate()
	g.service.set(func(s *service) { s.body, s.hook = viewWith(10, 200, ""), gate.hook })
	done := make(chan runlog.Run, 1)
	go func() {
		run, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron)
		if err != nil {
			t.Error(err)
		}
		done <- run
	}()
	<-gate.entered // it has the menu with price 200
	for _, err := range []error{
		g.client.Del(t.Context(), g.keys.Lease(bistro)).Err(),
		g.client.HIncrBy(t.Context(), g.keys.Fence(bistro), "fence", -1).Err(),
		g.client.HDel(t.Context(), g.keys.Fence(bistro), "run").Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	g.service.set(func(s *service) { s.body, s.hook = viewWith(10, 300, ""), nil })
	other := g.another(func(d *menusync.Deps) { d.Replica = &fakeReplica{} })
	run, err := other.OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeUpdated, 2)
	close(gate.open)
	if first := <-done; first.Outcome != runlog.OutcomeFailed ||
		!strings.Contains(first.Error, "another instance has taken over this restaurant") {
		t.Errorf("the first holder ended %s, %q", first.Outcome, first.Error)
	}
	view, err := g.store.View(t.Context(), g.current())
	if err != nil {
		t.Fatal(err)
	}
	if v := g.current().Version; v != 2 || !strings.Contains(string(view.Content), `"price":300`) {
		t.Errorf("version %d is current, want 2 with the newer price", v)
	}
}

// An instance whose clock is set back by more than an interval syncs, even if Redis' clock stays (policy S11).
func TestAClockBehindThatOfRedisSyncs_S11(t *testing.T) {
	t.Parallel()
	for _, back := range []time.Duration{3 * time.Minute, time.Hour, 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redistest.Start(t).URL(), func(d *menusync.Deps) { d.Config.Schedule = "@every 2m" })
			g.advance(time.Since(g.clock())) // ticks are compared with the clock of Redis
			now := g.clock()
			for _, tick := range []struct {
				at    time.Time
				taken bool
			}{{now, false}, {now.Add(-2 * time.Minute), true}, {now.Add(-back), false}, {now.Add(2*time.Minute - back), false}} {
				run, err := g.OnceAt(t.Context(), bistro, tick.at)
				if got := run.Outcome == runlog.OutcomeSkipped; err != nil || got != tick.taken {
					t.Errorf("the tick %v after the first: %s, %v; want it skipped: %v", tick.at.Sub(now), run.Outcome, err, tick.taken)
				}
			}
		})
	}
}

// An instance whose clock was ahead takes no ticks from the others, and its
// confirmations do not count as fresh.
func TestAFastClockDoesNotStopOtherInstances(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.advance(time.Since(g.clock())) // ticks are compared with the clock of Redis
		at := func(replica *menusync.Instance, slot time.Time) runlog.Run {
			run, err := replica.OnceAt(t.Context(), bistro, slot)
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		now := g.clock()
		g.advance(20 * time.Hour)
		g.want(at(g.Instance, g.clock()), runlog.OutcomeUpdated, 1)
		g.advance(-20 * time.Hour)

		other := g.another(func(d *menusync.Deps) { d.Replica = &fakeReplica{} })
		g.want(at(other, now), runlog.OutcomeUnchanged, 1)
		if run := at(g.Instance, now); run.Outcome != runlog.OutcomeSkipped {
			t.Errorf("a tick that another instance took: %s", run.Outcome)
		}
		if checked := g.current().CheckedAt; checked.Sub(now).Abs() > cache.ClockSlack {
			t.Errorf("checked at %v, want about %v", checked, now)
		}
	})
}

// A tick that was taken before the clock of Redis and of larder was set back stops later ticks for at most one interval
// (policy S11).
func TestAStepBackDoesNotLeaveTicksTaken(t *testing.T) {
	t.Parallel()
	for schedule, taken := range map[string]bool{"@every 10s": false, "@every 2m": true} { // 40 s: more than an interval, and less
		t.Run(schedule, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redistest.Start(t).URL(), func(d *menusync.Deps) { d.Config.Schedule = schedule })
			now := time.Now()
			g.advance(now.Sub(g.clock()))
			if _, err := g.OnceAt(t.Context(), bistro, now.Add(40*time.Second)); err != nil { // as taken before the step
				t.Fatal(err)
			}
			run, err := g.OnceAt(t.Context(), bistro, now)
			if got := run.Outcome == runlog.OutcomeSkipped; err != nil || got != taken {
				t.Errorf("a tick 40 s before the last one taken: %s, %v; want it skipped: %v", run.Outcome, err, taken)
			}
		})
	}
}
