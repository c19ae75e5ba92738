package sync_test

import (
	"context"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/sync/runlog"
)

// publish publishes during a run, with the same or a later lease.
func (g *fixture) publish(ctx context.Context, fence, base int64, body []byte) {
	view, published, err := menu.DecodePublished(body)
	if err != nil {
		g.t.Error(err)
		return
	}
	_, err = g.store.Publish(ctx, cache.Publication{
		Restaurant: bistro,
		Name:       "Larder Bistro",
		Fence:      fence,
		Base:       base,
		Published:  published,
		Catalogue:  menu.Compile(view, bistro, menu.DefaultSettings()),
		SyncedAt:   g.clock(),
	})
	if err != nil {
		g.t.Errorf("Publish: %v", err)
	}
}

func TestAVersionPublishedDuringARunIsComparedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile []byte
		outcome   runlog.Outcome
		version   int64
	}{
		"another menu":  {view(12), runlog.OutcomeUpdated, 3},
		"the same menu": {view(11), runlog.OutcomeUnchanged, 2},
		"a larger menu": {view(30), runlog.OutcomeQuarantined, 2}, // 11 of 30 dishes are fewer than half
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			g.service.set(func(s *service) { s.body = view(11) })
			g.deps.Replica = &peekHook{fakeReplica: g.replica, hook: func() { g.publish(t.Context(), 2, 1, c.meanwhile) }}
			run, err := g.another().OnceOf(t.Context(), bistro, runlog.TriggerCron)
			if err != nil {
				t.Fatal(err)
			}
			g.want(run, c.outcome, c.version)
		})
	}
}

// peekHook calls its hook when a run reads the replica for the second time, after
// it has read the current version.
type peekHook struct {
	*fakeReplica
	reads int
	hook  func()
}

func (p *peekHook) Cached(id menu.RestaurantID) (*cache.Snapshot, bool) {
	if p.reads++; p.reads == 2 {
		p.hook()
	}
	return p.fakeReplica.Cached(id)
}

func TestALaterLeaseFencesOffARun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.service.hook = func(ctx context.Context) {
		if err := g.client.HIncrBy(ctx, g.keys.Fence(bistro), "fence", 1).Err(); err != nil {
			t.Error(err)
		}
	}
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if want := "another instance has taken over this restaurant"; !strings.Contains(run.Error, want) {
		t.Errorf("error %q does not contain %q", run.Error, want)
	}
}
