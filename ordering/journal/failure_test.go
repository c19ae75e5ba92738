package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// synced makes Redis write each change to disk before it replies. With everysec, Redis may
// delay writes for up to two seconds while the disk is slow. If it is killed, it loses them.
func synced() redistest.Option { return redistest.Config("appendfsync", "always") }

// Results of Begin and Finish still exist after kill -9 of a Redis with an append-only file.
func TestKilledRedisKeepsEveryRecord(t *testing.T) {
	t.Parallel()
	w := start(t, nil, synced())
	secret, err := w.Secret(t.Context(), main)
	if err != nil {
		t.Fatalf("secret: %v", err)
	}
	flying, landed := create(), create()
	want := map[string]ordering.Record{
		flying.Key: begun(t, w, flying),
		landed.Key: ended(t, w, begun(t, w, landed), ordering.OutcomeDone, "765"),
	}

	w.server.Stop()
	w.server.Restart()

	again := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	for key, record := range want {
		got, call, err := again.Lookup(t.Context(), main, key)
		if diff := cmp.Diff(record, got); err != nil || call != 1 || diff != "" {
			t.Errorf("Lookup after the kill: call %d, %v; want 1 (-want +got):\n%s", call, err, diff)
		}
	}
	if got, err := again.Secret(t.Context(), main); err != nil || string(got) != string(secret) {
		t.Errorf("the secret is different after the kill, %v", err)
	}
}

// Every method returns an error without Redis, and works again when Redis is back.
func TestOutageOfRedis(t *testing.T) {
	t.Parallel()
	w := start(t, nil, synced())
	o := create()
	r := begun(t, w, o)
	calls := map[string]func(ctx context.Context) error{
		"Lookup": func(ctx context.Context) error {
			_, _, err := w.Lookup(ctx, main, o.Key)
			return err
		},
		"Begin": func(ctx context.Context) error { _, err := w.Begin(ctx, create()); return err },
		"Begin of a change": func(ctx context.Context) error {
			_, err := w.Begin(ctx, pay("765"))
			return err
		},
		"Abort": func(ctx context.Context) error { return w.Abort(ctx, create()) },
		"Finish": func(ctx context.Context) error {
			_, err := w.Finish(ctx, ordering.CallResult{
				Connection: main,
				Ref:        r.Ref,
				Call:       1,
				Outcome:    ordering.OutcomeDone,
				OrderID:    "765",
			})
			return err
		},
		"Resolve": func(ctx context.Context) error {
			_, err := w.Resolve(ctx, ordering.ResolveCall{
				Connection: main,
				Ref:        r.Ref,
				Operation:  upstream.OpCreate,
				Resolution: ordering.ResolvedDone,
			})
			return err
		},
		"Sweep":  func(ctx context.Context) error { _, err := w.Sweep(ctx, main); return err },
		"Order":  func(ctx context.Context) error { _, err := w.Order(ctx, main, "765"); return err },
		"Record": func(ctx context.Context) error { _, err := w.Record(ctx, []string{main}, r.Ref); return err },
		"Body":   func(ctx context.Context) error { _, err := w.Body(ctx, main, r.Ref, 1); return err },
		"List": func(ctx context.Context) error {
			_, _, err := w.List(ctx, ordering.Query{Connections: []string{main}, Limit: 1})
			return err
		},
	}
	w.server.Stop()
	for name, call := range calls {
		err := call(t.Context())
		if _, ok := errors.AsType[*ordering.JournalError](err); !ok {
			t.Errorf("%s without Redis: %v (%T), want a *JournalError", name, err, err)
		}
		if err != nil && (strings.Contains(err.Error(), o.Key) || strings.Contains(err.Error(), phone)) {
			t.Errorf("%s contains a key or guest data: %v", name, err)
		}
	}
	_, err := w.Begin(t.Context(), create())
	if failed, ok := errors.AsType[*ordering.JournalError](err); !ok || !failed.Unwritten {
		t.Errorf("Begin without a connection: %v, want it certain that nothing was written", err)
	}
	var silent *ordering.NotReadyError
	if err := w.Ready(t.Context(), main); !errors.As(err, &silent) || silent.RetryAfter != 5*time.Second || silent.Err == nil {
		t.Errorf("Ready without Redis: %v, want a *NotReadyError with retry after 5s", err)
	}

	w.server.Restart()
	for _, name := range []string{"Lookup", "Begin", "Finish", "Order", "Sweep", "Record", "Body", "List"} {
		if err := calls[name](t.Context()); err != nil {
			t.Errorf("%s with Redis back: %v", name, err)
		}
	}
	if err := w.Ready(t.Context(), main); err != nil {
		t.Errorf("Ready with Redis back: %v", err)
	}
}

