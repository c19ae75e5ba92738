package httpapi_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/httpapi/events"
)

// A reader that does not read is disconnected and blocks no other reader. It gets only the newest
// version, so the memory for it does not grow.
func TestASlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	w := newFixture(t, withEvents(func(c *events.Config) { c.WriteTimeout = 500 * time.Millisecond }))
	server := httptest.NewUnstartedServer(w.server.Handler())
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if tcp, ok := conn.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(4096)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	var dialer net.Dialer
	slow, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slow.Close() })
	if tcp, ok := slow.(*net.TCPConn); !ok || tcp.SetReadBuffer(4096) != nil {
		t.Fatal("cannot make the reader slow")
	}
	if _, err := fmt.Fprintf(slow, "GET /v1/events?restaurant=%s HTTP/1.1\r\nHost: larder\r\n\r\n", bistro); err != nil {
		t.Fatal(err)
	}
	w.metric(`larder_event_streams{kind="menu"} 1`)
	quick := w.follow(bistro)
	quick.next()
	const versions = 20
	for n := range versions {
		w.service.setMenu(bistro, dishes(2000, 100, n%2 == 1))
		w.syncOnce(bistro)
		if got, want := quick.next().about(t, []string{"menu.updated", "menu.availability"}[min(n, 1)]), n+2; got.Version != want {
			t.Fatalf("the quick reader got version %d, want %d", got.Version, want)
		}
	}
	w.metric(`larder_event_streams_ended_total{kind="menu",reason="slow"} 1`)
	w.metric(`larder_event_streams{kind="menu"} 1`)
}

// At a stop the streams end first, with a retry hint, so that the drain does not wait for them. New
// streams are rejected.
func TestStreamsEndFirstAtAStop(t *testing.T) {
	t.Parallel()
	const delay = 400 * time.Millisecond
	w := newFixture(t, onPort0, func(p *plan) { p.cfg.DrainDelay, p.cfg.DrainTimeout = delay, time.Minute })
	stop := w.running()
	base := "http://" + w.server.Addr()
	feeds := make([]*feed, 8)
	for i := range feeds {
		feeds[i] = openFeed(t, base+"/v1/events?restaurant="+bistro)
		feeds[i].next()
	}
	var stopping errgroup.Group
	begun := time.Now()
	stopping.Go(stop)
	for _, f := range feeds {
		f.over()
		if retry, err := strconv.Atoi(f.retry); err != nil || retry < int(delay.Milliseconds())+2000 {
			t.Errorf("retry is %q ms, want after the drain delay", f.retry)
		}
	}
	probe := serve(t, w.server.Handler()) // next to the listener that is closing
	do(t, http.MethodGet, probe+"/v1/events?restaurant="+bistro, "").refused(t, http.StatusServiceUnavailable, "streams_unavailable")
	if err := stopping.Wait(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < delay || w.events("http.drain_cut") != 0 {
		t.Errorf("the stop took %v, and aborted requests %d times; want at least the delay of %v, and no time limit reached", took, w.events("http.drain_cut"), delay)
	}
}

// A stream is not subject to the time limits of ordinary requests, such as 10 s for reading a
// request.
func TestAStreamOutlivesTheReadTimeout(t *testing.T) {
	t.Parallel()
	w := newFixture(t, anyMenu, onPort0)
	stop := w.running()
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	f := openFeed(t, "http://"+w.server.Addr()+"/v1/events?restaurant="+bistro)
	f.next()
	limit := time.NewTimer(11 * time.Second)
	defer limit.Stop()
	<-limit.C
	w.service.setMenu(bistro, dishes(5, 1, false))
	w.syncOnce(bistro)
	if got := f.next().about(t, "menu.updated"); got.Version != 2 {
		t.Errorf("got %+v, want version 2", got)
	}
}
