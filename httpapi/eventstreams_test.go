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

	"larder.local/httpapi/events"
	"larder.local/internal/testkit/apitest"
)

// A reader that does not read is disconnected and blocks no other reader. It gets only the newest
// version, so the memory for it does not grow.
func TestASlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	w := newFixture(t, apitest.WithEvents(func(c *events.Config) { c.WriteTimeout = 500 * time.Millisecond }))
	server := httptest.NewUnstartedServer(w.Server.Handler())
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
	if _, err := fmt.Fprintf(slow, "GET /v1/events?restaurant=%s HTTP/1.1\r\nHost: larder\r\n\r\n", apitest.Bistro); err != nil {
		t.Fatal(err)
	}
	w.WaitMetric(`larder_event_streams{kind="menu"} 1`)
	quick := w.Follow(apitest.Bistro)
	quick.Next()
	const versions = 20
	for n := range versions {
		w.Service.SetMenu(apitest.Bistro, apitest.Dishes(2000, 100, n%2 == 1))
		w.SyncOnce(apitest.Bistro)
		if got, want := quick.Next().About(t, []string{"menu.updated", "menu.availability"}[min(n, 1)]), n+2; got.Version != want {
			t.Fatalf("the quick reader got version %d, want %d", got.Version, want)
		}
	}
	w.WaitMetric(`larder_event_streams_ended_total{kind="menu",reason="slow"} 1`)
	w.WaitMetric(`larder_event_streams{kind="menu"} 1`)
}

// At a stop the streams end first, with a retry hint, so that the drain does not wait for them. New
// streams are rejected.
func TestStreamsEndFirstAtAStop(t *testing.T) {
	t.Parallel()
	const delay = 400 * time.Millisecond
	w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.DrainDelay, p.HTTP.DrainTimeout = delay, time.Minute })
	stop := run(w)
	base := "http://" + w.Server.Addr()
	feeds := make([]*apitest.Stream, 8)
	for i := range feeds {
		feeds[i] = apitest.OpenStream(t, base+"/v1/events?restaurant="+apitest.Bistro)
		feeds[i].Next()
	}
	var stopping errgroup.Group
	begun := time.Now()
	stopping.Go(stop)
	for _, f := range feeds {
		f.Over()
		if retry, err := strconv.Atoi(f.Retry); err != nil || retry < int(delay.Milliseconds())+2000 {
			t.Errorf("retry is %q ms, want after the drain delay", f.Retry)
		}
	}
	probe := serve(t, w.Server.Handler()) // next to the listener that is closing
	apitest.Do(t, http.MethodGet, probe+"/v1/events?restaurant="+apitest.Bistro, "").Refused(t, http.StatusServiceUnavailable, "streams_unavailable")
	if err := stopping.Wait(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < delay || logged(w, "http.drain_cut") != 0 {
		t.Errorf("the stop took %v, and aborted requests %d times; want at least the delay of %v, and no time limit reached", took, logged(w, "http.drain_cut"), delay)
	}
}

// A stream is not subject to the time limits of ordinary requests, such as 10 s for reading a
// request.
func TestAStreamOutlivesTheReadTimeout(t *testing.T) {
	t.Parallel()
	w := newFixture(t, apitest.AnyMenu, onPort0)
	stop := run(w)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	f := apitest.OpenStream(t, "http://"+w.Server.Addr()+"/v1/events?restaurant="+apitest.Bistro)
	f.Next()
	limit := time.NewTimer(11 * time.Second)
	defer limit.Stop()
	<-limit.C
	w.Service.SetMenu(apitest.Bistro, apitest.Dishes(5, 1, false))
	w.SyncOnce(apitest.Bistro)
	if got := f.Next().About(t, "menu.updated"); got.Version != 2 {
		t.Errorf("got %+v, want version 2", got)
	}
}
