package journal_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// held starts a journal whose two pipelines wait in the network, each with one Begin. The
// returned function lets them go on and waits for them.
func held(t *testing.T) (j *journal.Journal, w *env, p *proxy, release func()) {
	t.Helper()
	w = start(t, nil)
	p = newProxy(t, w.server.Addr())
	j = journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	var first sync.WaitGroup
	for range 2 { // opens both connections and loads the script
		first.Go(func() { begun(t, j, create()) })
	}
	first.Wait()
	p.hold()
	var waiting sync.WaitGroup
	for n := range 2 {
		waiting.Go(func() {
			if _, err := j.Begin(t.Context(), create()); err != nil {
				t.Errorf("Begin of a held pipeline: %v", err)
			}
		})
		eventually(t, "a pipeline waits", func() bool { count, _ := p.counts(); return count > n })
	}
	return j, w, p, func() {
		p.release()
		waiting.Wait()
	}
}

// Commits that arrive while both pipelines are in flight share the next ones.
func TestCommitsSharePipelines(t *testing.T) {
	t.Parallel()
	j, _, p, release := held(t)
	var orders sync.WaitGroup
	records := make([]ordering.Record, 60)
	var started sync.WaitGroup
	started.Add(len(records))
	for i := range records {
		orders.Go(func() {
			started.Done()
			var err error
			if records[i], err = j.Begin(t.Context(), create()); err != nil {
				t.Errorf("Begin: %v", err)
			}
		})
	}
	eventually(t, "all of them wait", func() bool { return j.Queued(main) == len(records) })
	release()
	orders.Wait()
	if _, answers := p.counts(); answers > 20 {
		t.Errorf("Redis answered %d times for 62 commits, want a few pipelines", answers)
	}
	for _, r := range records {
		if got, err := j.Record(t.Context(), []string{main}, r.Ref); err != nil {
			t.Errorf("Record: %v", err)
		} else {
			sameRecord(t, r, got)
		}
	}
}

// If Redis has lost the script, the commits of a shared pipeline are made nevertheless, once each.
func TestSharedPipelineWithoutScript(t *testing.T) {
	t.Parallel()
	j, w, _, release := held(t)
	const orders = 20
	var all sync.WaitGroup
	for range orders {
		all.Go(func() { begun(t, j, create()) })
	}
	eventually(t, "all of them wait", func() bool { return j.Queued(main) == orders })
	if err := w.client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	release()
	all.Wait()
	if n := w.client.ZCard(t.Context(), "larder:{o:main}:f1:orders").Val(); n != orders+4 {
		t.Errorf("%d orders in the list, want %d", n, orders+4)
	}
}

// A commit whose context ends before it is sent is never sent.
func TestQueuedCommitIsNotSent(t *testing.T) {
	t.Parallel()
	j, _, _, release := held(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) //testwaits:allow the test expects its end
	defer cancel()
	o := create()
	if _, err := j.Begin(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Begin = %v, want the end of its context", err)
	}
	release()
	begun(t, j, create()) // after everything that waited
	if _, _, err := j.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
		t.Errorf("Lookup = %v, want ErrKeyFree", err)
	}
}

// The same for a context that has no timer of its own.
func TestQueuedCommitWithDetachedContextIsNotSent(t *testing.T) {
	t.Parallel()
	j, w, _, release := held(t)
	r := begun(t, w, create())
	at := time.Now()
	if err := finishWithin(t, j, r, 50*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) { //testwaits:allow the test expects its end
		t.Errorf("Finish = %v, want the end of its context", err)
	}
	if waited := time.Since(at); waited < 50*time.Millisecond || waited > patience {
		t.Errorf("Finish waited for %v", waited)
	}
	release()
	begun(t, j, create()) // after everything that waited
	if got, err := j.Record(t.Context(), []string{main}, r.Ref); err != nil {
		t.Errorf("Record: %v", err)
	} else {
		sameRecord(t, r, got)
	}
	for range 10 { // evaluations that had a timer are reused, with and without a time limit
		if err := finishWithin(t, j, begun(t, j, create()), patience); err != nil {
			t.Errorf("Finish: %v", err)
		}
	}
}

