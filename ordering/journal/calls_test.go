package journal_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The cost of reading an order depends on the calls in its record, not on the number of
// all calls that it ever had.
func TestCostOfReadingAnOrder(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	for range ordering.MaxCalls + 40 { // a storefront that polls until the order is paid
		o := pay("765")
		o.Operation, o.Payments, o.Body, o.Derived = upstream.OpComplete, nil, nil, true
		ended(t, w, begun(t, w, o), ordering.OutcomeRefused, "")
	}
	before := asked(t, w, "hget")
	got, err := w.Order(t.Context(), main, "765")
	if err != nil {
		t.Fatalf("Order: %v", err)
	}
	if n := asked(t, w, "hget") - before; n > ordering.MaxCalls+10 {
		t.Errorf("reading an order read %d responses, want at most one for each of its calls", n)
	}
	if got.Ref != r.Ref || len(got.Calls) != ordering.MaxCalls+1 {
		t.Errorf("the order has %d calls, want its creation and %d changes", len(got.Calls), ordering.MaxCalls)
	}
	for _, call := range got.Calls {
		if call.Answer == nil || len(call.Answer.Body) == 0 {
			t.Fatalf("call %d has the response %+v, want it complete", call.Number, call.Answer)
		}
	}
}

// A repeated call gets the value of its key from its commit, and does not read the key again.
func TestARepeatedCallReadsItsKeyOnce_O7(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	first := create()
	r := ended(t, w, begun(t, w, first), ordering.OutcomeDone, "765")
	again := create()
	again.Key = first.Key
	before := asked(t, w, "getrange")
	_, err := w.Begin(t.Context(), again)
	taken, ok := errors.AsType[*ordering.KeyTakenError](err)
	if !ok || taken.Record.Ref != r.Ref || taken.Call != 1 {
		t.Fatalf("the same key again: %v; want call 1 of %s", err, r.Ref)
	}
	if n := asked(t, w, "getrange") - before; n != 1 { // by the script: is there a record with the ref?
		t.Errorf("the script and the lookup read %d texts, want only the one of the script", n)
	}
}

// asked returns how often Redis has executed a command.
func asked(t *testing.T, w *env, command string) int {
	t.Helper()
	stats := w.client.Info(t.Context(), "commandstats").Val()
	found := regexp.MustCompile(fmt.Sprintf(`cmdstat_%s:calls=(\d+)`, command)).FindStringSubmatch(stats)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
