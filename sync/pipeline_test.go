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

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

func TestFirstSyncIsPublished(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		run := g.once()
		g.want(run, runlog.OutcomeUpdated, 1)
		if run.Products != 10 || run.Bytes != len(view(10)) || run.Changes.Added != 10 || run.Error != "" {
			t.Errorf("run %+v, want 10 products added", run)
		}
		s := run.Steps
		if s.Fetch <= 0 || s.Decode <= 0 || s.Lint <= 0 || s.Compile <= 0 || s.Publish <= 0 {
			t.Errorf("steps %+v, want each timed", s)
		}
		version := g.current()
		if version.Name != "Larder Bistro" || version.Counts.Products != 10 || version.LastOutcome != "updated" {
			t.Errorf("current %+v", version)
		}
		if snapshot, ok := g.replica.Cached(bistro); !ok || snapshot.Version.Version != 1 || snapshot.Catalogue == nil {
			t.Error("the replica did not get the published version")
		}
		stored, err := g.FindRun(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, stored); diff != "" {
			t.Errorf("record (-run +record):\n%s", diff)
		}
		if g.observer.finished() != 1 {
			t.Errorf("the observer was called %d times", g.observer.finished())
		}
	})
}

func TestUnchangedMovesOnlyCheckedAt_S3(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		etag   string
		second []byte
		decode bool // the second fetch had to be decoded
	}{
		"equal bytes":       {"", view(10), false},
		"not modified":      {`"v1"`, view(10), false},
		"other white space": {"", append([]byte(" \n"), view(10)...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			g.service.etag = c.etag
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			before := g.current()
			g.advance(2 * time.Minute)
			g.service.set(func(s *service) { s.body = c.second })

			run := g.once()
			g.want(run, runlog.OutcomeUnchanged, 1)
			if (run.Steps.Decode > 0) != c.decode {
				t.Errorf("decoded in %v ms, want decoded = %v", run.Steps.Decode, c.decode)
			}
			if run.Products != 10 || (c.etag == "") != (run.Bytes > 0) {
				t.Errorf("run %+v", run)
			}
			after := g.current()
			if !after.CheckedAt.Equal(g.clock()) || !after.SyncedAt.Equal(before.SyncedAt) || after.Version != 1 {
				t.Errorf("current %+v, want only checkedAt moved to %v", after, g.clock())
			}
			if got := g.service.seen[1].ETag; got != c.etag {
				t.Errorf("second request sent validator %q, want %q", got, c.etag)
			}
			g.advance(2 * time.Minute)
			third := g.once()
			g.want(third, runlog.OutcomeUnchanged, 1)
			if third.Steps.Decode > 0 {
				t.Error("a body seen before was decoded again")
			}
		})
	}
}

func TestChangesAreCounted(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	first := g.current().Content

	g.service.set(func(s *service) { s.body = viewWith(10, 100, string(bistro)) })
	run := g.once()
	g.want(run, runlog.OutcomeUpdated, 2)
	if want := (runlog.Changes{Changed: 1}); run.Changes != want {
		t.Errorf("a stopped dish: changes %+v, want %+v", run.Changes, want)
	}
	if version := g.current(); version.Content != first || version.Counts.Available != 9 {
		t.Errorf("a stopped dish: %+v, want the same content with another overlay", version)
	}
	g.service.set(func(s *service) { s.body = viewWith(9, 150, "") })
	run = g.once()
	g.want(run, runlog.OutcomeUpdated, 3)
	if want := (runlog.Changes{Changed: 1, Removed: 1}); run.Changes != want {
		t.Errorf("changes %+v, want %+v", run.Changes, want)
	}

	other := g.another(func(d *menusync.Deps) { d.Replica = &fakeReplica{} }) // has nothing in memory
	g.service.set(func(s *service) { s.body = view(11) })
	run, err := other.OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeUpdated, 4)
	if want := (runlog.Changes{Added: 2, Changed: 1}); run.Changes != want {
		t.Errorf("changes seen from Redis %+v, want %+v", run.Changes, want)
	}
}

func TestEqualBytesAreNotEnough(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*menusync.Deps){
		"other settings": func(d *menusync.Deps) {
			d.Restaurants[0].Settings.MaxZeroNone = true
		},
		"another name": func(d *menusync.Deps) { d.Restaurants[0].Name = "Bistro" },
		"a replica that served a higher version": func(d *menusync.Deps) {
			held := &fakeReplica{}
			held.Install(&cache.Snapshot{
				Version:   cache.Version{Restaurant: bistro, Version: 41},
				Catalogue: menu.Compile(&menu.View{}, bistro, menu.DefaultSettings()),
			})
			d.Replica = held
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			g.service.etag = `"v1"`
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			next := int64(2)
			if strings.Contains(name, "higher") {
				next = 42
			}
			restaurants := slices.Clone(g.deps.Restaurants)
			other := g.readLater(func(d *menusync.Deps) {
				d.Restaurants = restaurants
				change(d)
			}, next)
			g.want(runOn(t, other), runlog.OutcomeUnchanged, next)
		})
	}
}

