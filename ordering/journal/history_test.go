package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// transactions are all kinds of transactions of a journal. Each prepares one, and returns the function that makes it.
var transactions = []struct {
	name    string
	begins  bool // begins a call, so it is rejected while orders are paused
	prepare func(t *testing.T, j *journal.Journal) func() error
}{
	{"begin a create", true, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		begun(t, j, create())
		return func() error { _, err := j.Begin(t.Context(), create()); return err }
	}},
	{"begin a payment", true, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		placeAt(t, j, "765")
		return func() error { _, err := j.Begin(t.Context(), pay("765")); return err }
	}},
	{"begin a payment of an adopted order", true, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		placeAt(t, j, "765")
		o := pay("9")
		o.Adopt = true
		return func() error { _, err := j.Begin(t.Context(), o); return err }
	}},
	{"finish a create", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		r := begun(t, j, create())
		return func() error { return finish(t.Context(), j, r) }
	}},
	{"finish a payment", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		placeAt(t, j, "765")
		r := begun(t, j, pay("765"))
		return func() error { ended(t, j, r, ordering.OutcomeDone, ""); return nil }
	}},
	{"finish as unknown", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		r := begun(t, j, create())
		return func() error { ended(t, j, r, ordering.OutcomeUnknown, ""); return nil }
	}},
	{"abort", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		o := create()
		begun(t, j, o)
		return func() error { return j.Abort(t.Context(), o) }
	}},
	{"abort before the call was opened", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		begun(t, j, create())
		return func() error { return j.Abort(t.Context(), create()) }
	}},
	{"resolve as done", false, resolving(ordering.ResolvedDone)},
	{"resolve as not done", false, resolving(ordering.ResolvedNotDone)},
	{"send again", true, resolving(ordering.ResolvedRetry)},
	{"end a recheck", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		r := begun(t, j, create())
		_, err := j.Finish(t.Context(), ordering.CallResult{
			Connection: main, Ref: r.Ref, Call: 1, Outcome: ordering.OutcomeRefused, Recheck: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return func() error { return j.EndRecheck(t.Context(), main, r.Ref, 1, false) }
	}},
	{"recreate", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		r := placeAt(t, j, "765")
		r.Ref, r.OrderID = create().Ref, "766"
		return func() error { _, _, err := j.Recreate(t.Context(), r, 1, nil); return err }
	}},
	{"sweep", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		begun(t, j, create(overdue))
		return func() error { _, err := j.Sweep(t.Context(), main); return err }
	}},
	{"watch", false, func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		begun(t, j, create())
		return func() error { _, err := j.Watch(t.Context(), main); return err }
	}},
}

func resolving(resolution ordering.Resolution) func(*testing.T, *journal.Journal) func() error {
	return func(t *testing.T, j *journal.Journal) func() error {
		t.Helper()
		r := ended(t, j, begun(t, j, create()), ordering.OutcomeUnknown, "")
		s := ordering.ResolveCall{
			ID: create().ID, Connection: main, Ref: r.Ref, Operation: upstream.OpCreate, Resolution: resolution, By: "ops",
			Deadline: time.Hour,
		}
		if resolution == ordering.ResolvedDone {
			s.OrderID = "765"
		}
		return func() error { _, err := j.Resolve(t.Context(), s); return err }
	}
}

// Every transaction compares the history of Redis with what the instance remembers. If commits are lost, it pauses
// orders, and is made itself unless it begins a call. Its mark is higher than all that the instance has seen.
func TestEveryTransactionComparesTheHistory_O14a(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	for name, history := range map[string]struct {
		change func(s *stateKey) map[string]any
		pauses bool
	}{
		"no commit is lost": {func(*stateKey) map[string]any { return map[string]any{"source": "any"} }, false},
		"a backup": {func(s *stateKey) map[string]any {
			return map[string]any{"mark": "1700000000000000", s.own: "1700000000000000"}
		}, true},
		"a former master, and another instance that has raised the mark": {func(s *stateKey) map[string]any {
			return map[string]any{"mark": strconv.FormatInt(s.mark+1e9, 10), s.own: strconv.FormatInt(s.mark-1, 10)}
		}, true},
		"an emptied Redis with a new epoch": {func(*stateKey) map[string]any { return map[string]any{"epoch": "other"} }, true},
		"an accepted restore": {func(s *stateKey) map[string]any {
			return map[string]any{"epoch": "next", "predecessors": "first " + s.epoch + " last", "mark": "1700000000000001"}
		}, false},
		"a restore after an accepted one of another epoch": {func(s *stateKey) map[string]any {
			return map[string]any{"epoch": "next", "predecessors": "first" + s.epoch + " last"}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, transaction := range transactions {
				t.Run(transaction.name, func(t *testing.T) {
					t.Parallel()
					db := open(t, server.URL(), create().Ref)
					j := journal.New(db, ordering.DefaultConfig(), quiet())
					commit := transaction.prepare(t, j)
					before := stateOf(t, db)
					if err := db.Client().HSet(t.Context(), before.key, history.change(before)).Err(); err != nil {
						t.Fatal(err)
					}
					rejected := history.pauses && transaction.begins
					if err := commit(); errors.As(err, new(*ordering.RestoredError)) != rejected || err != nil && !rejected {
						t.Errorf("the transaction: %v, want a *RestoredError: %t", err, rejected)
					}
					after := stateOf(t, db)
					if paused := after.paused != ""; paused != history.pauses {
						t.Errorf("paused: %t, want %t", paused, history.pauses)
					}
					if disputes := strings.Contains(after.disputed, before.epoch); disputes != history.pauses {
						t.Errorf("disputed: %q, want the epoch %s in it: %t", after.disputed, before.epoch, history.pauses)
					}
					commits := !rejected && transaction.name != "watch"
					if commits && (after.mark <= before.mark || after.ownMark != after.mark) {
						t.Errorf("the mark is %d, that of the instance %d; want both above %d", after.mark, after.ownMark, before.mark)
					} else if !commits && after.ownMark > before.ownMark {
						t.Errorf("the mark of the instance is raised from %d to %d without a commit", before.ownMark, after.ownMark)
					}
				})
			}
		})
	}
}

