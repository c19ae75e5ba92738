package sync_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// gate blocks every menu request until it is opened.
type gate struct{ entered, open chan struct{} }

func newGate() gate { return gate{entered: make(chan struct{}, 16), open: make(chan struct{})} }

func (g gate) hook(ctx context.Context) {
	g.entered <- struct{}{}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}

func (g *fixture) start(r *menusync.Instance, req menusync.Request) runlog.Run {
	g.t.Helper()
	run, err := r.Start(g.t.Context(), bistro, req)
	if err != nil {
		g.t.Fatalf("Start: %v", err)
	}
	return run
}

func (g *fixture) wait(r *menusync.Instance, id string) runlog.Run {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	run, err := r.Wait(ctx, bistro, id)
	if err != nil {
		g.t.Fatalf("Wait: %v", err)
	}
	return run
}

func TestManualRunIsFollowedOnAnyInstance(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.want(g.once(), runlog.OutcomeUpdated, 1) // nothing to catch up
		other := g.another()
		queued := g.start(g.Instance, menusync.Request{By: "ops"})
		if queued.State != runlog.StateQueued || queued.Trigger != runlog.TriggerManual {
			t.Errorf("Start = %+v, want a queued manual run", queued)
		}
		if joined := g.start(other, menusync.Request{By: "shop"}); joined.ID != queued.ID {
			t.Errorf("a second request queued %s, want it to join %s", joined.ID, queued.ID)
		}
		g.schedule(g.Instance)
		for _, r := range []*menusync.Instance{g.Instance, other} {
			run := g.wait(r, queued.ID)
			g.want(run, runlog.OutcomeUnchanged, 1)
			if !cmp.Equal(run.By, []string{"ops", "shop"}) {
				t.Errorf("requested by %q, want both clients", run.By)
			}
		}
	})
}

func TestPlainRequestJoinsTheRunInFlight(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		gate := newGate()
		g.service.hook = gate.hook
		g.schedule(g.Instance) // catches up at its start
		<-gate.entered
		joined := g.start(g.another(), menusync.Request{By: "ops\nroot" + strings.Repeat("é", 80)})
		if joined.State != runlog.StateRunning || joined.Trigger != runlog.TriggerStartup {
			t.Errorf("joined %+v, want the startup run in flight", joined)
		}
		if g.start(g.Instance, menusync.Request{}).ID != joined.ID {
			t.Error("another plain request did not join")
		}
		close(gate.open)
		run := g.wait(g.Instance, joined.ID)
		g.want(run, runlog.OutcomeUpdated, 1)
		if len(run.By) != 1 || !strings.HasPrefix(run.By[0], "ops root") || len(run.By[0]) > 100 {
			t.Errorf("by %q, want one sanitized name", run.By)
		}
		if g.service.count() != 1 {
			t.Errorf("%d menu requests, want 1", g.service.count())
		}
	})
}

func TestForcedRequestDuringAPlainRunQueuesOneMore(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		gate := newGate()
		g.service.hook = gate.hook
		g.schedule(g.Instance)
		<-gate.entered
		forced := g.start(g.Instance, menusync.Request{By: "ops", Force: true})
		if forced.State != runlog.StateQueued || !forced.Force {
			t.Errorf("forced request during a plain run: %+v, want a queued one", forced)
		}
		if again := g.start(g.Instance, menusync.Request{Force: true}); again.ID != forced.ID {
			t.Error("a second forced request queued yet another run")
		}
		if err := g.RefreshQueued(t.Context()); err != nil {
			t.Errorf("RefreshQueued: %v", err)
		}
		close(gate.open)
		g.want(g.wait(g.Instance, forced.ID), runlog.OutcomeUpdated, 2) // the same menu, published again
		runs, _, err := g.Runs(t.Context(), runlog.Filter{Restaurant: bistro})
		if err != nil || len(runs) != 2 {
			t.Errorf("%d runs, %v, want the plain and the forced one", len(runs), err)
		}
	})
}

func TestForceUpgradesAQueuedRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.service.body = view(0)
	plain := g.start(g.Instance, menusync.Request{By: "a"})
	if forced := g.start(g.Instance, menusync.Request{By: "b", Force: true}); forced.ID != plain.ID {
		t.Fatal("a forced request beside a queued run did not join it")
	}
	g.schedule(g.Instance)
	run := g.wait(g.Instance, plain.ID)
	g.want(run, runlog.OutcomeUpdated, 2) // the menu is empty, but the run is forced
	if !run.Force || g.current().Counts.Products != 0 {
		t.Errorf("run %+v, want it forced past the guard", run)
	}
}

func TestHolderLost(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		gate := newGate()
		g.service.hook = gate.hook
		type result struct {
			run runlog.Run
			err error
		}
		done := make(chan result, 1)
		go func() {
			run, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron)
			done <- result{run, err}
		}()
		<-gate.entered
		runs, _, err := g.Runs(t.Context(), runlog.Filter{Restaurant: bistro})
		if err != nil || len(runs) != 1 || runs[0].State != runlog.StateRunning {
			t.Fatalf("runs %+v, %v, want one running", runs, err)
		}
		id := runs[0].ID
		if err := g.client.Del(t.Context(), g.keys.Lease(bistro)).Err(); err != nil { // as if it had expired
			t.Fatal(err)
		}
		run := g.wait(g.another(), id)
		g.want(run, runlog.OutcomeFailed, 0)
		if run.Error != "holder lost" {
			t.Errorf("error %q, want holder lost", run.Error)
		}
		close(gate.open)
		if got := <-done; got.err != nil {
			t.Errorf("OnceOf: %v", got.err)
		}
		kept, err := g.FindRun(t.Context(), id)
		if err != nil || kept.Error != "holder lost" {
			t.Errorf("record %+v, %v: want it to stay holder lost", kept, err)
		}
	})
}

func TestNextRunEndsTheRecordOfAVanishedHolder(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	gate := newGate()
	g.service.hook = gate.hook
	done := make(chan error, 1)
	go func() {
		_, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron)
		done <- err
	}()
	<-gate.entered
	if err := g.client.Del(t.Context(), g.keys.Lease(bistro)).Err(); err != nil {
		t.Fatal(err)
	}
	g.service.set(func(s *service) { s.hook = nil })
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	runs, _, err := g.Runs(t.Context(), runlog.Filter{Outcome: runlog.OutcomeFailed})
	if err != nil || len(runs) != 1 || runs[0].Error != "holder lost" {
		t.Errorf("failed runs %+v, %v, want the one whose holder vanished", runs, err)
	}
	close(gate.open)
	if err := <-done; err != nil { // the late one is fenced off
		t.Errorf("OnceOf: %v", err)
	}
	if version := g.current(); version.Version != 1 {
		t.Errorf("version %d: the late holder published", version.Version)
	}
}

func TestLostLeaseEndsTheRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Config.Lease = 150 * time.Millisecond })
	g.service.hook = func(ctx context.Context) {
		if err := g.client.Del(ctx, g.keys.Lease(bistro)).Err(); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
	}
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "the lease was lost") {
		t.Errorf("error %q does not mention the lost lease", run.Error)
	}
}

func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second // a busy machine may not renew a shorter one in time
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Config.Lease = lease })
	g.service.hook = func(ctx context.Context) {
		key := g.keys.Lease(bistro)
		if err := g.client.PExpire(ctx, key, time.Minute).Err(); err != nil {
			t.Error(err)
		}
		eventually(t, "the lease is renewed", func() bool {
			return g.client.PTTL(ctx, key).Val() <= lease
		})
	}
	g.want(g.once(), runlog.OutcomeUpdated, 1)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	queued := g.start(g.Instance, menusync.Request{})
	var run runlog.Run
	var err error
	for limit := 50 * time.Millisecond; run.ID == "" && limit < time.Minute; limit *= 2 { // on a busy machine, ctx may end before the first read
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		run, err = g.Wait(ctx, bistro, queued.ID)
		cancel()
	}
	if !errors.Is(err, context.DeadlineExceeded) || run.State != runlog.StateQueued {
		t.Errorf("Wait = %+v, %v, want the queued run and the context's error", run, err)
	}
	for _, id := range []string{"", "nonsense", "01HZX0000000000000000000AB"} {
		if _, err := g.FindRun(t.Context(), id); !errors.Is(err, runlog.ErrUnknownRun) {
			t.Errorf("Run(%q) = %v, want ErrUnknownRun", id, err)
		}
		if _, err := g.Wait(t.Context(), bistro, id); !errors.Is(err, runlog.ErrUnknownRun) {
			t.Errorf("Wait(%q) = %v, want ErrUnknownRun", id, err)
		}
	}
}