// The reply to Begin is lost, so the call stays open. Abort ends it as not sent and frees the key.
func TestLostReply(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	p := newProxy(t, w.server.Addr())
	j := journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	placed := ended(t, j, begun(t, j, create()), ordering.OutcomeDone, "765") // loads the scripts and opens the connection

	for _, o := range []ordering.CallSpec{create(), pay("765"), func() ordering.CallSpec {
		o := pay("nobody's")
		o.Adopt = true
		return o
	}()} {
		cutCommit(t, p, j, o)
		_, call, err := w.Lookup(t.Context(), main, o.Key)
		if err != nil {
			t.Fatalf("%s: Lookup: %v; want the call, open although its reply was lost", o.Operation, err)
		}
		for range 2 { // the second Abort does nothing
			if err := j.Abort(t.Context(), o); err != nil {
				t.Fatalf("%s: Abort: %v", o.Operation, err)
			}
		}
		if _, _, err := w.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
			t.Errorf("%s: Lookup after Abort: %v, want ErrKeyFree", o.Operation, err)
		}
		ref := o.Ref
		if o.OrderID == "765" {
			ref = placed.Ref
		}
		got, err := w.Record(t.Context(), []string{main}, ref)
		if err != nil {
			t.Fatalf("%s: Record: %v", o.Operation, err)
		}
		if ended, ok := got.Call(call); !ok || ended.Outcome != ordering.OutcomeNotSent {
			t.Errorf("%s: the aborted call is %+v, want it not sent", o.Operation, ended)
		}
		if _, busy := got.Busy(); busy {
			t.Errorf("%s: the order is still busy", o.Operation)
		}
		if _, err := j.Begin(t.Context(), o); err != nil && !errors.Is(err, journal.ErrRefTaken) {
			t.Errorf("%s: the key is not free: %v", o.Operation, err)
		}
	}
}

// cutCommit begins a call and loses the last reply. Only the last one is lost, because a
// change starts with reads.
func cutCommit(t *testing.T, p *proxy, j *journal.Journal, o ordering.CallSpec) {
	t.Helper()
	reads := map[upstream.Operation]int{upstream.OpCreate: 0, upstream.OpPay: 1}[o.Operation]
	if o.OrderID == "765" {
		reads++ // the order's record too
	}
	p.cutAfter(reads)
	_, err := j.Begin(t.Context(), o)
	if failed, ok := errors.AsType[*ordering.JournalError](err); !ok || failed.Unwritten {
		t.Fatalf("Begin for %s with a lost reply: %v, want a *JournalError of an uncertain write", o.Operation, err)
	}
}

