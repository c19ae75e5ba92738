package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/sandbox"
)

// stream is a client of /sandbox/events.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  context.CancelFunc
}

func (w *fixture) listen() *stream {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/sandbox/events", http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || !strings.HasPrefix(got, "text/event-stream") {
		w.t.Fatalf("status %d, %s", resp.StatusCode, got)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{w.t, lines, cancel}
}

// event waits for an event with that name whose data contains all parts.
func (s *stream) event(name string, parts ...string) string {
	s.t.Helper()
	var at string
	for s.lines.Scan() {
		line := s.lines.Text()
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			at = event
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || at != name {
			continue
		}
		if !json.Valid([]byte(data)) {
			s.t.Fatalf("%s: not JSON: %s", name, data)
		}
		if holdsAll(data, parts) {
			return data
		}
	}
	s.t.Fatalf("no event %s with %q: %v", name, parts, s.lines.Err())
	return ""
}

func holdsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func TestEventsReportChanges(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.place()
	s := w.listen()
	if data := s.event("orders"); !holdsAll(data, []string{`"orderID":"1001"`, `"total":1`, `"dishList"`}) {
		t.Errorf("the first event is %s, want the order that is there", data)
	}
	s.event("board", `"autoAccept":true`, `"faults":[]`, `"refused":[]`)

	w.place()
	if data := s.event("orders", `"orderID":"1002"`, `"total":2`); strings.Contains(data, "1001") {
		t.Errorf("an order that did not change is reported again: %s", data)
	}
	w.do(http.MethodPost, "/sandbox/orders/1001/advance", `{"to":"kitchen"}`).want(http.StatusOK)
	s.event("orders", `"orderID":"1001"`, `"state":"kitchen"`)

	w.faults(`[{"do":"latency","delay":"1ms","times":3}]`)
	s.event("board", `"times":3`)
	w.do(http.MethodPost, "/sandbox/faults", `{"do":"html","times":1,"match":{"path":"/nowhere"}}`).want(http.StatusOK)
	s.event("board", `"do":"latency"`, `"do":"html"`)
	w.settings(`{"orderIDs":"number"}`)
	s.event("board", `"orderIDs":"number"`)
	w.do(http.MethodPatch, "/sandbox/stop-list/"+sandbox.BistroID, `{"dish-fries":true}`).want(http.StatusOK)
	s.event("board", `"menus":3`)
	w.do(http.MethodPost, orders, `{"restaurantID":"`+sandbox.BistroID+`","dishList":[]}`).want(http.StatusBadRequest)
	s.event("board", `"reasons":["`, `"POST /orders/api/v1/orders":3`)
}

func TestEventsReportTimedChanges(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"autoAcceptDelay":"200ms"}`)
	s := w.listen()
	s.event("board", `"autoAcceptDelay":"200ms"`)
	w.place()
	s.event("orders", `"state":"new"`)
	// The stream waits with the real clock, but compares with the sandbox's
	// clock.
	w.pass(time.Second)
	s.event("orders", `"orderID":"1001"`, `"state":"cash_station"`)
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	w := start(t)
	streams := make([]*stream, 0, 32)
	for range 32 {
		s := w.listen()
		s.event("orders")
		streams = append(streams, s)
	}
	w.do(http.MethodGet, "/sandbox/events", "").wantError(http.StatusServiceUnavailable, "too_many_streams")
	for _, s := range streams {
		s.stop()
	}
	// A closed stream frees its place when the sandbox notices.
	deadline := time.Now().Add(time.Minute)
	for status := 0; status != http.StatusOK; {
		if time.Now().After(deadline) {
			t.Fatal("no room for a reader after all others left")
		}
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/sandbox/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		status = resp.StatusCode
		cancel()
		_ = resp.Body.Close()
	}
}

// TestEventsEndWithTheSandbox: a graceful shutdown does not wait for streams.
func TestEventsEndWithTheSandbox(t *testing.T) {
	t.Parallel()
	w := start(t)
	s := w.listen()
	s.event("orders")
	w.box.Close()
	for s.lines.Scan() {
	}
	if err := s.lines.Err(); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestMenusAreListed(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.box.SetGenerated(sandbox.Generate{Restaurants: 120, Products: 5, Seed: 1})
	r := w.do(http.MethodGet, "/sandbox/menus", "").want(http.StatusOK)
	if list, _ := r.at("result", "menus").([]any); len(list) != 50 || list[0] != sandbox.DefaultMenu || r.str("result", "total") != "122" {
		t.Errorf("%d menus of %s, the first is %v", len(list), r.str("result", "total"), list[0])
	}
	if name := r.str("result", "names", sandbox.DefaultMenu); name != "Larder Bistro" {
		t.Errorf("the default menu has the name %q", name)
	}
	for range 2 { // a broken menu has the name of the one before it
		w.do(http.MethodPut, "/sandbox/menus/"+sandbox.DefaultMenu, `{"name": "Broken`).want(http.StatusOK)
	}
	r = w.do(http.MethodGet, "/sandbox/menus?search="+sandbox.DefaultMenu, "").want(http.StatusOK)
	if name := r.str("result", "names", sandbox.DefaultMenu); name != "Larder Bistro" {
		t.Errorf("the broken default menu has the name %q", name)
	}
	r = w.do(http.MethodGet, "/sandbox/menus?search="+strings.ToUpper(sandbox.BistroID[:8])+"&limit=500", "").want(http.StatusOK)
	if r.str("result", "total") != "1" || r.str("result", "menus", 0) != sandbox.BistroID {
		t.Errorf("the search gives %s", r.body)
	}
	for _, limit := range []string{"0", "501", "x"} {
		w.do(http.MethodGet, "/sandbox/menus?limit="+limit, "").wantError(http.StatusBadRequest, "bad_limit")
	}
}

func TestTheBoardIsForBrowsers(t *testing.T) {
	t.Parallel()
	w := start(t)
	r := w.do(http.MethodGet, "/", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8").want(http.StatusOK)
	if !strings.HasPrefix(string(r.body), "<!doctype html>") || r.header.Get("Vary") != "Accept" {
		t.Errorf("a browser gets %.80s, Vary %q", r.body, r.header.Get("Vary"))
	}
	policy := r.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the page's policy is %q", policy)
	}
	_, rest, _ := strings.Cut(string(r.body), `<link rel="icon" href="`)
	address, _, _ := strings.Cut(rest, `"`)
	if icon := w.do(http.MethodGet, address, "").want(http.StatusOK); icon.header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the icon %q is %s", address, icon.header.Get("Content-Type"))
	}
	if r := w.do(http.MethodGet, "/", "").want(http.StatusOK); !strings.Contains(string(r.body), "/connect/token") {
		t.Errorf("anything else gets %s", r.body)
	}
	for name, kind := range map[string]string{"board.js": "text/javascript", "board.css": "text/css"} {
		if r := w.do(http.MethodGet, "/sandbox/board/"+name, "").want(http.StatusOK); !strings.HasPrefix(r.header.Get("Content-Type"), kind) {
			t.Errorf("%s is %s", name, r.header.Get("Content-Type"))
		}
	}
	w.do(http.MethodGet, "/sandbox/board/board.html", "").wantError(http.StatusNotFound, "file_not_found")
	w.do(http.MethodPost, "/sandbox/faults", `{"do":"nothing"}`).wantError(http.StatusBadRequest, "bad_faults")
	if r := w.do(http.MethodHead, "/sandbox/events", ""); r.status != http.StatusOK || len(r.body) > 0 {
		t.Errorf("HEAD of the events: %d, %q", r.status, r.body)
	}
}
