package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/sync/runlog"
)

func TestMenuRollbackAndRelease(t *testing.T) {
	t.Parallel()
	base, kitchen, _ := runningDemo(t)
	ops := func(args ...string) string { return must(t, clitest.AsOps(base, args...)...) }
	const id = sandbox.BistroID
	raw := sandbox.Bistro(id, "/photos")
	first := regexp.MustCompile(`"price": ?[0-9.]+`).Find(raw)
	if first == nil {
		t.Fatal("the bistro's menu has no price")
	}
	ops("sync", id)
	serveMenu(t, kitchen, id, bytes.Replace(raw, first, []byte(`"price": 12345`), 1))
	ops("sync", id)

	if out := ops("menu", "versions", id); strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, "VERSION  PUBLISHED (UTC)") || !strings.Contains(out, "  served now\n") {
		t.Errorf("menu versions prints %q", out)
	}
	diff := ops("menu", "diff", id, "--from", "1")
	if !strings.HasPrefix(diff, "~ ") || !strings.HasSuffix(diff, " → 12345\n") || diff != ops("menu", "diff", id, "--from", "1", "--to", "2") {
		t.Errorf("menu diff --from prints %q", diff)
	}
	if changes := clitest.FromJSON[menu.Changes](t, ops("menu", "diff", id, "--from", "2", "--json")); !changes.Empty() {
		t.Errorf("menu diff of the current version with itself: %+v", changes)
	}

	if out := ops("menu", "rollback", id, "1", "--hold", "released"); !strings.HasPrefix(out, id+"  updated  version 3  ") {
		t.Errorf("menu rollback prints %q", out)
	}
	if out := ops("menu", "versions", id); !strings.Contains(out, "  served now, held until released\n") {
		t.Errorf("menu versions prints %q", out)
	}
	if out := must(t, "status", "--url", base); !strings.Contains(out, "1 held (Larder Bistro ("+id+"))") {
		t.Errorf("status prints %q", out)
	}
	if out := ops("menu", "diff", id, "--from", "1"); out != "no difference\n" {
		t.Errorf("what is held differs: %q", out)
	}
	if out := ops("menu", "release", id); !strings.HasPrefix(out, id+"  updated  version 4  ") {
		t.Errorf("menu release prints %q", out)
	}
	run := clitest.FromJSON[runlog.Run](t, ops("menu", "rollback", id, "1", "--json"))
	if run.Rollback == nil || run.Rollback.Version != 1 || run.Version != 5 {
		t.Errorf("menu rollback --json prints %+v", run)
	}
	if out := ops("menu", "versions", id); !strings.Contains(out, "  served now, held until the service publishes another menu\n") {
		t.Errorf("menu versions prints %q", out)
	}
	if got := larder(t, clitest.AsOps(base, "menu", "rollback", id, "77")...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "404 version_not_found: version 77 is not in the history") {
		t.Errorf("menu rollback to a version that never was: %+v", got)
	}
	if got := larder(t, "menu", "release", id, "--url", base); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "401 unauthorized") {
		t.Errorf("menu release without a token: %+v", got)
	}
}

// serveMenu sets a menu of the sandbox.
func serveMenu(t *testing.T, kitchen, id string, raw []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, kitchen+"/sandbox/menus/"+id, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the sandbox takes the menu with %s", response.Status)
	}
}

// Policy S4a: an operator looks at the quarantined menu before forcing it.
func TestTheQuarantinedMenuOnTheCommandLine_S4a(t *testing.T) {
	t.Parallel()
	base, kitchen, _ := runningDemo(t)
	ops := func(args ...string) string { return must(t, clitest.AsOps(base, args...)...) }
	const id = sandbox.BistroID
	ops("sync", id)
	serveMenu(t, kitchen, id, []byte(`{"result":{"categories":[],"products":[{"id":"new","externalId":"n","name":"New dish","price":5}],`+
		`"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`))
	if got := larder(t, clitest.AsOps(base, "sync", id)...); !strings.Contains(got.Out, "dishes are gone (sync.guard.ids)") {
		t.Fatalf("sync prints %+v, want quarantined", got)
	}
	if diff := ops("menu", "diff", id, "--quarantined"); !strings.HasPrefix(diff, "+ new  New dish\n− ") {
		t.Errorf("menu diff prints %q", diff)
	}
	if changes := clitest.FromJSON[menu.Changes](t, ops("menu", "diff", id, "--quarantined", "--json")); len(changes.Added) != 1 || len(changes.Removed) == 0 {
		t.Errorf("menu diff --json: %+v", changes)
	}
	if show := ops("menu", "show", id, "--quarantined"); !strings.Contains(show, "New dish") || !strings.Contains(show, "1 dish") {
		t.Errorf("menu show prints %q", show)
	}
	if lint := ops("menu", "lint", id, "--quarantined"); !strings.Contains(lint, "category_missing") {
		t.Errorf("menu lint prints %q", lint)
	}
	ops("sync", "--force", id)
	for _, args := range [][]string{{"menu", "diff", id}, {"menu", "show", id}, {"menu", "lint", id}} {
		if got := larder(t, clitest.AsOps(base, append(args, "--quarantined")...)...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "there was no space for it") {
			t.Errorf("%v after a good run: %+v", args, got)
		}
	}
}

