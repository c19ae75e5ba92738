package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/internal/testkit/clitest"
)

// loadRedis runs the commands of a dump: the keys that an earlier larder left after four orders, one of them paid and one
// unknown, and a rollback with a hold. Version 2 of the menu, with the price 11, is held away.
func (m *moving) loadRedis(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var words []any
		for rest := strings.TrimSpace(line); rest != ""; {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%s: %v in %q", name, err, rest)
			}
			word, _ := strconv.Unquote(quoted)
			words, rest = append(words, word), strings.TrimSpace(rest[len(quoted):])
		}
		if err := m.redis.Client().Do(t.Context(), words...).Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// records returns the dumps of all keys of a connection's orders.
func (m *moving) records(t *testing.T, connection string) map[string]string {
	t.Helper()
	all := map[string]string{}
	keys := m.redis.Client().Scan(t.Context(), 0, "larder:{o:"+connection+"}:*", 1000).Iterator()
	for keys.Next(t.Context()) {
		all[keys.Val()] = m.redis.Client().Dump(t.Context(), keys.Val()).Val()
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (m *moving) wantRecords(t *testing.T, connection, when string, want map[string]string) {
	t.Helper()
	if got := m.records(t, connection); !maps.Equal(got, want) {
		t.Errorf("%s: the records of connection %s have changed: %q, were %q", when, connection,
			slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// ops returns the instance for requests with the scope ops.
func (i *instance) ops(t *testing.T) *instance {
	t.Helper()
	own := *i
	own.shop = client.New(t.Context(), i.base, "ops", "ops-secret")
	t.Cleanup(own.shop.HTTP.CloseIdleConnections)
	return &own
}

// order runs a command of larder order against the instance.
func (i *instance) order(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	return larder(t, append(append([]string{"order"}, args...), "--url", i.base, "--client-id", "ops", "--client-secret", "ops-secret")...)
}

// unknownRef returns the ref of the unknown order of a dump.
func (m *moving) unknownRef(t *testing.T, connection string) string {
	t.Helper()
	members := m.redis.Client().ZRange(t.Context(), "larder:{o:"+connection+"}:f1:in:unknown", 0, -1).Val()
	if len(members) != 1 {
		t.Fatalf("unknown orders: %q, want one", members)
	}
	_, ref, _ := strings.Cut(members[0], "/")
	return ref
}

const otherVersion = "this version reads only order records of format 3; another version of larder wrote others, or Redis has lost a part of them"

// notAccepted is the text for callers without the scope ops.
const notAccepted = "orders are not accepted at the moment; this request was not sent to the ordering service; try again later"

// Redis has the records of another version of larder, with open and unknown orders: every question about orders is
// answered with journal_format and the way out, nothing is sent, and no byte of the records changes.
func TestRedisOfAnotherVersion_O20(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]func(*testing.T, *moving){
		"without epoch": func(t *testing.T, m *moving) { m.loadRedis(t, "redis-6f34b86e.txt") },
		"older":         func(t *testing.T, m *moving) { m.loadRedis(t, "redis-d0f55138.txt") },
		"previous":      func(t *testing.T, m *moving) { m.loadRedis(t, "redis-9660ae6d.txt") }, // without a menu
		"newer": func(t *testing.T, m *moving) {
			m.leaveOrders(t)
			m.redis.Client().HSet(t.Context(), "larder:{o:a}:f1:journal", "format", "4")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, service := newMoving(t), newPOS(t, 10)
			load(t, m)
			before, ref := m.records(t, "a"), m.unknownRef(t, "a")
			if held := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "held").Val(); held == "1" {
				m.redis.Client().Del(t.Context(), "larder:{r:r}:current") // TestHoldOfAnotherVersion_O20
			}
			one := m.start(t, "", over(service))
			one.waitFor(t, 10)
			ops := one.ops(t)
			for what, got := range map[string]reply{
				"the list":                ops.ask(t, http.MethodGet, "/v1/ops/orders", "", ""),
				"the unknown orders":      ops.ask(t, http.MethodGet, "/v1/ops/orders?state=unknown", "", ""),
				"an order by ref":         ops.ask(t, http.MethodGet, "/v1/ops/orders/"+ref, "", ""),
				"an order by another ref": ops.ask(t, http.MethodGet, "/v1/ops/orders/01M8JRGQ6Z5FEW4DQG8P9NGDDX", "", ""),
				"a resolution": ops.ask(t, http.MethodPost, "/v1/ops/orders/"+ref+"/resolve", "",
					`{"operation":"create","outcome":"not_done","note":"n"}`),
				"accept-restore": ops.ask(t, http.MethodPost, "/v1/ops/journal/accept", "", ""),
			} {
				got.is(t, what, http.StatusServiceUnavailable, "journal_format")
				if !strings.Contains(got.Body, otherVersion) || !strings.Contains(got.Body, "docs/operations.md") {
					t.Errorf("%s: %s has no way out", what, got.Body)
				}
			}
			for what, got := range map[string]reply{
				"a new order":            one.place(t, "a-new-key-for-a-new-order"),
				"the key of an order":    one.place(t, "key-1-before-the-upgrade"),
				"the key of the unknown": one.place(t, "key-4-before-the-upgrade"),
				"a payment":              one.pay(t, "2", ""),
				"an unknown orderID":     one.pay(t, "99", ""),
				"a completion":           one.ask(t, http.MethodPut, "/v1/orders/1/complete", "", ""),
				"a rejection":            one.ask(t, http.MethodPut, "/v1/orders/2/reject", "", `{"reason":"x"}`),
				"an order":               one.ask(t, http.MethodGet, "/v1/orders/1", "", ""),
				"an order by key":        one.ask(t, http.MethodGet, "/v1/orders?key=key-1-before-the-upgrade", "", ""),
			} {
				got.is(t, what, http.StatusServiceUnavailable, "journal_format")
				if !strings.Contains(got.Body, notAccepted) || strings.Contains(got.Body, "format 3") || strings.Contains(got.Body, "unreadable") {
					t.Errorf("%s: %s is no text for a client without the scope ops", what, got.Body)
				}
			}
			for _, compatible := range []reply{
				one.ask(t, http.MethodPut, "/orders/api/v1/orders/1/complete", "", ""),
				one.ask(t, http.MethodPost, "/orders/api/v1/orders", "", strings.Replace(soups(""), "{", `{"restaurantID":"r",`, 1)),
			} {
				if compatible.Status != http.StatusServiceUnavailable || !strings.Contains(compatible.Body, notAccepted) {
					t.Errorf("the compatible API answers %+v", compatible)
				}
			}
			ready := one.ask(t, http.MethodGet, "/readyz?verbose", "", "")
			if !strings.Contains(ready.Body, `"status":"degraded"`) || !strings.Contains(ready.Body, otherVersion) {
				t.Errorf("readyz: %s", ready.Body)
			}
			if summary := ops.ask(t, http.MethodGet, "/v1/ops/summary", "", ""); !strings.Contains(summary.Body, `"unknownOrders":null`) {
				t.Errorf("summary: %s", summary.Body)
			}
			for _, args := range [][]string{
				{"list"},
				{"list", "--json"},
				{"list", "--state", "unknown"},
				{"show", ref},
				{"accept-restore"},
				{"resolve", ref, "--operation", "create", "--outcome", "not_done"},
			} {
				got := one.order(t, args...)
				if got.Status == cli.StatusDone || !strings.Contains(got.Err, otherVersion) || strings.Contains(got.Out, "no orders") {
					t.Errorf("larder order %s: %+v", args, got)
				}
			}
			check := larder(t, "check", "--online", "--config", one.config)
			if !strings.Contains(check.Out, "FAILED  orders: cannot be placed: "+otherVersion) || strings.Count(check.Out, otherVersion) != 1 {
				t.Errorf("check --online: %+v", check)
			}
			one.log.Find(t, `"event":"journal.format".*`+otherVersion)
			metrics := ops.ask(t, http.MethodGet, "/metrics", "", "")
			if !strings.Contains(metrics.Body, `larder_journal_format{connection="a"} 1`) || strings.Contains(metrics.Body, "larder_orders_unknown{") {
				t.Errorf("metrics: %s", metrics.Body)
			}
			clitest.Eventually(t, "a sweep", func() bool { return strings.Contains(one.log.String(), "order.sweep_failed") })
			if _, orders, changes := service.seen(); len(orders) > 0 || len(changes) > 0 {
				t.Errorf("sent: %q, %q", orders, changes)
			}
			m.wantRecords(t, "a", "at the end", before)
		})
	}
}

// leaveOrders leaves the orders of a dump, in the format of this version.
func (m *moving) leaveOrders(t *testing.T) {
	t.Helper()
	service := newPOS(t, 10)
	first := m.start(t, "", over(service))
	first.waitFor(t, 10)
	for n := 1; n <= 3; n++ {
		first.place(t, fmt.Sprintf("key-%d-before-the-upgrade", n)).is(t, "an order", http.StatusCreated, "")
	}
	service.answerOrders(http.StatusInternalServerError)
	first.place(t, "key-4-before-the-upgrade").is(t, "an unknown order", http.StatusGatewayTimeout, "order_outcome_unknown")
	first.kill(t)
}

// A version of another format takes over while larder runs, and later leaves again: nothing is written and nothing is sent
// in between, and what was there is there afterwards.
func TestTwoVersionsOnOneRedis_O20(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	one := m.start(t, "", over(service))
	one.waitFor(t, 10)
	one.place(t, "key-1-of-this-version").is(t, "an order", http.StatusCreated, "")
	two := m.startWith(t, one.config)
	two.waitFor(t, 10)

	m.redis.Client().HSet(t.Context(), "larder:{o:a}:f1:journal", "format", "4")
	before := m.records(t, "a")
	for _, i := range []*instance{one, two} {
		i.place(t, "key-2-of-another-version").is(t, "an order", http.StatusServiceUnavailable, "journal_format")
		i.pay(t, "1", "").is(t, "a payment", http.StatusServiceUnavailable, "journal_format")
		i.log.Find(t, `"event":"journal.format"`)
	}
	m.wantRecords(t, "a", "while the other version has them", before)

	m.redis.Client().HSet(t.Context(), "larder:{o:a}:f1:journal", "format", "3")
	one.log.Find(t, `"event":"journal.readable"`)
	clitest.Eventually(t, "orders again", func() bool { return one.place(t, "key-2-of-another-version").Status == http.StatusCreated })
	two.pay(t, "1", "").is(t, "a payment afterwards", http.StatusOK, "")
	one.place(t, "key-1-of-this-version").is(t, "the same order", http.StatusCreated, "")
	if _, orders, changes := service.seen(); len(orders) != 2 || len(changes) != 1 {
		t.Errorf("sent %d orders and %q, want 2 and one payment", len(orders), changes)
	}
}

// An upgrade and a new name for the connection at once: the records of the earlier name are found, although earlier versions
// kept no set of names. Every question says that they cannot be read, and so do the metrics and check.
func TestARenamedConnectionOfAnotherVersion_O20(t *testing.T) {
	t.Parallel()
	for _, dump := range []string{"redis-6f34b86e.txt", "redis-d0f55138.txt", "redis-9660ae6d.txt"} {
		t.Run(dump, func(t *testing.T) {
			t.Parallel()
			m, service := newMoving(t), newPOS(t, 10)
			m.loadRedis(t, dump)
			m.redis.Client().Del(t.Context(), "larder:{r:r}:current") // TestHoldOfAnotherVersion_O20
			renamed := over(service)
			renamed.firstName, renamed.restaurant = 'b', "connection: b"
			one := m.start(t, "", renamed)
			one.waitFor(t, 10)
			if got := larder(t, "check", "--online", "--config", one.config); got.Status == cli.StatusDone || !strings.Contains(got.Out, otherVersion) {
				t.Errorf("check --online: %+v", got)
			}
			if got := one.order(t, "list", "--state", "unknown"); got.Status == cli.StatusDone || !strings.Contains(got.Err, otherVersion) {
				t.Errorf("order list: %+v", got)
			}
			ops := one.ops(t)
			clitest.Eventually(t, "the metric of the former connection", func() bool {
				return strings.Contains(ops.ask(t, http.MethodGet, "/metrics", "", "").Body, `larder_journal_format{connection="a"} 1`)
			})
			if ready := one.ask(t, http.MethodGet, "/readyz?verbose", "", "").Body; !strings.Contains(ready, `"formerConnections":{"a":{"ok":false`) {
				t.Errorf("readyz: %s", ready)
			}
		})
	}
}

// The unknown orders of a connection that was renamed are listed, named, counted and resolved. If its records cannot be
// read, the others are listed nevertheless, and the list says that it is not complete.
func TestARenamedConnection_O20(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	m.leaveOrders(t)
	ref := m.unknownRef(t, "a")
	renamed := over(service)
	renamed.firstName, renamed.restaurant = 'b', "connection: b"
	one := m.start(t, "", renamed)
	one.waitFor(t, 10)
	ops := one.ops(t)
	service.answerOrders(http.StatusInternalServerError)
	one.place(t, "key-of-the-renamed-one").is(t, "an unknown order", http.StatusGatewayTimeout, "order_outcome_unknown")
	own := m.unknownRef(t, "b")

	list := one.order(t, "list", "--state", "unknown")
	if list.Status != cli.StatusDone || !strings.Contains(list.Out, ref) || !strings.Contains(list.Out, own) {
		t.Errorf("order list: %+v", list)
	}
	if got := one.order(t, "list", "--connection", "a"); got.Status != cli.StatusDone || !strings.Contains(got.Out, ref) {
		t.Errorf("order list --connection: %+v", got)
	}
	if got := one.order(t, "show", ref); got.Status != cli.StatusDone {
		t.Errorf("order show: %+v", got)
	}
	ready := func() string { return one.ask(t, http.MethodGet, "/readyz?verbose", "", "").Body }
	clitest.Eventually(t, "the former connection", func() bool {
		return strings.Contains(ready(), `"formerConnections":{"a":{"ok":false,"msg":"the connection is not configured any more; orders with an unknown outcome: 1"}}`)
	})
	check := func() clitest.Outcome { return larder(t, "check", "--online", "--config", one.config) }
	if got := check(); !strings.Contains(got.Out, "connection a: ") || !strings.Contains(got.Out, "1 unknown") {
		t.Errorf("check --online: %+v", got)
	}
	clitest.Eventually(t, "counted", func() bool {
		return strings.Contains(ops.ask(t, http.MethodGet, "/metrics", "", "").Body, `larder_orders_unknown{connection="a"} 1`)
	})
	if summary := ops.ask(t, http.MethodGet, "/v1/ops/summary", "", ""); !strings.Contains(summary.Body, `"unknownOrders":2`) {
		t.Errorf("summary: %s", summary.Body)
	}

	m.redis.Client().HSet(t.Context(), "larder:{o:a}:f1:journal", "format", "4")
	before := m.records(t, "a")
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"list", "--state", "unknown"}} {
		got := one.order(t, args...)
		if got.Status == cli.StatusDone || !strings.Contains(got.Out, own) || strings.Contains(got.Out, ref) || !strings.Contains(got.Err, otherVersion) ||
			!strings.Contains(got.Err, "journal.corrupt") {
			t.Errorf("order %s with an unreadable connection: %+v", args, got)
		}
	}
	ops.ask(t, http.MethodGet, "/v1/ops/orders?connection=a", "", "").is(t, "the unreadable one", http.StatusServiceUnavailable, "journal_format")
	ops.ask(t, http.MethodGet, "/v1/ops/orders?state=rejected", "", "").is(t, "an empty list", http.StatusServiceUnavailable, "journal_format")
	if got := check(); got.Status == cli.StatusDone || !strings.Contains(got.Out, otherVersion+": all records of connection a") {
		t.Errorf("check --online: %+v", got)
	}
	clitest.Eventually(t, "the unreadable connection", func() bool { return strings.Contains(ready(), otherVersion) })
	m.wantRecords(t, "a", "while they are unreadable", before)

	m.redis.Client().HSet(t.Context(), "larder:{o:a}:f1:journal", "format", "3")
	got := one.order(t, "resolve", ref, "--operation", "create", "--outcome", "not_done")
	if got.Status != cli.StatusDone {
		t.Errorf("order resolve: %+v", got)
	}
}

