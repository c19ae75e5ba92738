package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// With another base_url at the start, the menu of the old service is stale and cannot be ordered, until the new service
// has answered an unconditional request. The new service fails at first.
func TestAnotherServiceAtTheStart(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	first.place(t, "key-1-of-the-old-one").is(t, "the order at the old service", http.StatusCreated, "")
	first.kill(t)

	next.answerMenus(http.StatusInternalServerError)
	second := m.start(t, "", over(next))
	clitest.Eventually(t, "the menu was requested at once", func() bool { reads, _, _ := next.seen(); return len(reads) > 0 })
	second.log.Find(t, `"event":"menu.of_another_service"`)
	if _, price, stale := second.serves(t); price != 10 || !stale {
		t.Errorf("served: price %d, stale %v; want the old menu, stale", price, stale)
	}
	second.validate(t, "").is(t, "validate", http.StatusServiceUnavailable, "menu_of_another_service")
	second.place(t, "key-2-of-the-new-one").is(t, "an order", http.StatusServiceUnavailable, "menu_of_another_service")
	if status := larder(t, clitest.AsOps(second.base, "status")...).Out; !strings.Contains(status, "degraded") ||
		!strings.Contains(status, "no menu of this service yet, so orders are rejected, for 1 restaurant") {
		t.Errorf("larder status prints %q while orders are rejected", status)
	}
	if reads, orders, _ := next.seen(); slices.ContainsFunc(reads, func(tag string) bool { return tag != "" }) || len(orders) > 0 {
		t.Errorf("the new service got the validators %q and the orders %q", reads, orders)
	}

	second.log.Find(t, `"event":"(sync.failed|upstream.unreachable)"`)
	next.answerMenus(http.StatusOK)
	clitest.Eventually(t, "the circuit breaker lets a sync ask", func() bool {
		return larder(t, clitest.AsOps(second.base, "sync", "r")...).Status == 0
	})
	second.waitFor(t, 20)
	second.place(t, "key-2-of-the-new-one").is(t, "an order of the new menu", http.StatusCreated, "")
	if status := larder(t, clitest.AsOps(second.base, "status")...).Out; strings.Contains(status, "no menu of this service") {
		t.Errorf("larder status prints %q after the sync", status)
	}
	if source := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "source").Val(); source != strings.TrimPrefix(next.URL, "http://")+" shop" {
		t.Errorf("current has the source %q", source)
	}
}

// A restaurant on another connection by SIGHUP is the same case, and a new service that answers 304 to the old validator
// does not get it.
func TestAnotherConnectionBySIGHUP(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	next.answerMenus(http.StatusInternalServerError)
	i := m.start(t, "", over(old, next))
	i.waitFor(t, 10)
	moved := over(old, next)
	moved.restaurant = "connection: b"
	m.write(t, "", moved)
	i.reload(t)
	i.validate(t, "").is(t, "validate right after SIGHUP", http.StatusServiceUnavailable, "menu_of_another_service")
	i.place(t, "key-1-after-the-reload").is(t, "an order right after SIGHUP", http.StatusServiceUnavailable, "menu_of_another_service")
	if _, price, stale := i.serves(t); price != 10 || !stale {
		t.Errorf("served: price %d, stale %v; want the old menu, stale", price, stale)
	}
	next.answerMenus(http.StatusNotModified)
	must(t, clitest.AsOps(i.base, "sync", "r")...)
	i.waitFor(t, 20)
	if reads := next.untilMenu(); slices.ContainsFunc(reads, func(tag string) bool { return tag != "" }) {
		t.Errorf("the new service got the validators %q", reads)
	}
	i.place(t, "key-2-after-the-reload").is(t, "an order of the new menu", http.StatusCreated, "")
	if _, orders, _ := old.seen(); len(orders) != 0 {
		t.Errorf("the old service got %q", orders)
	}

	// A change back: the menu of the old service is still stored, and is fetched again unconditionally.
	before, _, _ := old.seen()
	m.write(t, "", over(old, next))
	i.reload(t)
	i.waitFor(t, 10)
	clitest.Eventually(t, "the old service is asked again", func() bool { reads, _, _ := old.seen(); return len(reads) > len(before) })
	if reads, _, _ := old.seen(); reads[len(before)] != "" {
		t.Errorf("the first read after the change back is conditional: %q", reads)
	}
	i.place(t, "key-3-after-the-change-back").is(t, "an order after the change back", http.StatusCreated, "")
}

