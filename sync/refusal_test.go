package sync

import (
	"context"
	"errors"
	"slices"
	stdsync "sync"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/sleep"
)

// said is an error of Redis.
type said string

func (e said) Error() string { return string(e) }
func (said) RedisError()     {}

// A Redis that responds and refuses writes has its own state: it is logged once
// with its reason, again when the reason changes, and ends when writes succeed.
func TestHealthDistinguishesRefusedWritesFromAnOutage(t *testing.T) {
	t.Parallel()
	log, lines := logtest.NewNullLogger()
	h := newHealth(log, sleep.NewSignal())
	full := &redisdb.RefusedError{Class: "OOM", Err: errors.New("OOM command not allowed")}
	denied := &redisdb.RefusedError{Class: "NOPERM", Rights: []string{"+hset", "+multi"}, Err: errors.New("NOPERM")}
	cut := &redisdb.RefusedError{Class: "NOREPLICAS", Err: errors.New("NOREPLICAS Not enough good replicas")}
	for i, step := range []struct {
		answer error
		up     bool
		class  string // of the refusal
		came   bool
	}{
		{full, false, "OOM", false},
		{full, false, "OOM", false},
		{nil, true, "", true},
		{nil, true, "", false},
		{full, false, "OOM", false},
		{cut, false, "NOREPLICAS", false},
		{cut, false, "NOREPLICAS", false},
		{denied, false, "NOPERM", false},
		{said("ERR DB index is out of range"), false, "", false},
		{errors.New("connection refused"), false, "", false},
		{nil, true, "", true},
	} {
		came := h.set(step.answer)
		class := ""
		if refused, ok := errors.AsType[*redisdb.RefusedError](h.lastFault()); ok {
			class = refused.Class
		}
		if came != step.came || h.isUp() != step.up || class != step.class {
			t.Errorf("ping %d: came %v, up %v, class %q; want %+v", i, came, h.isUp(), class, step)
		}
	}
	var got []string
	for _, entry := range lines.AllEntries() {
		got = append(got, entry.Message)
	}
	want := []string{
		"Redis refuses writes: OOM: its memory is full (maxmemory); syncs pause until it accepts them",
		"Redis accepts writes again; catching up",
		"Redis refuses writes: OOM: its memory is full (maxmemory); syncs pause until it accepts them",
		"Redis refuses writes: NOREPLICAS: it has fewer replicas than min-replicas-to-write; syncs pause until it accepts them",
		"Redis refuses commands: NOPERM: its user lacks rights: run ACL SETUSER NAME +hset +multi in Redis (docs/redis.md#rights); syncs pause until it accepts them",
		"Redis answers with an error: ERR: it does not have the database of redis.url: write a smaller number after the host, such as /0; syncs pause until it does not",
		"Redis does not answer; syncs pause until it does",
		"Redis answers again; catching up",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// A ping also tests larder's rights at the start, after a failure, after a suspicion, and every minute.
func TestHealthProbesRights(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHealth(silentlog.New(), sleep.NewSignal())
		var (
			mu     stdsync.Mutex
			asked  []bool
			answer error
			slow   bool // the test of all rights takes too long
		)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.watch(ctx, func(_ context.Context, doubt bool) error {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, doubt)
				if slow && doubt {
					return context.DeadlineExceeded
				}
				return answer
			}, func(context.Context, bool) {})
		}()
		step := func(what string, want ...bool) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(asked, want) {
				t.Errorf("%s: probed %v, want %v", what, asked, want)
			}
			asked = nil
		}
		step("at the start", true)
		<-time.After(3 * pingInterval)
		step("while Redis is healthy", false, false, false)
		<-time.After(rightsInterval - 3*pingInterval)
		step("after a minute", false, false, false, false, false, false, false, false, true)
		h.suspect()
		step("after a run suspects an outage", true)
		mu.Lock()
		slow = true
		mu.Unlock()
		h.suspect()
		step("a slow Redis", true, false)
		if !h.isUp() {
			t.Error("a Redis that is too slow only for the test of all rights counts as down")
		}
		mu.Lock()
		slow = false
		mu.Unlock()
		setAnswer := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			answer = err
		}
		setAnswer(errors.New("down"))
		<-time.After(pingInterval)
		step("when Redis goes down", false)
		setAnswer(nil)
		<-time.After(firstPing)
		step("when Redis comes back", true)
		cancel()
		<-done
	})
}
