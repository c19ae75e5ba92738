package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// shown is a daemon with changeable responses.
type shown struct {
	ready, restaurants, orders, order atomic.Pointer[http.HandlerFunc]
	asked                             atomic.Int64 // for lists of orders
}

func (s *shown) set(at *atomic.Pointer[http.HandlerFunc], answer http.HandlerFunc) { at.Store(&answer) }

const (
	allWell  = `{"status":"ok","parts":{"redis":{"ok":true,"msg":""},"connections":{"main":{"ok":true,"msg":""}}}}`
	notWell  = `{"status":"degraded","parts":{"redis":{"ok":true,"msg":""},"connections":{"main":{"ok":false,"msg":"the last sync of 1 restaurant failed: r1"}}}}`
	oneOrder = `{"result":[{"ref":"01M7XYWYA9ZF3T3GVVC5557T6W","state":"unknown","restaurant":"r1","createdAt":"2026-11-21T10:00:00Z"}],"next":null}`
	noOrder  = `{"result":[],"next":null}`
)

func newShown(t *testing.T) (s *shown, base string) {
	t.Helper()
	s = &shown{}
	s.set(&s.ready, clitest.Says(200, allWell))
	s.set(&s.restaurants, rows(`"version":4,"lastOutcome":"unchanged","checkedAt":"2026-11-21T10:00:00Z"`))
	s.set(&s.orders, clitest.Says(200, noOrder))
	s.set(&s.order, clitest.Says(200, `{"result":{"ref":"01M7XYWYA9ZF3T3GVVC5557T6W","state":"placed","unknown":null}}`))
	current := func(at *atomic.Pointer[http.HandlerFunc]) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { (*at.Load())(w, r) }
	}
	base = clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /readyz": current(&s.ready), "GET /v1/restaurants": current(&s.restaurants),
		"GET /v1/ops/orders": func(w http.ResponseWriter, r *http.Request) {
			s.asked.Add(1)
			(*s.orders.Load())(w, r)
		},
		"GET /v1/ops/orders/{ref}": current(&s.order),
	})
	return s, base
}

func TestAWatchTellsEachChange(t *testing.T) {
	t.Parallel()
	s, base := newShown(t)
	watch := command{}.start(t, clitest.AsOps(base, "status", "--watch", "--every", "200ms")...)
	watch.Out.Find(t, `(?m)^\d\d:\d\d:\d\d  larder: ok\n\d\d:\d\d:\d\d  restaurants: 1 restaurant, 1 ok\n`)
	s.set(&s.ready, clitest.Says(200, notWell))
	s.set(&s.restaurants, rows(`"version":4,"lastOutcome":"failed","stale":true,"checkedAt":"2026-11-21T10:00:00Z"`))
	s.set(&s.orders, clitest.Says(200, oneOrder))
	watch.Out.Find(t, `  larder: ok → degraded\n`)
	watch.Out.Find(t, `  part connections main: ok → not ok: the last sync of 1 restaurant failed: r1\n`)
	watch.Out.Find(t, `  restaurant r1: version 4 → version 4, failed, stale\n`)
	watch.Out.Find(t, `  order 01M7XYWYA9ZF3T3GVVC5557T6W: unknown \(restaurant r1, since 2026-11-21T10:00:00Z\)\n`)
	s.set(&s.ready, clitest.Says(200, allWell))
	s.set(&s.restaurants, rows(`"version":5,"lastOutcome":"updated"`, `"version":1`))
	s.set(&s.orders, clitest.Says(200, noOrder))
	watch.Out.Find(t, `  restaurant r1: version 4, failed, stale → version 5\n`)
	watch.Out.Find(t, `  restaurant r2: version 1\n`)
	watch.Out.Find(t, `  order 01M7XYWYA9ZF3T3GVVC5557T6W: unknown → resolved\n`)
	if status := watch.Stop(); status != StatusDone {
		t.Errorf("ended with status %d", status)
	}
	if lines := strings.Count(watch.Out.String(), "\n"); lines != 11 {
		t.Errorf("%d lines, want one for each change:\n%s", lines, watch.Out)
	}
}