// The network delays a Begin until after its Abort. It must not open the call.
func TestBeginAfterAbort(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	p := newProxy(t, w.server.Addr())
	j := journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	begun(t, j, create())

	p.hold()
	o := create()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := j.Begin(ctx, o)
		result <- err
	}()
	eventually(t, "the request is on its way", func() bool { waiting, _ := p.counts(); return waiting > 0 })
	cancel()
	if err := <-result; err == nil {
		t.Fatal("Begin returns a record before Redis has the request")
	}
	if err := w.Abort(t.Context(), o); err != nil {
		t.Fatalf("Abort: %v", err)
	}
	p.release()
	eventually(t, "Redis has replied to the late request", func() bool { _, answers := p.counts(); return answers > 0 })

	if _, err := w.Record(t.Context(), []string{main}, o.Ref); !errors.Is(err, ordering.ErrNoOrder) {
		t.Errorf("Record of the late Begin: %v, want ErrNoOrder", err)
	}
	if _, _, err := w.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
		t.Errorf("Lookup of its key: %v, want ErrKeyFree", err)
	}
	if _, err := w.Begin(t.Context(), o); !errors.Is(err, journal.ErrAborted) {
		t.Errorf("Begin of the aborted call: %v, want ErrAborted", err)
	}
	again := o
	again.ID, again.Ref = create().ID, create().Ref
	r := begun(t, w, again) // the client's retry

	ended(t, w, r, ordering.OutcomeUnknown, "")
	resolution := ordering.ResolveCall{
		ID:         o.ID,
		Connection: main,
		Ref:        r.Ref,
		Operation:  upstream.OpCreate,
		Resolution: ordering.ResolvedRetry,
		Deadline:   time.Hour,
	}
	if _, err := w.Resolve(t.Context(), resolution); !errors.Is(err, journal.ErrAborted) {
		t.Errorf("Resolve with a retry of the aborted call: %v, want ErrAborted", err)
	}
}

// With wait_replicas, a call is open only when that number of replicas has it (policy O14).
func TestReplicas(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *ordering.Config) { c.WaitReplicas = new(1) })
	host, port, _ := strings.Cut(w.server.Addr(), ":")
	replica := redistest.Start(t, redistest.Config("replicaof", host, port), redistest.Config("repl-diskless-sync-delay", "0"))
	eventually(t, "the replica is connected", func() bool {
		return strings.Contains(replica.Client().Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	eventually(t, "Redis reports its replica", func() bool { return w.Ready(t.Context(), main) == nil })
	r := begun(t, w, create())
	if n := replica.Client().Exists(t.Context(), "larder:{o:main}:f1:order:"+r.Ref).Val(); n != 1 {
		t.Errorf("the replica has %d records of the order, want 1", n)
	}
	ended(t, w, r, ordering.OutcomeDone, "765")

	lost := ended(t, w, begun(t, w, create()), ordering.OutcomeUnknown, "")

	replica.Stop()
	again := ordering.ResolveCall{
		ID:         create().ID,
		Connection: main,
		Ref:        lost.Ref,
		Operation:  upstream.OpCreate,
		Resolution: ordering.ResolvedRetry,
		Deadline:   time.Hour,
	}
	if _, err := w.Resolve(t.Context(), again); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Resolve with a retry without the replica: %v, want ErrReplicas", err)
	}
	cfg := ordering.DefaultConfig()
	cfg.WaitReplicas = new(1)
	for _, o := range []ordering.CallSpec{create(), pay("765")} {
		fresh := journal.New(open(t, w.server.URL(), ""), cfg, quiet()) // has not seen a failed WAIT
		_, err := fresh.Begin(t.Context(), o)
		var want *ordering.JournalError
		if !errors.As(err, &want) || !errors.Is(err, journal.ErrReplicas) {
			t.Fatalf("Begin for %s without the replica: %v, want ErrReplicas", o.Operation, err)
		}
		if _, _, err := w.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
			t.Errorf("%s: Lookup: %v, want ErrKeyFree", o.Operation, err)
		}
	}
	open, _, err := w.List(t.Context(), ordering.Query{Connections: []string{main}, Limit: 10})
	for _, record := range open {
		if call, busy := record.Busy(); busy {
			t.Errorf("call %+v of %s is open, want none", call, record.Ref)
		}
	}
	if err != nil || len(open) != 3 {
		t.Errorf("List = %d records, %v; want the placed one and the two that were not sent", len(open), err)
	}
}
