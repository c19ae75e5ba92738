package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/sleep"
)

// Run is one run: real larder processes on a real Redis, with clients and faults.
type Run struct {
	Binary  string // of larder
	Dir     string // for history and logs
	Form    string // of Redis
	Seed    uint64
	Plan    Plan
	For     time.Duration
	Clients int
	Rest    time.Duration // mean time of a client between two orders
	// RetryUnavailable is connections[].retry_unavailable.
	RetryUnavailable bool
	// WithoutDisk is a Redis without an append-only file, with ordering.durability: replicas and wait_replicas as Wait.
	WithoutDisk bool
	Wait        int
}

// testbed is everything that a run has started.
type testbed struct {
	tb        testing.TB
	run       Run
	history   *History
	service   *service
	store     *store
	instances []*instanceProcess
	clients   *clients
	gate      sync.RWMutex // each client holds it while it serves one customer
	checked   int64        // time of the last check of the master
}

// Do executes the run and returns its history.
func (r Run) Do(tb testing.TB) *History {
	tb.Helper()
	// The instances would report data of an earlier run as lost.
	if err := os.RemoveAll(r.Dir); err != nil {
		tb.Fatal(err)
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	file, err := os.Create(filepath.Join(r.Dir, "history.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	w := &testbed{tb: tb, run: r, history: NewHistory(file)}
	tb.Cleanup(func() { _ = file.Close() }) // the check uses the history in memory
	w.store = startStore(tb, r.Form, r.WithoutDisk)
	tb.Cleanup(func() { w.store.keepLogs(r.Dir) })
	w.store.replaced()
	w.service = startService(tb, w.history)
	w.startInstances()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	var clients sync.WaitGroup
	for n := range r.Clients {
		c := &client{clients: w.clients, draw: rand.New(rand.NewPCG(r.Seed, uint64(n))), rest: r.Rest}
		clients.Go(func() { c.run(ctx, &w.gate) })
	}
	w.play()
	cancel()
	clients.Wait()
	w.finish()
	return w.history
}

// must ends the test on an error.
func (w *testbed) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("chaos: %v", err)
	}
}

func (w *testbed) startInstances() {
	w.tb.Helper()
	ctx := w.tb.Context()
	for n := range instances {
		l, err := newLarder(w.tb, w.run, n, w.store.url(), w.service.server.URL)
		w.must(err)
		w.must(l.start(ctx))
		w.tb.Cleanup(func() { l.process.Kill() })
		w.instances = append(w.instances, l)
	}
	w.clients = &clients{history: w.history, instances: w.instances, prefix: fmt.Sprintf("%s-%d", w.run.Form, w.run.Seed)}
	w.allReady()
	var err error
	w.clients.token, err = w.clients.bearer(ctx, 0, "storefront")
	w.must(err)
	w.places()
}

func (w *testbed) allReady() {
	w.tb.Helper()
	for _, l := range w.instances {
		await(w.tb, 30*time.Second, l.name+" is ready", l.ready)
	}
}

// places waits until each instance places an order.
func (w *testbed) places() {
	w.tb.Helper()
	for n := range w.instances {
		await(w.tb, 45*time.Second, "orders are placed", func(ctx context.Context) error {
			//testwaits:allow limits one attempt; await repeats it
			if a := w.clients.send(ctx, w.newOrder(), n, 5*time.Second, false); !a.Done() {
				return errors.New(show(a))
			}
			return nil
		})
	}
}

func (w *testbed) newOrder() *call {
	return w.clients.newCall(Create, "", http.MethodPost, "/v1/restaurants/"+sandbox.BistroID+"/orders", "")
}

// action is one step of a plan at its time.
type action struct {
	at time.Duration
	do func() error
}

// play executes the plan, one action after the other.
func (w *testbed) play() {
	w.tb.Helper()
	var actions []action
	for _, step := range w.run.Plan {
		var end func() error
		actions = append(actions,
			action{step.At, func() (err error) { end, err = w.begin(step); return err }},
			action{step.At + step.For, func() error { return end() }})
	}
	actions = append(actions, action{w.run.For, nothing})
	slices.SortStableFunc(actions, func(a, b action) int { return int(a.at - b.at) })
	began := time.Now()
	for _, a := range actions {
		_ = sleep.For(w.tb.Context(), a.at-time.Since(began))
		w.must(a.do())
	}
}

// begin causes the fault of a step. The returned function ends the fault and
// records it.
func (w *testbed) begin(step Step) (func() error, error) {
	var (
		end func() error
		err error
	)
	ctx := w.tb.Context()
	if step.ofRedis() && w.run.Form != Single {
		w.noteReplacement() // it also waits until an earlier fault is repaired
	}
	fault := Fault{Start: w.history.now(), Kind: step.Kind, Target: step.Target}
	switch step.Kind {
	case LarderKilled, LarderFrozen:
		end = instanceFault(ctx, w.instances[step.Target%len(w.instances)], step.Kind)
	case AnswerLost, AnswerHangs, CallLost, Unavailable, Overloaded, Twice, Slow:
		end, err = w.service.heal, w.service.fail(step.Kind, w.run.Seed+uint64(step.At))
	case Accepted:
		end, err = nothing, w.accept()
	default:
		end, fault.Target, err = w.store.begin(ctx, step)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", step.Kind, err)
	}
	return func() error {
		if err := end(); err != nil {
			return fmt.Errorf("end of %q: %w", step.Kind, err)
		}
		if fault.losesMaster() || fault.losesData() {
			w.store.replaced()
			w.checked = w.history.now()
		}
		fault.End = w.history.now()
		w.history.add(entry{Fault: &fault})
		if fault.losesData() {
			w.clients.sendAgain(ctx)
		}
		return nil
	}, nil
}

// noteReplacement records when Redis has replaced a master that was only slow
// because of the machine. Data that the master acknowledged meanwhile may be lost.
func (w *testbed) noteReplacement() {
	w.tb.Helper()
	before := w.checked
	w.store.whole()
	w.checked = w.history.now()
	if w.store.replaced() {
		w.tb.Logf("%s, after %.1f s: the rules of a loss of data apply", MasterReplaced, float64(before)/1e6)
		w.history.add(entry{Fault: &Fault{Start: before, End: w.checked, Kind: MasterReplaced}})
	}
}

// accept accepts the journal after a loss of data, as an operator does (policy
// O14a). Keys that were in use are not sent again, because the journal no longer
// protects them.
func (w *testbed) accept() error {
	w.clients.generation.Add(1)
	w.gate.Lock()
	defer w.gate.Unlock()
	var failed error
	for n := range 10 * instances { // at least one instance is neither killed nor frozen
		if failed = w.acceptAt(n % instances); failed == nil {
			return nil
		}
		_ = sleep.For(w.tb.Context(), 100*time.Millisecond)
	}
	return failed
}

func (w *testbed) acceptAt(instance int) error {
	ctx, cancel := context.WithTimeout(w.tb.Context(), 2*time.Second) //testwaits:allow limits one attempt; accept repeats it
	defer cancel()
	ops, err := w.clients.bearer(ctx, instance, "ops")
	if err != nil {
		return err
	}
	accept := w.instances[instance].url("/v1/ops/journal/accept")
	status, body, err := w.clients.do(ctx, httpCall{
		token:  ops,
		method: http.MethodPost,
		target: accept,
		body:   `{"connection":"main"}`,
		limit:  2 * time.Second,
	})
	if err != nil || status != http.StatusOK && status != http.StatusNotFound {
		return fmt.Errorf("accept the journal: %d %s, %w", status, body, err)
	}
	return nil
}

// finish ends all faults, repeats every request and records the final state of
// larder and the service.
func (w *testbed) finish() {
	w.tb.Helper()
	ctx := w.tb.Context()
	w.noteReplacement()
	w.allReady()
	if made := w.newOrder(); w.clients.send(ctx, made, 0, time.Minute, false).Code == codeRestored {
		w.must(w.accept())
	}
	w.places()
	w.noneInFlight()
	w.must(w.clients.readRecords(ctx))
	w.clients.replayAll(ctx, 4)
	w.must(w.clients.readRecords(ctx))
	w.must(w.service.executed())
}

// noneInFlight waits until interrupted calls count as unknown (policy O12).
func (w *testbed) noneInFlight() {
	w.tb.Helper()
	ops, err := w.clients.bearer(w.tb.Context(), 0, "ops")
	w.must(err)
	await(w.tb, 30*time.Second, "no order is in flight", func(ctx context.Context) error {
		placing := w.instances[0].url("/v1/ops/orders?state=placing&limit=1")
		status, body, err := w.clients.do(ctx, httpCall{
			token:  ops,
			method: http.MethodGet,
			target: placing,
			limit:  5 * time.Second,
		})
		var list struct{ Result, Unreadable []json.RawMessage }
		if err == nil {
			err = json.Unmarshal(body, &list)
		}
		if err != nil || status != http.StatusOK || list.Result == nil || len(list.Result)+len(list.Unreadable) > 0 {
			return fmt.Errorf("%d %s, %w", status, body, err)
		}
		return nil
	})
}