func TestOneTickIsRunByOneInstance_S2(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		slot := g.clock()
		run, err := g.OnceAt(t.Context(), bistro, slot)
		if err != nil {
			t.Fatal(err)
		}
		g.want(run, runlog.OutcomeUpdated, 1)
		run, err = g.another().OnceAt(t.Context(), bistro, slot)
		if err != nil || run.Outcome != runlog.OutcomeSkipped {
			t.Errorf("the same tick on another instance: %+v, %v, want skipped", run, err)
		}
		if run, err = g.OnceAt(t.Context(), bistro, slot.Add(2*time.Minute)); err != nil || run.Outcome != runlog.OutcomeUnchanged {
			t.Errorf("the next tick: %+v, %v, want unchanged", run, err)
		}
		if g.service.count() != 2 || g.observer.skips(menusync.SkipTaken) != 1 {
			t.Errorf("%d menu requests, %d skipped, want 2 and 1", g.service.count(), g.observer.skips(menusync.SkipTaken))
		}
		runs, _, err := g.Runs(t.Context(), runlog.Filter{})
		if err != nil || len(runs) != 2 {
			t.Errorf("%d records, %v: a skipped tick must leave none", len(runs), err)
		}
	})
}

func TestBusyTickIsSkippedAndCounted_S1(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	gate := newGate()
	g.service.hook = gate.hook
	done := make(chan error, 1)
	go func() {
		_, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron)
		done <- err
	}()
	<-gate.entered
	run, err := g.another().OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil || run.Outcome != runlog.OutcomeSkipped {
		t.Errorf("OnceOf beside a run = %+v, %v, want skipped", run, err)
	}
	// A manual run is tried repeatedly; that is not a tick of a schedule.
	if _, err := g.another().OnceOf(t.Context(), bistro, runlog.TriggerManual); err != nil {
		t.Error(err)
	}
	close(gate.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := g.observer.skips(menusync.SkipBusy); n != 1 {
		t.Errorf("%d busy ticks counted, want 1", n)
	}
}

// lossy loses the response to the next command with the key, like a connection that
// breaks after the command was executed.
type lossy struct {
	key   string
	armed atomic.Bool
}

func (*lossy) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*lossy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l *lossy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err == nil && slices.Contains(cmd.Args(), any(l.key)) && l.armed.CompareAndSwap(true, false) {
			err = io.ErrUnexpectedEOF
			cmd.SetErr(err)
		}
		return err
	}
}

// Redis queues a run, and the responses to two requests are lost. The process that
// requested the run executes it after the next request. Until then, no instance
// reports the run as lost.
func TestAQueuedRunWithALostResponseIsExecuted(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.want(g.once(), runlog.OutcomeUpdated, 1)
		loss := &lossy{key: g.keys.Queue(bistro)}
		g.redis.NoRetry().AddHook(loss)
		for range 2 {
			loss.armed.Store(true)
			if _, err := g.Start(t.Context(), bistro, menusync.Request{By: "first"}); !errors.Is(err, redisdb.ErrUnavailable) {
				t.Fatalf("Start = %v, want ErrUnavailable", err)
			}
		}
		again := g.start(g.Instance, menusync.Request{By: "second"})
		g.schedule(g.Instance)
		run := g.wait(g.Instance, again.ID)
		g.want(run, runlog.OutcomeUnchanged, 1)
		if want := []string{"first", "second"}; !cmp.Equal(run.By, want) {
			t.Errorf("requested by %q, want %q", run.By, want)
		}
	})
}