func TestWrongUsageOfVersions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no version":               {"menu", "rollback", "one"},
		"a word":                   {"menu", "rollback", "one", "first"},
		"version 0":                {"menu", "rollback", "one", "0"},
		"another hold":             {"menu", "rollback", "one", "1", "--hold", "never"},
		"one menu":                 {"menu", "diff", "one"},
		"two menus and --from":     {"menu", "diff", "one", "two", "--from", "1"},
		"--to alone":               {"menu", "diff", "one", "--to", "1"},
		"a version before all":     {"menu", "diff", "one", "--from", "-1"},
		"versions of nothing":      {"menu", "versions"},
		"release of nothing":       {"menu", "release"},
		"--quarantined and --from": {"menu", "diff", "one", "--from", "1", "--quarantined"},
		"--quarantined of two":     {"menu", "diff", "one", "two", "--quarantined"},
		"no number after --to":     {"menu", "diff", "one", "--from", "1", "--to", "x"},
		"no number after --from":   {"menu", "diff", "one", "--from", "x"},
	} {
		if got := larder(t, args...); got.Status != cli.StatusUsage || got.Err == "" {
			t.Errorf("%s: %+v, want 2", name, got)
		}
	}
}

// lostMenus is two instances with one Redis that loses its data.
type lostMenus struct {
	t       *testing.T
	service *service
	redis   *redistest.Server
	env     []string
	a, b    *process
	highest int64 // the highest version served before the loss
}

// menuState is the state of the menu on one instance.
type menuState struct {
	version int64
	stale   bool
	price   string // of the dish Cappuccino
}

// price sets the price of Cappuccino at the ordering service.
func (l *lostMenus) price(price string) {
	l.t.Helper()
	path := l.service.URL + "/sandbox/menus/" + sandbox.BistroID
	_, raw := clitest.Fetch(l.t, path)
	var view map[string]any
	if err := json.Unmarshal([]byte(raw), &view); err != nil {
		l.t.Fatal(err)
	}
	inner := view
	if result, ok := view["result"].(map[string]any); ok {
		inner = result
	}
	found := false
	products, _ := inner["products"].([]any)
	for _, product := range products {
		if p, ok := product.(map[string]any); ok && p["id"] == "dish-cappuccino" {
			p["price"], found = json.Number(price), true
		}
	}
	body, err := json.Marshal(inner)
	if err != nil || !found {
		l.t.Fatalf("menu without the dish: %v", err)
	}
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodPut, path, bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		l.t.Fatalf("put the menu: %d", response.StatusCode)
	}
}

func (l *lostMenus) sync(p *process) {
	l.t.Helper()
	must(l.t, "sync", sandbox.BistroID, "--url", p.url(l.t), "--client-id", "ops", "--client-secret", "ops-secret")
}

// state reads the menu of the instance. The version must be the same before and after
// it reads the price.
func (l *lostMenus) state(p *process) menuState {
	l.t.Helper()
	type row struct {
		ID      string
		Version int64
		Stale   bool
	}
	for {
		_, before := clitest.Fetch(l.t, p.url(l.t)+"/v1/restaurants")
		status, dish := clitest.Fetch(l.t, p.url(l.t)+"/v1/restaurants/"+sandbox.BistroID+"/products/dish-cappuccino")
		_, after := clitest.Fetch(l.t, p.url(l.t)+"/v1/restaurants")
		rows := clitest.FromJSON[struct{ Result []row }](l.t, after).Result
		at := slices.IndexFunc(rows, func(r row) bool { return r.ID == sandbox.BistroID })
		switch {
		case at < 0:
			l.t.Fatalf("no %s in %s", sandbox.BistroID, after)
		case before != after:
			continue
		case status == http.StatusOK:
			price := clitest.FromJSON[struct{ Result struct{ Price json.Number } }](l.t, dish).Result.Price
			return menuState{rows[at].Version, rows[at].Stale, price.String()}
		}
		return menuState{}
	}
}

// changes returns the status of the request for changes since a version.
func (l *lostMenus) changes(p *process, since int64) (int, string) {
	l.t.Helper()
	return clitest.Fetch(l.t, fmt.Sprintf("%s/v1/restaurants/%s/changes?since=%d", p.url(l.t), sandbox.BistroID, since))
}

