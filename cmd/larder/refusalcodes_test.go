package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
)

// O8b: a service refuses every wrong order with 500 and the error shape. The orders are unknown until an operator has
// asked the restaurant and adds the code. From then on such orders are refused, and the earlier ones are resolved together.
func TestACodeThatAlwaysRefuses_O8b(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	service.created, service.refusal = http.StatusInternalServerError, `{"code":"POS_STOP","msg":"dish 7 is not on the menu"}`
	settings := over(service)
	settings.restaurant = `connection: a, name: Bistro, phone: "+351 200 000 111"`
	first := m.start(t, "", settings)
	first.waitFor(t, 10)
	var refs []string
	for n := range 2 {
		got := first.place(t, fmt.Sprintf("wrong-order-%d", n))
		got.is(t, "before the operator knows the code", http.StatusGatewayTimeout, "order_outcome_unknown")
		var unknown struct{ Ref string }
		_ = json.Unmarshal([]byte(got.Body), &unknown)
		refs = append(refs, unknown.Ref)
	}
	list := larder(t, clitest.AsOps(first.base, "order", "list", "--state", "unknown")...).Out
	show := larder(t, clitest.AsOps(first.base, "order", "show", refs[0])...).Out
	t.Logf("order list:\n%s\norder show:\n%s", list, show)
	for _, part := range []string{refs[0], refs[1], "+351 200 000 111", "500 POS_STOP"} {
		if !strings.Contains(list, part) {
			t.Errorf("the list of unknown orders lacks %s", part)
		}
	}
	for _, part := range []string{"500 POS_STOP: dish 7 is not on the menu", `refusal_codes: ["POS_STOP"]`} {
		if !strings.Contains(show, part) {
			t.Errorf("the order lacks %s", part)
		}
	}
	first.kill(t)

	settings.connections[0] += `, refusal_codes: ["POS_STOP"]`
	second := m.start(t, "", settings)
	second.waitFor(t, 10)
	second.place(t, "wrong-order-2").is(t, "with the code", http.StatusBadGateway, "upstream_refused")
	second.place(t, "wrong-order-0").is(t, "the repeated key of an earlier one", http.StatusGatewayTimeout, "order_outcome_unknown")
	resolved := larder(t, clitest.AsOps(second.base, "order", "resolve", refs[0], refs[1], "--outcome", "not_done", "--note", "Maria: no such order")...)
	t.Logf("order resolve:\n%s%s", resolved.Out, resolved.Err)
	if resolved.Status != 0 {
		t.Errorf("order resolve: %+v", resolved)
	}
	for n := range refs {
		second.place(t, fmt.Sprintf("wrong-order-%d", n)).is(t, "a resolved one", http.StatusBadGateway, "upstream_refused")
	}
	if _, orders, _ := service.seen(); len(orders) != 3 {
		t.Errorf("the service got %d orders, want 3", len(orders))
	}
}
