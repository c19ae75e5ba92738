package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
)

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
	if got := larder(t, clitest.AsOps(second.base, "order", "resolve", refs[0], "--outcome", "send_again")...); got.Status == 0 ||
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
	if got := larder(t, clitest.AsOps(third.base, "order", "resolve", refs[1], "--outcome", "send_again")...); got.Status == 0 {
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
