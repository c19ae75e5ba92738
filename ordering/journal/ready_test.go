package journal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// TestReady tests which configurations of Redis can record orders durably (policy O14).
func TestReady(t *testing.T) {
	t.Parallel()
	volatile := func(c *ordering.Config) { c.AllowNonDurable = true }
	appendOnly := redistest.AppendOnly()
	for _, test := range []struct {
		name    string
		options []redistest.Option // nil: the embedded Redis
		change  func(*ordering.Config)
		want    string // part of the message; empty if it is ready
		retry   time.Duration
	}{
		{"append-only and noeviction", []redistest.Option{appendOnly}, nil, "", 0},
		{"nothing on disk", []redistest.Option{}, nil, "ordering.allow_non_durable", time.Minute},
		{"snapshots only", []redistest.Option{redistest.Config("save", "60", "1")}, nil, "snapshots lose the latest orders", time.Minute},
		{"nothing on disk, allowed", []redistest.Option{}, volatile, "", 0},
		{
			"evicts",
			[]redistest.Option{appendOnly, redistest.Config("maxmemory-policy", "allkeys-lru")},
			nil,
			`maxmemory-policy is "allkeys-lru"`, time.Minute,
		},
		{
			"evicts, allowed",
			[]redistest.Option{appendOnly, redistest.Config("maxmemory-policy", "volatile-ttl")},
			func(c *ordering.Config) { c.AllowEviction = true }, "", 0,
		},
		{"embedded", nil, nil, "embedded", time.Minute},
		{"embedded, allowed", nil, volatile, "", 0},
		{
			"without its replicas",
			[]redistest.Option{appendOnly},
			func(c *ordering.Config) { c.WaitReplicas = new(2) },
			"ordering.wait_replicas is 2, but Redis reports no replica", 5 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := redisdb.Embedded
			if test.options != nil {
				url = redistest.Start(t, test.options...).URL()
			}
			cfg := ordering.DefaultConfig()
			if test.change != nil {
				test.change(&cfg)
			}
			j := journal.New(open(t, url, ""), cfg, quiet())
			for range 2 { // the second result is cached
				wantNotReady(t, j.Ready(t.Context(), main), test.want, test.retry)
			}
			if health, err := j.Health(t.Context(), main); err != nil || health.Embedded != (test.options == nil) {
				t.Errorf("Health() = %+v, %v", health, err)
			}
		})
	}
}

func wantNotReady(t *testing.T, err error, msg string, retry time.Duration) {
	t.Helper()
	if msg == "" {
		if err != nil {
			t.Errorf("Ready = %v, want ready", err)
		}
		return
	}
	var got *ordering.NotReadyError
	if !errors.As(err, &got) || !strings.Contains(got.Msg, msg) || got.RetryAfter != retry {
		t.Errorf("Ready = %v, want a *NotReadyError with %q, retry after %s", err, msg, retry)
	}
}

// TestReady_AppendOnlyFileFails tests a state that no test server can have.
func TestReady_AppendOnlyFileFails(t *testing.T) {
	t.Parallel()
	j := journal.NewOver(nil, "", ordering.DefaultConfig(), quiet())
	facts := map[string]string{"maxmemory_policy": "noeviction", "aof_enabled": "1", "aof_last_write_status": "err"}
	wantNotReady(t, j.DurabilityError(facts), "cannot write its append-only file", time.Minute)
	facts["aof_last_write_status"] = "ok"
	wantNotReady(t, j.DurabilityError(facts), "", 0)
}

// Settings are cached only for some seconds.
func TestReadyIsCheckedAgain(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	wantNotReady(t, w.Ready(t.Context(), main), "", 0)
	if err := w.client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new policy is seen", func() bool { return w.Ready(t.Context(), main) != nil })
	wantNotReady(t, w.Ready(t.Context(), main), "allkeys-lru", time.Minute)
}