// A commit whose context ends after it was sent may be sent again, because Redis has lost the script. Its texts
// are still the same then, although other commits were made in the meantime.
func TestCommitIsSentAgainAfterItsContext(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	p := newProxy(t, w.server.Addr())
	j := journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	r := begun(t, j, create())
	p.hold()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- finish(ctx, j, r) }()
	eventually(t, "the result is sent", func() bool { waiting, _ := p.counts(); return waiting > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Finish = %v, want the end of its context", err)
	}
	for n := range 20 {
		placed(t, w.Journal, strconv.Itoa(n))
	}
	if err := w.client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	p.release()
	eventually(t, "the result is stored", func() bool {
		got, err := w.Order(t.Context(), main, "late-"+r.Ref)
		return err == nil && got.Ref == r.Ref && got.State == ordering.StatePlaced && len(got.Calls[0].Answer.Body) > 0
	})
}

// finishWithin finishes a begun order as ordering.Orders does.
func finishWithin(t *testing.T, j *journal.Journal, r ordering.Record, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return finish(ctx, j, r)
}

func finish(ctx context.Context, j *journal.Journal, r ordering.Record) error {
	_, err := j.Finish(ctx, ordering.CallResult{
		Connection: main,
		Ref:        r.Ref,
		Call:       1,
		Outcome:    ordering.OutcomeDone,
		OrderID:    "late-" + r.Ref,
		Answer:     &ordering.Answer{Status: 201, Body: []byte(`{"orderID":"late"}`)},
		Known:      &r,
	})
	return err
}

// Records in the format of an older version are not used, and the error says what to do.
func TestOldFormat(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	if err := w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", "epoch", "E", "mark", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := w.client.ZAdd(t.Context(), "larder:{o:main}:f1:open", redis.Z{Score: 1, Member: "01J 1"}).Err(); err != nil {
		t.Fatal(err)
	}
	const msg = "docs/operations.md"
	wantNotReady(t, w.Ready(t.Context(), main), msg, time.Minute)
	if _, err := w.Begin(t.Context(), create()); err == nil || !strings.Contains(err.Error(), msg) {
		t.Errorf("Begin = %v, want an error with %q", err, msg)
	}
	if accepted, err := w.Accept(t.Context(), main); accepted || !isFormat(err) {
		t.Errorf("Accept = %t, %v; want a *FormatError", accepted, err)
	}
	if moved, err := w.Sweep(t.Context(), main); !isFormat(err) || len(moved) != 0 {
		t.Errorf("Sweep = %v, %v; want a *FormatError", moved, err)
	}
	if n := len(w.names(t)); n != 2 {
		t.Errorf("Redis has %d keys, want the two old ones", n)
	}
}

func isFormat(err error) bool {
	_, is := errors.AsType[*ordering.FormatError](err)
	return is
}

// A commit checks the format even if the instance remembers the epoch, as after an upgrade with ordering.state_dir.
func TestOldFormatOfKnownEpoch(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeDone, "765")
	if err := w.client.HDel(t.Context(), "larder:{o:main}:f1:journal", "format").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Begin(t.Context(), create()); err == nil || !strings.Contains(err.Error(), "docs/operations.md") {
		t.Errorf("Begin = %v, want an error about the format", err)
	}
}

// A check compares the whole value: the first call of an order is not its tenth.
func TestCheckComparesWholeValue(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	const stored = "01J 10"
	if err := w.client.Set(t.Context(), "larder:{o:main}:f1:key:taken", stored, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, value string
		unchanged  bool
	}{
		{"taken", stored, true},
		{"taken", "01J 1", false},
		{"taken", "01J 100", false},
		{"taken", "", false},
		{"free", "", true},
		{"free", "01J 1", false},
	} {
		err := w.Check(t.Context(), main, c.key, c.value)
		if unchanged := err == nil; unchanged != c.unchanged || err != nil && !errors.Is(err, journal.ErrMoved) {
			t.Errorf("%s: checking for %q: %v; want unchanged: %t", c.key, c.value, err, c.unchanged)
		}
	}
}