// A rollback of an earlier version holds a menu. This version cannot read it: it publishes neither the menu that was held
// away nor a later one until an operator decides, and says so.
func TestHoldOfAnotherVersion_O20(t *testing.T) {
	t.Parallel()
	for _, dump := range []string{"redis-6f34b86e.txt", "redis-d0f55138.txt"} {
		for _, decision := range []string{"force", "release"} {
			t.Run(dump+" "+decision, func(t *testing.T) {
				t.Parallel()
				m, service := newMoving(t), newPOS(t, 11)
				m.loadRedis(t, dump)
				one := m.start(t, "", over(service))
				one.log.Find(t, `larder menu release r ends.*"event":"sync.quarantined"`)
				clitest.Eventually(t, "/readyz?verbose names the hold", func() bool {
					return strings.Contains(one.ask(t, http.MethodGet, "/readyz?verbose", "", "").Body, "larder menu release r ends the hold")
				})
				ops := one.ops(t)
				for _, price := range []int{11, 12} {
					service.changePrice(price)
					run := ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", "{}")
					if !strings.Contains(run.Body, `"outcome":"quarantined"`) || !strings.Contains(run.Body, "A rollback of another larder version holds a menu: larder menu release r ends the hold") {
						t.Errorf("a sync: %s", run.Body)
					}
					if v, got, _ := one.serves(t); v != 0 || got != 0 {
						t.Errorf("version %d with the price %d is served", v, got)
					}
				}
				if view := ops.ask(t, http.MethodGet, "/v1/ops/restaurants/r", "", ""); !strings.Contains(view.Body, "A rollback of another larder version holds a menu: larder menu release r ends the hold") {
					t.Errorf("the restaurant: %+v", view)
				}
				if decision == "force" {
					ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", `{"force":true}`).is(t, "a forced sync", http.StatusOK, "")
				} else {
					if got := ops.ask(t, http.MethodDelete, "/v1/ops/restaurants/r/hold?wait=20s", "", ""); got.Status >= http.StatusBadRequest {
						t.Errorf("a release: %+v", got)
					}
				}
				if v := one.waitFor(t, 12); v != 4 {
					t.Errorf("version %d, want 4", v)
				}
				service.changePrice(13)
				ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", "{}")
				one.waitFor(t, 13) // nothing is held any more
			})
		}
	}
}