// What Redis has of a menu does not verify, and no memory has it: the next sync of an unchanged menu writes it again.
func TestADamagedContentIsWrittenAgain_S2a(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.service.etag = `"v1"`
		g.want(g.once(), runlog.OutcomeUpdated, 1)
		ctx, key := t.Context(), g.keys.ContentBody(g.current().Content)
		for _, c := range []struct {
			name    string
			damage  redis.Cmder
			outcome runlog.Outcome
		}{
			{"the view", redis.NewCmd(ctx, "hset", key, "view", "garbage"), runlog.OutcomeUnchanged},
			{"the settings", redis.NewCmd(ctx, "hset", key, "settings", "{"), runlog.OutcomeUnchanged},
			{"the type", redis.NewCmd(ctx, "set", key, "garbage"), runlog.OutcomeUnchanged},
			{"the version", redis.NewCmd(ctx, "hset", g.keys.Current(bistro), "version", "x", "record", "y"), runlog.OutcomeUpdated},
		} {
			if err := g.client.Process(ctx, c.damage); err != nil {
				t.Fatal(err)
			}
			g.replica.held = nil
			if run := g.once(); run.Outcome != c.outcome {
				t.Errorf("%s: the sync ended %s (%s), want %s", c.name, run.Outcome, run.Error, c.outcome)
			}
			if _, err := g.store.Content(ctx, g.current().Content, nil); err != nil {
				t.Errorf("%s: the content cannot be read: %v", c.name, err)
			}
			if _, ok := g.replica.Cached(bistro); !ok {
				t.Errorf("%s: the menu is not in memory", c.name)
			}
		}
		if err := g.client.HSet(ctx, key, "view", "garbage").Err(); err != nil {
			t.Fatal(err)
		}
		g.replica.held = nil
		g.schedule(g.Instance)
		run := g.start(g.Instance, menusync.Request{Force: true})
		if run = g.wait(g.Instance, run.ID); run.Outcome != runlog.OutcomeUpdated {
			t.Errorf("a forced sync ended %s (%s)", run.Outcome, run.Error)
		}
		if _, err := g.store.Content(ctx, g.current().Content, nil); err != nil {
			t.Errorf("a forced sync: the content cannot be read: %v", err)
		}
	})
}

// A content was deleted: the next sync writes it again, without a new version,
// although nothing changed.
func TestALostContentIsWrittenAgain(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.service.etag = `"v1"`
		g.want(g.once(), runlog.OutcomeUpdated, 1)
		key := g.keys.ContentBody(g.current().Content)
		stored := g.client.HMGet(t.Context(), key, "view", "settings").Val()
		for _, outcome := range []runlog.Outcome{runlog.OutcomeUnchanged, runlog.OutcomeUnchanged} {
			if err := g.client.Del(t.Context(), key).Err(); err != nil {
				t.Fatal(err)
			}
			g.want(g.once(), outcome, 1)
			if got := g.client.HMGet(t.Context(), key, "view", "settings").Val(); !slices.Equal(got, stored) || got[0] == nil {
				t.Fatalf("the content is %.40v, want it as it was", got)
			}
		}
		if _, err := g.store.Content(t.Context(), g.current().Content, nil); err != nil {
			t.Errorf("the content cannot be read: %v", err)
		}
	})
}

func TestGuardQuarantines(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.service.body = view(0)
	g.want(g.once(), runlog.OutcomeQuarantined, 0)
	if _, err := g.store.Current(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
		t.Errorf("Current after an empty first menu: %v, want ErrNoCatalogue", err)
	}
	g.service.body = view(10)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	for range 2 {
		g.service.set(func(s *service) { s.body = view(4) })
		run := g.once()
		g.want(run, runlog.OutcomeQuarantined, 1)
		if !strings.Contains(run.Error, "6 of 10 dishes are gone") {
			t.Errorf("error %q does not describe the loss", run.Error)
		}
		if version := g.current(); version.Counts.Products != 10 || version.LastOutcome != "quarantined" {
			t.Errorf("current %+v, want the last good menu", version)
		}
	}
	g.service.set(func(s *service) { s.body = view(5) })
	g.want(g.once(), runlog.OutcomeUpdated, 2)
}

// If Redis has lost its data, the next menu is not treated as the first one, because
// the last good menu is still in memory.
func TestGuardComparesWithTheMenuInMemory(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	if err := g.client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	g.service.set(func(s *service) { s.body = view(4) })
	run := g.once()
	g.want(run, runlog.OutcomeQuarantined, 0)
	if !strings.Contains(run.Error, "6 of 10 dishes are gone") {
		t.Errorf("error %q does not describe the loss", run.Error)
	}
	g.service.set(func(s *service) { s.body = view(9) })
	g.want(g.once(), runlog.OutcomeUpdated, 2)
}