// stateKey is the state of a connection in Redis, after commits of one instance.
type stateKey struct {
	key, own                string // own is the field of the instance
	epoch, paused, disputed string
	mark, ownMark           int64
}

func stateOf(t *testing.T, db *redisdb.DB) *stateKey {
	t.Helper()
	s := &stateKey{key: cache.NewKeys(db.Prefix()).JournalState(main)}
	fields, err := db.Client().HGetAll(t.Context(), s.key).Result()
	if err != nil {
		t.Fatal(err)
	}
	s.epoch, s.paused, s.disputed = fields["epoch"], fields["paused"], fields["disputed"]
	for name, value := range fields {
		n, _ := strconv.ParseInt(value, 10, 64)
		switch {
		case name == "mark":
			s.mark = n
		case strings.HasPrefix(name, "by:"):
			s.own, s.ownMark = name, n
		}
	}
	return s
}

// An instance that has not committed for 30 days is forgotten by Redis. Its next commit does not pause orders.
func TestForgottenInstanceDoesNotPause_O14a(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]time.Duration{"forgotten": 31 * 24 * time.Hour, "lost": 29 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := start(t, func(c *ordering.Config) { c.StateDir = dir })
			begun(t, w, create())
			watched(t, w.Journal)
			file := filepath.Join(dir, "journal-main.json")
			kept := map[string]any{}
			text, err := os.ReadFile(file)
			if err = errors.Join(err, json.Unmarshal(text, &kept)); err != nil {
				t.Fatal(err)
			}
			ago := time.Now().Add(-own).UnixMicro()
			kept["mark"], kept["own"], kept["instance"] = ago, ago, "stopped"
			text, err = json.Marshal(kept)
			if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
				t.Fatal(err)
			}
			cfg := ordering.DefaultConfig()
			cfg.StateDir = dir
			_, err = journal.New(open(t, w.server.URL(), ""), cfg, quiet()).Begin(t.Context(), create())
			if lost := errors.As(err, new(*ordering.RestoredError)); lost != (name == "lost") || err != nil && !lost {
				t.Errorf("Begin = %v", err)
			}
		})
	}
}

// Redis remembers the last 32 epochs that were replaced.
func TestReplacedEpochsAreKept_O14a(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	stopped := map[int]*journal.Journal{}
	for n := range 34 {
		if n < 3 {
			stopped[n] = journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
			begun(t, stopped[n], create())
		}
		if err := w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", "paused", "1").Err(); err != nil {
			t.Fatal(err)
		}
		if accepted, err := w.Accept(t.Context(), main); err != nil || !accepted {
			t.Fatalf("Accept = %t, %v", accepted, err)
		}
	}
	if _, err := stopped[2].Begin(t.Context(), create()); err != nil {
		t.Errorf("Begin of an instance with the oldest epoch that is kept: %v", err)
	}
	wantRestored(t, "an instance with an older epoch", stopped[1])
}

// A file in state_dir that does not answer delays no order: it is not read, and a regular one replaces it.
func TestAPipeInStateDir_O14a(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "journal-main.json")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, func(c *ordering.Config) { c.StateDir = dir })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := w.Begin(ctx, create()); err != nil {
		t.Fatalf("Begin = %v", err)
	}
	watched(t, w.Journal)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file is %v, %v", info, err)
	}
}