// twoInstances starts two instances with one Redis. There are no scheduled syncs: only
// the tests and the instances themselves start syncs.
func twoInstances(t *testing.T) *lostMenus {
	t.Helper()
	l := &lostMenus{t: t, service: newService(t), redis: redistest.Start(t)}
	l.env = l.service.env("LARDER_REDIS_URL="+l.redis.URL(), "LARDER_SYNC_SCHEDULE=@every 24h", "LARDER_CACHE_POLL=200ms")
	l.a, l.b = startProcess(t, l.env, "serve"), startProcess(t, l.env, "serve")
	waitReady(t, l.a.url(t))
	waitReady(t, l.b.url(t))
	return l
}

// restart stops the second instance and starts a new one with empty memory.
func (l *lostMenus) restart() {
	l.t.Helper()
	l.b.signal(l.t, syscall.SIGTERM)
	l.b.status(l.t)
	l.b = startProcess(l.t, l.env, "serve")
	_ = l.b.url(l.t)
}

// prices publishes several new prices with the instance.
func (l *lostMenus) prices(from, count int) {
	l.t.Helper()
	for i := range count {
		l.price(strconv.Itoa(from + i))
		l.sync(l.a)
	}
	clitest.Eventually(l.t, "both serve the last price", func() bool {
		a, b := l.state(l.a), l.state(l.b)
		l.highest = a.version
		return a == b && !a.stale && a.price == strconv.Itoa(from+count-1)
	})
}

// recovers checks that both instances serve the new price with a new version, and that
// changes since a version before the loss are not available.
func (l *lostMenus) recovers(price string) {
	l.t.Helper()
	clitest.Eventually(l.t, "both serve the new price", func() bool {
		a, b := l.state(l.a), l.state(l.b)
		for _, s := range []menuState{a, b} {
			if s.version > 0 && s.price != price && !s.stale {
				l.t.Fatalf("an old menu is served as fresh: %+v and %+v", a, b)
			}
		}
		return a == b && a.price == price && !a.stale
	})
	now := l.state(l.a).version
	if now <= l.highest {
		l.t.Errorf("version %d is published again; %d was served before", now, l.highest)
	}
	for since := int64(1); since <= l.highest; since++ {
		for _, p := range []*process{l.a, l.b} {
			if status, body := l.changes(p, since); status != http.StatusGone {
				l.t.Errorf("changes since %d, of before the loss: %d %s, want 410", since, status, body)
			}
		}
	}
	if status, body := l.changes(l.b, now); status != http.StatusOK {
		l.t.Errorf("changes since the current version: %d %s", status, body)
	}
}

// FLUSHALL: a running instance serves its menu as stale until the next sync. A
// restarted instance has no menu (policy S2a).
func TestLostMenus_FlushAll_S2a(t *testing.T) {
	t.Parallel()
	l := twoInstances(t)
	l.prices(300, 5)
	open := l.service.shut()
	defer open()
	if err := l.redis.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	l.price("500")
	clitest.Eventually(t, "the old menu is stale", func() bool { return l.state(l.a) == menuState{l.highest, true, "304"} })
	l.restart()
	open()
	l.recovers("500")
}

// The instance that had the lost version has ended. The restarted one reads the floor
// from Redis and publishes above it (policy S2a).
func TestLostMenus_FloorIsKept_S2a(t *testing.T) {
	t.Parallel()
	l := twoInstances(t)
	l.prices(300, 5)
	open := l.service.shut()
	defer open()
	if err := l.redis.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	l.price("500")
	for _, p := range []*process{l.a, l.b} {
		clitest.Eventually(t, "the old menu is stale", func() bool { return l.state(p) == menuState{l.highest, true, "304"} })
	}
	l.a.signal(t, syscall.SIGTERM)
	l.a.status(t)
	l.restart()
	open()
	clitest.Eventually(t, "the new price is served", func() bool { return l.state(l.b).price == "500" })
	if now := l.state(l.b).version; now <= l.highest {
		t.Errorf("version %d is published again; %d was served before", now, l.highest)
	}
	l.a = startProcess(t, l.env, "serve")
	_ = l.a.url(t)
	l.recovers("500")
}

// A backup with an older version is restored, and a restarted instance serves it. Both
// menus are stale until the next sync (policy S2a).
func TestLostMenus_RestoredBackup_S2a(t *testing.T) {
	t.Parallel()
	l := twoInstances(t)
	l.prices(300, 2)
	old, backup := l.highest, t.TempDir()
	if err := errors.Join(l.redis.Client().Save(t.Context()).Err(), l.redis.Backup(backup)); err != nil {
		t.Fatal(err)
	}
	l.prices(400, 3)
	open := l.service.shut()
	defer open()
	l.redis.Stop()
	if err := l.redis.RestoreBackup(backup); err != nil {
		t.Fatal(err)
	}
	l.redis.Restart()
	l.price("500")
	l.restart()
	clitest.Eventually(t, "both old menus are stale", func() bool {
		return l.state(l.a) == menuState{l.highest, true, "402"} && l.state(l.b) == menuState{old, true, "301"}
	})
	open()
	l.recovers("500")
}