// Ready returns when its context ends.
func TestReadyEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	p := newProxy(t, w.server.Addr())
	j := journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	p.hold()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) //testwaits:allow the test expects its end
	defer cancel()
	err := j.Ready(ctx, main)
	wantNotReady(t, err, "does not answer", 5*time.Second)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ready = %v, want it to wrap the context's error", err)
	}
	p.release()
	eventually(t, "Redis responds again", func() bool { return j.Ready(t.Context(), main) == nil })
}

// If Redis went down after Ready, Begin fails.
func TestBeginFailsAfterReady(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	wantNotReady(t, w.Ready(t.Context(), main), "", 0)
	w.server.Stop()
	if _, err := w.Begin(t.Context(), create()); err == nil {
		t.Errorf("Begin returns a record without Redis; Ready = %v", w.Ready(t.Context(), main))
	}
}

// After Redis has lost everything, the first instance restores the secret that it has in
// memory, so that all instances use the same.
func TestSecretIsRestored(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	other := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	want, err := w.Secret(t.Context(), main)
	if err != nil || len(want) != 32 {
		t.Fatalf("secret = %d bytes, %v; want 32", len(want), err)
	}
	if err := w.client.Del(t.Context(), "larder:{o:main}:f1:secret").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the secret is back", func() bool {
		if got, err := w.Secret(t.Context(), main); err != nil || string(got) != string(want) {
			t.Fatalf("the instance that had the secret has another one, %v", err)
		}
		return w.client.Exists(t.Context(), "larder:{o:main}:f1:secret").Val() == 1
	})
	if got, err := other.Secret(t.Context(), main); err != nil || string(got) != string(want) {
		t.Errorf("another instance has another secret, %v", err)
	}
}

// A connection keeps its secret beside its records. It begins with that of an earlier version, which had one for all
// connections, and does not change if that is lost, for example with another slot of a cluster.
func TestSecretOfAConnection(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	fresh := func() *journal.Journal {
		return journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	}
	earlier := bytes.Repeat([]byte("s"), 32)
	if err := w.client.Set(t.Context(), "larder:f1:journal-secret", earlier, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Secret(t.Context(), main); err != nil || !bytes.Equal(got, earlier) {
		t.Errorf("secret = %x, %v; want that of the earlier version", got, err)
	}
	if err := w.client.Del(t.Context(), "larder:f1:journal-secret").Err(); err != nil {
		t.Fatal(err)
	}
	next := fresh()
	if got, err := next.Secret(t.Context(), "other"); err != nil || bytes.Equal(got, earlier) {
		t.Errorf("secret of another connection = %x, %v; want a new one", got, err)
	}
	for name, j := range map[string]*journal.Journal{"next": next, "fresh": fresh()} {
		if got, err := j.Secret(t.Context(), main); err != nil || !bytes.Equal(got, earlier) {
			t.Errorf("%s: secret = %x, %v; want the connection's own", name, got, err)
		}
	}
}

// Nothing is written beside the records of another version.
func TestSecretOfAnotherFormat_O20(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", "format", "4")
	before := dump(t, w)
	if _, err := w.Secret(t.Context(), main); !isFormat(err) {
		t.Errorf("secret: %v, want a *FormatError", err)
	}
	wantSame(t, w, before)
}

// Records of another format and wrong settings of Redis are reported together (policies O14b and O20).
func TestFormatAndSettings_O14b(t *testing.T) {
	t.Parallel()
	w := start(t, nil, redistest.Config("appendonly", "no"), redistest.Config("maxmemory-policy", "volatile-lru"))
	if err := w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", "format", "9").Err(); err != nil {
		t.Fatal(err)
	}
	err := w.Ready(t.Context(), main)
	for _, part := range []string{`format "9"`, "appendonly is off", "volatile-lru"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Ready = %v, want %s", err, part)
		}
	}
	if !isFormat(err) {
		t.Errorf("Ready = %T, want a *FormatError in it", err)
	}
}