func TestFailureKeepsTheLastGoodMenu(t *testing.T) {
	t.Parallel()
	refused := &upstream.Error{
		Operation: upstream.OpMenu,
		Status:    503,
		Code:      "busy",
		Msg:       "come back later",
		RequestID: "q-1",
		Err:       errors.New("four tries"),
	}
	token := &upstream.Error{Operation: upstream.OpToken, Status: 401, Code: "invalid_client"}
	for name, c := range map[string]struct {
		body []byte
		err  error
		want []string // in the run's error
	}{
		"refused":     {nil, refused, []string{"restaurant " + string(bistro), "connection main", "503", "busy", "come back later", "q-1", "tried for"}},
		"token":       {nil, token, []string{"401 Unauthorized to the token request", "invalid_client"}},
		"unreachable": {nil, &upstream.Error{Operation: upstream.OpMenu, Err: errors.New("connection refused")}, []string{"did not respond", "connection refused"}},
		"silent":      {nil, &upstream.Error{Operation: upstream.OpMenu}, []string{"did not respond"}},
		"truncated":   {view(10)[:200], nil, []string{"not valid JSON at line 1, column", "(200 bytes)"}},
		"html":        {[]byte("<html>"), nil, []string{"not valid JSON at line 1, column 1"}},
		"no menu":     {[]byte(`{"result":[]}`), nil, []string{"decode the menu view"}},
		"endless":     {nil, errors.New(strings.Repeat("long ", 1000)), []string{"long"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			before := g.current()
			g.service.set(func(s *service) { s.body, s.err = c.body, c.err })
			g.advance(2 * time.Minute)
			run := g.once()
			g.want(run, runlog.OutcomeFailed, 1)
			for _, want := range c.want {
				if !strings.Contains(run.Error, want) {
					t.Errorf("error %q does not contain %q", run.Error, want)
				}
			}
			if len(run.Error) > 1000 {
				t.Errorf("error has %d bytes", len(run.Error))
			}
			after := g.current()
			if after.Version != 1 || !after.CheckedAt.Equal(before.CheckedAt) || after.LastOutcome != "failed" {
				t.Errorf("current %+v, want version 1 and checkedAt %v", after, before.CheckedAt)
			}
			g.service.set(func(s *service) { s.body, s.err = view(10), nil })
			g.want(g.once(), runlog.OutcomeUnchanged, 1)
		})
	}
}

func TestNotModifiedWithoutAValidatorIsAFailure(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Connections[0].Source = lazy{&service{}} })
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "304") {
		t.Errorf("error %q", run.Error)
	}
}

// lazy responds "not modified" to every request.
type lazy struct{ *service }

func (lazy) MenuView(context.Context, string, upstream.Validator, int64) (upstream.Menu, error) {
	return upstream.Menu{NotModified: true}, nil
}

func TestAPanicFailsOneRunOnly(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.service.hook = func(context.Context) { panic("odd") }
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "internal error: odd") {
		t.Errorf("error %q", run.Error)
	}
	g.service.hook = nil
	g.want(g.once(), runlog.OutcomeUpdated, 1)
}

func TestDeadlineEndsARun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.SetDeadline(20 * time.Millisecond)
	g.service.hook = func(ctx context.Context) { <-ctx.Done() }
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "stopped after 20ms (sync.deadline)") {
		t.Errorf("error %q", run.Error)
	}
}

func TestUnknownRestaurant(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	_, err := g.OnceOf(t.Context(), "nowhere", runlog.TriggerManual)
	var unknown *menusync.UnknownRestaurantError
	if !errors.As(err, &unknown) || unknown.ID != "nowhere" || unknown.Total != 1 {
		t.Errorf("OnceOf = %v, want UnknownRestaurantError with one restaurant", err)
	}
	if _, err := g.Start(t.Context(), "nowhere", menusync.Request{}); !errors.As(err, &unknown) {
		t.Errorf("Start = %v", err)
	}
	if _, err := g.Findings(t.Context(), "nowhere"); !errors.As(err, &unknown) {
		t.Errorf("Findings = %v", err)
	}
}

func TestFindingsAreThoseOfThePublishedMenu(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	if _, err := g.Findings(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
		t.Errorf("Findings before the first menu: %v, want ErrNoCatalogue", err)
	}
	g.service.body = viewWith(10, 0, "") // a zero price
	run := g.once()
	g.want(run, runlog.OutcomeUpdated, 1)
	g.service.set(func(s *service) { s.body = view(1) }) // quarantined
	g.want(g.once(), runlog.OutcomeQuarantined, 1)
	findings, err := g.Findings(t.Context(), bistro)
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != run.Findings || len(findings) == 0 || findings[0].Code != menu.LintPriceZero {
		t.Errorf("findings %+v, want %d of which the first is %s", findings, run.Findings, menu.LintPriceZero)
	}
	g.service.set(func(s *service) { s.body = viewWith(10, 0, "") })
	if run := g.once(); run.Findings != len(findings) {
		t.Errorf("an unchanged run has %d findings, want %d", run.Findings, len(findings))
	}
}