// Orders of the old service cannot be changed at the new one, although it has an order with the same number. Their keys
// return what they returned. former_urls ends that without a fetch.
func TestOrdersOfTheOldService(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	placed := first.place(t, "key-1-of-the-old-one")
	placed.is(t, "the order at the old service", http.StatusCreated, "")
	first.kill(t)

	second := m.start(t, "", over(next))
	second.waitFor(t, 20)
	address := strings.TrimPrefix(old.URL, "http://")
	second.log.Find(t, `"event":"order.of_another_service".*1 open and 0 unknown orders belong to the ordering service at `+address)
	if out := larder(t, "check", "--online", "--config", second.config).Out; !strings.Contains(out, `former_urls: ["https://`+address) {
		t.Errorf("check --online prints %q", out)
	}
	for what, got := range map[string]reply{
		"a payment":    second.pay(t, "1", ""),
		"a completion": second.ask(t, http.MethodPut, "/v1/orders/1/complete", "", ""),
		"a rejection":  second.ask(t, http.MethodPut, "/v1/orders/1/reject", "", `{"id":"7","comment":"no"}`),
	} {
		got.is(t, what, http.StatusConflict, "order_of_another_service")
		if !strings.Contains(got.Body, address) {
			t.Errorf("%s: %s has no address", what, got.Body)
		}
	}
	if again := second.place(t, "key-1-of-the-old-one"); again != placed {
		t.Errorf("the repeated key: %+v, want %+v", again, placed)
	}
	if _, orders, changes := next.seen(); len(orders)+len(changes) > 0 {
		t.Errorf("the new service got %q, %q", orders, changes)
	}

	// former_urls: they are the same source.
	same := over(next)
	same.connections[0] += fmt.Sprintf(", former_urls: [%q]", old.URL)
	m.write(t, "", same)
	reads, _, _ := next.seen()
	second.reload(t)
	second.pay(t, "1", "").is(t, "a payment with former_urls", http.StatusOK, "")
	if after, _, changes := next.seen(); len(after) != len(reads) || !slices.Equal(changes, []string{"1/pay"}) {
		t.Errorf("the new service was asked for %d menus and got %q", len(after)-len(reads), changes)
	}

	// Without them again, SIGHUP reports the order.
	reports := func() int { return strings.Count(second.log.String(), `"event":"order.of_another_service"`) }
	before := reports()
	m.write(t, "", over(next))
	second.reload(t)
	clitest.Eventually(t, "SIGHUP reports the order", func() bool { return reports() > before })
	second.pay(t, "1", "another-key-of-a-payment").is(t, "a payment without former_urls", http.StatusConflict, "order_of_another_service")
}

// Two orders with one number: each configuration changes its own.
func TestTheSameNumberAtTwoServices(t *testing.T) {
	t.Parallel()
	m, a, b := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	onA := m.start(t, "a", over(a))
	onA.waitFor(t, 10)
	onA.place(t, "key-1-at-service-a").is(t, "the order at a", http.StatusCreated, "")
	onB := m.start(t, "b", over(b))
	onB.waitFor(t, 20)
	onB.place(t, "key-1-at-service-b").is(t, "the order at b", http.StatusCreated, "")
	for _, i := range []*instance{onA, onB, onA} {
		want := map[*instance]string{onA: `"total":10`, onB: `"total":20`}[i]
		if got := i.ask(t, http.MethodGet, "/v1/orders/1", "", ""); !strings.Contains(got.Body, want) {
			t.Errorf("order 1: %s, want %s", got.Body, want)
		}
	}
	onA.pay(t, "1", "").is(t, "a payment at a", http.StatusOK, "")
	onB.pay(t, "1", "").is(t, "the same payment at b", http.StatusOK, "")
	for name, service := range map[string]*pos{"a": a, "b": b} {
		if _, orders, changes := service.seen(); len(orders) != 1 || !slices.Equal(changes, []string{"1/pay"}) {
			t.Errorf("service %s got %d orders and %q", name, len(orders), changes)
		}
	}
}

// Another client_id at the same address is another service. https instead of http is the same.
func TestAnotherClientAndAnotherScheme(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	first := m.start(t, "", over(service))
	version := first.waitFor(t, 10)
	first.place(t, "key-1-of-the-old-one").is(t, "an order", http.StatusCreated, "")
	first.kill(t)

	service.answerMenus(http.StatusInternalServerError)
	secure := over(service)
	secure.connections[0] = strings.Replace(secure.connections[0], "http://", "https://", 1)
	i := m.start(t, "", secure)
	if v, price, _ := i.serves(t); v != version || price != 10 {
		t.Errorf("https: version %d, price %d", v, price)
	}
	i.validate(t, "").is(t, "validate with https", http.StatusOK, "")
	i.kill(t)

	other := over(service)
	other.connections[0] = strings.Replace(other.connections[0], "client_id: shop", "client_id: other", 1)
	i = m.start(t, "", other)
	clitest.Eventually(t, "a menu", func() bool { _, price, _ := i.serves(t); return price == 10 })
	i.validate(t, "").is(t, "validate with another client", http.StatusServiceUnavailable, "menu_of_another_service")
	i.pay(t, "1", "").is(t, "a payment with another client", http.StatusConflict, "order_of_another_service")
	other.connections[0] += ", former_client_ids: [shop]"
	m.write(t, "", other)
	i.reload(t)
	i.validate(t, "").is(t, "validate with former_client_ids", http.StatusOK, "")
	i.pay(t, "1", "").is(t, "a payment with former_client_ids", http.StatusOK, "")
}

