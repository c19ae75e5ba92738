package keptconn

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
	"unsafe"
)

// shifted returns t with another reading of the monotonic clock, which is the second word of a time.Time.
func shifted(t time.Time, by time.Duration) time.Time {
	(*[2]int64)(unsafe.Pointer(&t))[1] += int64(by) // no other way to set the clocks apart
	return t
}

// A time is over if either clock says so: the monotonic one stops while a machine sleeps, and a person may set
// the other one.
func TestPastReadsBothClocks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tc := range map[string]struct {
		end  time.Time
		want bool
	}{
		"no end":                      {time.Time{}, false},
		"later":                       {now.Add(time.Hour), false},
		"over":                        {now.Add(-time.Hour), true},
		"over by the monotonic clock": {shifted(now.Add(time.Hour), -2*time.Hour), true},
		"over by the wall clock":      {shifted(now.Add(-time.Hour), 2*time.Hour), true},
	} {
		if got := Past(tc.end); got != tc.want {
			t.Errorf("%s: Past() = %v", name, got)
		}
	}
}

// watch returns a pool with one watched connection. after is called before the response is closed.
func watch(t *testing.T, reuse time.Duration, after func(cancel func())) (*Pool, *Conn) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	pool := &Pool{
		Address: server.Listener.Addr().String(), Open: new(net.Dialer).DialContext, Reuse: reuse, Doubted: func() {},
	}
	t.Cleanup(pool.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, sent, err := pool.Send(req, Limits{Begin: time.Now().Add(time.Minute)}, false)
	if err != nil || !sent {
		t.Fatal(sent, err)
	}
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	after(cancel)
	res.Release(true)
	if len(pool.idle) == 0 {
		return pool, nil
	}
	return pool, pool.idle[0]
}

// A call ends together with its response: its connection may have a deadline, so it is not kept.
func TestAConnectionWithADeadlineIsNotKept(t *testing.T) {
	t.Parallel()
	if _, conn := watch(t, time.Minute, func(cancel func()) { cancel() }); conn != nil {
		t.Error("the connection is kept")
	}
}

// A connection that was idle while the machine slept proves nothing.
func TestTheProofNeedsAMachineThatIsAwake(t *testing.T) {
	t.Parallel()
	for slept, want := range map[time.Duration]bool{0: true, 500 * time.Millisecond: true, time.Minute: false} {
		pool, conn := watch(t, time.Minute, func(func()) {})
		conn.watched = shifted(conn.watched.Add(-slept), slept)
		pool.expire(conn)
		if pool.Proven != want || len(pool.idle) != 0 || !pool.doubtUntil.IsZero() {
			t.Errorf("slept %s: proven %v, %d idle, doubt until %v; want %v, 0, none",
				slept, pool.Proven, len(pool.idle), pool.doubtUntil, want)
		}
	}
}

// A kept connection is used until its time is over by either clock.
func TestAKeptConnectionIsUsedByBothClocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		age, monotonic time.Duration
		resting        bool
		want           bool
	}{
		"in time":                     {0, 0, false, true},
		"resting":                     {0, 0, true, false},
		"over by the monotonic clock": {0, -2 * time.Minute, false, false},
		"over by the wall clock":      {2 * time.Minute, 2 * time.Minute, false, false},
	} {
		pool, conn := watch(t, time.Minute, func(func()) {})
		pool.Proven = true
		if wait := time.Until(conn.rested); wait > rest || wait <= 0 && time.Since(conn.watched) < rest {
			t.Errorf("it rests for %v after a response", wait)
		}
		conn.rested = time.Now().Add(-time.Second)
		if tc.resting {
			conn.rested = time.Now().Add(time.Minute)
		}
		conn.began = shifted(conn.began.Add(-tc.age), tc.monotonic)
		got := pool.take(Limits{}, false)
		if (got != nil) != tc.want {
			t.Errorf("%s: taken %v, want %v", name, got != nil, tc.want)
		}
		if got != nil {
			_ = got.Close()
		}
	}
}