// A newer version keeps its hold in the menu of the source. A decision of an operator ends this one too.
func TestHoldOfANewerVersion_O20(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	first := m.start(t, "", over(service))
	first.waitFor(t, 10)
	first.log.Find(t, `menu published`) // a request joins a run that has not ended (policy S8), which has the old price
	service.changePrice(11)
	ops := first.ops(t)
	ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", "{}")
	first.waitFor(t, 11)
	ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/rollback?wait=20s", "", `{"version":1,"hold":"released"}`)
	first.waitFor(t, 10)
	first.kill(t)
	for _, key := range m.redis.Client().Keys(t.Context(), "larder:{r:r}:s:*:current").Val() {
		m.redis.Client().HSet(t.Context(), key, "form", "f9")
	}
	m.redis.Client().HSet(t.Context(), "larder:{r:r}:current", "form", "f9", "source", "another c") // which published last
	one := m.start(t, "", over(service))
	one.log.Find(t, `larder menu release r ends.*"event":"sync.quarantined"`)
	ops = one.ops(t)
	ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", `{"force":true}`).is(t, "a forced sync", http.StatusOK, "")
	service.changePrice(13)
	ops.ask(t, http.MethodPost, "/v1/ops/restaurants/r/sync?wait=20s", "", "{}")
	one.waitFor(t, 13) // nothing is held any more
}