// An order with an unknown outcome of the old service stays unknown and is not sent to the new one, also by an operator.
// A person can resolve it. If its connection is removed, the start and larder check report it.
func TestUnknownOrdersOfTheOldService(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	old.answerOrders(http.StatusGatewayTimeout)
	var refs []string
	replies := map[string]reply{}
	for n := range 2 {
		key := fmt.Sprintf("key-%d-of-the-old-one", n)
		replies[key] = first.place(t, key)
		replies[key].is(t, "an order without an answer", http.StatusGatewayTimeout, "order_outcome_unknown")
		var unknown struct{ Ref string }
		_ = json.Unmarshal([]byte(replies[key].Body), &unknown)
		refs = append(refs, unknown.Ref)
	}
	first.kill(t)

	second := m.start(t, "", over(next))
	second.waitFor(t, 20)
	second.log.Find(t, `"event":"order.of_another_service".*0 open and 2 unknown orders`)
	for key, before := range replies {
		second.place(t, key).is(t, "the repeated key", before.Status, before.Code)
	}
	if got := larder(t, clitest.AsOps(second.base, "order", "resolve", refs[0], "--call", "1", "--outcome", "send_again")...); got.Status == 0 ||
		!strings.Contains(got.Err, strings.TrimPrefix(old.URL, "http://")) {
		t.Errorf("send_again: %+v, want an error with the address of the old service", got)
	}
	if got := larder(t, clitest.AsOps(second.base, "order", "resolve", refs[0], "--outcome", "not_done", "--note", "asked")...); got.Status != 0 {
		t.Errorf("not_done: %+v", got)
	}
	if _, orders, changes := next.seen(); len(orders)+len(changes) > 0 {
		t.Errorf("the new service got %q, %q", orders, changes)
	}
	second.kill(t)

	removed := over(next)
	removed.firstName, removed.restaurant = 'b', "connection: b"
	third := m.start(t, "", removed)
	third.log.Find(t, `"event":"order.of_another_service".*connection a: 0 open and 1 unknown orders .*not configured any more`)
	if out := larder(t, "check", "--online", "--config", third.config).Out; !strings.Contains(out, "connection a: 0 open and 1 unknown orders") {
		t.Errorf("check --online prints %q", out)
	}
	third.waitFor(t, 20)
	if got := larder(t, clitest.AsOps(third.base, "order", "resolve", refs[1], "--call", "1", "--outcome", "send_again")...); got.Status == 0 {
		t.Errorf("send_again on a removed connection: %+v", got)
	}
	if _, orders, changes := next.seen(); len(orders)+len(changes) > 0 {
		t.Errorf("the new service got %q, %q", orders, changes)
	}
}

// A change back at the start: the stored menu of the old service is served at once, and fetched again unconditionally.
func TestAChangeBackAtTheStart(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	for n, service := range []*pos{old, next, old} {
		before, _, _ := service.seen()
		i := m.start(t, "", over(service))
		i.waitFor(t, service.price)
		clitest.Eventually(t, "the service is asked", func() bool { reads, _, _ := service.seen(); return len(reads) > len(before) })
		if reads, _, _ := service.seen(); slices.Contains(reads, `"0"`) {
			t.Errorf("start %d: conditional requests: %q", n, reads)
		}
		i.place(t, fmt.Sprintf("key-of-the-start-%d", n)).is(t, "an order", http.StatusCreated, "")
		i.kill(t)
	}
	if _, orders, _ := old.seen(); len(orders) != 2 {
		t.Errorf("the old service got %d orders, want 2", len(orders))
	}
}

// larder check before an upgrade, with the configuration of another service, decides nothing: the menus and orders of the
// older larder belong to the first instance.
func TestCheckDecidesNoSource(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	first.place(t, "key-1-before-the-upgrade").is(t, "an order", http.StatusCreated, "")
	first.kill(t)
	m.forgetSources(t)

	_ = larder(t, "check", "--online", "--config", m.write(t, "next", over(next)))
	second := m.start(t, "", over(old))
	second.waitFor(t, 10)
	second.pay(t, "1", "").is(t, "a payment after the upgrade", http.StatusOK, "")
}