// Redis has lost an unknown order: it is not in the list any more, but it is not resolved.
func TestAWatchDoesNotCallALostOrderResolved_O14a(t *testing.T) {
	t.Parallel()
	s, base := newShown(t)
	s.set(&s.orders, clitest.Says(200, oneOrder))
	s.set(&s.order, clitest.Says(503, `{"code":"journal_restored","msg":"records may be missing"}`))
	watch := command{}.start(t, clitest.AsOps(base, "status", "--watch", "--every", "200ms")...)
	watch.Out.Find(t, `  order 01M7XYWYA9ZF3T3GVVC5557T6W: unknown `)
	s.set(&s.orders, clitest.Says(200, noOrder))
	s.set(&s.restaurants, rows(`"version":5,"lastOutcome":"updated"`))
	watch.Out.Find(t, `  restaurant r1: version 4 → version 5\n`)
	asked := s.asked.Load()
	clitest.Eventually(t, "two more polls", func() bool { return s.asked.Load() > asked+2 })
	if status := watch.Stop(); status != StatusDone {
		t.Errorf("ended with status %d", status)
	}
	if strings.Contains(watch.Out.String(), "resolved") {
		t.Errorf("the lost order is called resolved:\n%s", watch.Out)
	}
}

func TestWatchReadsEveryUnknownOrder(t *testing.T) {
	t.Parallel()
	s, base := newShown(t)
	s.set(&s.orders, func(w http.ResponseWriter, r *http.Request) {
		page := strings.Replace(oneOrder, `"next":null`, `"next":"second"`, 1)
		if r.FormValue("cursor") == "second" {
			page = strings.Replace(oneOrder, "01M7XYWYA9ZF3T3GVVC5557T6W", "01M7XYWYA9ZF3T3GVVC5557T6X", 1)
		}
		clitest.Says(200, page)(w, r)
	})
	watch := command{}.start(t, clitest.AsOps(base, "status", "--watch", "--every", "200ms")...)
	watch.Out.Find(t, `order 01M7XYWYA9ZF3T3GVVC5557T6W: unknown`)
	watch.Out.Find(t, `order 01M7XYWYA9ZF3T3GVVC5557T6X: unknown`)
}

func TestListWithoutEnd(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/ops/restaurants/{id}/versions": clitest.Says(200, `{"result":[],"next":"again"}`),
	})
	got := larder(t, clitest.AsOps(base, "menu", "versions", "r1")...)
	if got.Status != StatusFailed || !strings.Contains(got.Err, "the list has no end") {
		t.Errorf("versions of a list that never ends: %+v", got)
	}
}

func TestAWatchAsJSONIsALineForEachChange(t *testing.T) {
	t.Parallel()
	s, base := newShown(t)
	watch := command{outTerminal: true}.start(t, clitest.AsOps(base, "status", "--watch", "--json", "--every", "200ms")...)
	watch.Out.Find(t, `"subject":"restaurants"`)
	s.set(&s.ready, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	watch.Out.Find(t, `"from":"ok","to":"unreachable"`)
	s.set(&s.ready, clitest.Says(200, allWell))
	watch.Out.Find(t, `"from":"unreachable","to":"ok"`)
	watch.Stop()
	for text := range strings.SplitSeq(strings.TrimSpace(watch.Out.String()), "\n") {
		var c statusChange
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.At.IsZero() || c.Subject == "" || c.To == "" {
			t.Errorf("%q: %v, want a change", text, err)
		}
	}
}

// A watcher whose token is refused must not look like an attacker who guesses.
func TestAWatchAsksForOrdersOnceWhereItMayNot(t *testing.T) {
	t.Parallel()
	s, base := newShown(t)
	s.set(&s.orders, clitest.Says(403, `{"status":403,"code":"forbidden","msg":"the token has no scope ops"}`))
	watch := command{}.start(t, clitest.AsOps(base, "status", "--watch", "--every", "200ms")...)
	watch.Out.Find(t, `restaurants: 1 restaurant`)
	for version := range 3 {
		s.set(&s.restaurants, rows(`"version":`+string(rune('5'+version))+`,"lastOutcome":"updated"`))
		watch.Out.Find(t, `→ version `+string(rune('5'+version))+`\n`)
	}
	if asked := s.asked.Load(); asked != 1 {
		t.Errorf("asked %d times for orders after a refusal", asked)
	}
}

func TestAWatchOfNobodyFails(t *testing.T) {
	t.Parallel()
	got := larder(t, "status", "--watch", "--url", "http://127.0.0.1:1")
	if got.Status != StatusFailed || !strings.Contains(got.Err, "does not answer") {
		t.Errorf("status --watch of nobody: %+v", got)
	}
}

func TestSummaryOfStates(t *testing.T) {
	t.Parallel()
	got := summaryOfStates([]Restaurant{
		{ID: "ok", Version: 1},
		{ID: "another", Version: 1},
		{ID: "stale", Version: 1, Stale: true},
		{ID: "worst", Version: 1, Stale: true, LastOutcome: "failed"},
		{ID: "new"},
	})
	if got != "5 restaurants, 2 ok, 1 failed, 1 no menu, 2 stale" {
		t.Errorf("summed up as %q", got)
	}
}
