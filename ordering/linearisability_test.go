package ordering_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

const (
	linClients = 24  // concurrent clients
	linKeys    = 90  // orders, each with its own key
	linWindow  = 5   // orders at a time
	linSteps   = 180 // of each client
)

// Many clients concurrently use few orders, with several instances, a real Redis and a
// service with faults. All clients must observe one consistent order of events (policies O7
// and O9).
func TestLinearisable(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, 3)
	d.control(t, http.MethodPut, "/sandbox/faults", linFaults())
	h := &history{deployment: d, began: time.Now()}
	for i := range linKeys {
		h.slots = append(h.slots, &keySlot{key: fmt.Sprintf("key-%d", i)})
	}
	var group sync.WaitGroup
	for client := range linClients {
		group.Go(func() { h.client(t, client) })
	}
	group.Wait()
	h.check(t)
}

// linFaults returns faults for some of the calls.
func linFaults() string {
	var list []string
	for i, f := range []struct {
		match, do   string
		probability float64
	}{
		{`"method":"POST"`, `"execute_then_reset"`, 0.08},
		{`"method":"POST"`, `"reset_before"`, 0.08},
		{`"method":"POST"`, `"status","status":429`, 0.5},
		{`"method":"POST"`, `"execute_then_status","status":503`, 0.08},
		{`"method":"POST"`, `"status","status":422,"body":"{\"code\":\"no\",\"msg\":\"no\",\"requestId\":\"1\",\"errors\":null}"`, 0.08},
		{`"method":"PUT"`, `"execute_then_reset"`, 0.08},
		{`"method":"PUT"`, `"html"`, 0.08},
		{`"method":"PUT"`, `"status","status":429`, 0.4},
		{`"method":"PUT"`, `"status","status":422,"body":"{\"code\":\"no\",\"msg\":\"no\",\"requestId\":\"1\",\"errors\":null}"`, 0.08},
		{``, `"latency","delay":"4ms"`, 0.4},
	} {
		match := f.match
		if match != "" {
			match += ","
		}
		list = append(list, fmt.Sprintf(`{"match":{%s"path":"/orders/*"},"do":%s,"probability":%g,"seed":%d}`, match, f.do, f.probability, i+1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// keySlot is an order that the clients use.
type keySlot struct {
	key string

	mu      sync.Mutex
	ref     string
	orderID string
	unknown ordering.Operation // an operation that can be resolved
}

// history is the list of operations and their observed results.
type history struct {
	*deployment
	began time.Time
	slots []*keySlot

	mu    sync.Mutex
	steps []porcupine.Operation
	kinds map[string]int
}

func (h *history) add(client int, s step, from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kinds == nil {
		h.kinds = map[string]int{}
	}
	h.kinds[fmt.Sprintf("%s %s %s", s.op, s.moment, s.result)]++
	h.steps = append(h.steps, porcupine.Operation{
		ClientId: client,
		Input:    s,
		Call:     from.Sub(h.began).Nanoseconds(),
		Return:   to.Sub(h.began).Nanoseconds(),
	})
}

// client executes its steps one after another.
func (h *history) client(t *testing.T, client int) {
	t.Helper()
	dice := mathrand.New(mathrand.NewPCG(uint64(client), 7))
	for i := range linSteps {
		slot := h.slots[min(i*linKeys/linSteps+dice.IntN(linWindow), linKeys-1)]
		orders := h.replicas[dice.IntN(len(h.replicas))]
		slot.mu.Lock()
		ref, orderID, unknown := slot.ref, slot.orderID, slot.unknown
		slot.mu.Unlock()
		switch draw := dice.IntN(20); {
		case draw < 5 || ref == "":
			h.place(t, client, orders, slot, dice.IntN(8)/7)
		case draw < 8:
			h.read(t, client, orders, slot, ref, orderID, dice.IntN(3))
		case draw < 11 && unknown != "":
			h.resolve(t, client, orders, slot, ref, unknown)
		case orderID != "":
			h.change(t, client, orders, slot, orderID, dice)
		}
	}
}

// snap returns the model's view of a record.
func snap(r *ordering.Record) snapshot {
	s := snapshot{
		ref:     r.Ref,
		orderID: r.OrderID,
		state:   r.State,
		paid:    r.Paid,
		calls:   len(r.Calls),
	}
	if call, busy := r.Busy(); busy {
		s.busy, s.unknown = call.Operation, call.Outcome == ordering.OutcomeUnknown
	}
	return s
}

// learn records the clients' knowledge about an order.
func (k *keySlot) learn(r *ordering.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ref, k.unknown = r.Ref, ""
	if r.OrderID != "" {
		k.orderID = r.OrderID
	}
	if call, busy := r.Busy(); busy && call.Outcome == ordering.OutcomeUnknown {
		k.unknown = call.Operation
	}
}

func (h *history) place(t *testing.T, client int, orders instance, slot *keySlot, body int) {
	t.Helper()
	v := &callTimes{}
	from := time.Now()
	request := newPlaceRequest(slot.key, simOrder(slot.key, 1+body))
	got, err := place(context.WithValue(t.Context(), callTimesKey{}, v), orders, request)
	h.ended(t, client, slot, step{key: slot.key, op: upstream.OpCreate, body: body}, got, err, v, from)
}

// change pays, completes or rejects. The key of a payment is the client's own or derived.
func (h *history) change(t *testing.T, client int, orders instance, slot *keySlot, orderID string, dice *mathrand.Rand) {
	t.Helper()
	op := []ordering.Operation{
		upstream.OpPay, upstream.OpPay, upstream.OpPay, upstream.OpComplete, upstream.OpComplete, upstream.OpReject,
	}[dice.IntN(6)]
	if op == upstream.OpReject && dice.IntN(4) > 0 {
		return // otherwise most of the history would be changes
	}
	c := ordering.ChangeRequest{
		Operation:  op,
		OrderID:    orderID,
		Connection: "main",
		Client:     "storefront",
		RequestID:  "request",
		Input:      validate.Input{V1: true, FieldCase: upstream.FieldCaseDocument},
	}
	if op == upstream.OpPay {
		c.Body = []byte(`[{"code":"c","amount":1000,"paidAt":"2030-01-01T00:00:00Z","name":""}]`)
	}
	if op == upstream.OpReject {
		c.Body = fmt.Appendf(nil, `{"rejectionReasonID":%q,"rejectionReasonText":"no"}`, simReasons()[0].ID)
	}
	s := step{
		key:   slot.key,
		op:    op,
		frees: true,
		slot: map[ordering.Operation]int{
			upstream.OpPay: 0, upstream.OpComplete: 1, upstream.OpReject: 2,
		}[op],
	}
	if own := dice.IntN(8); own < 4 {
		s.slot, s.frees = 3+own, false
		c.Key = fmt.Sprintf("%s-change-%d", slot.key, own)
	}
	v := &callTimes{}
	from := time.Now()
	got, err := orders.Change(context.WithValue(t.Context(), callTimesKey{}, v), c)
	h.ended(t, client, slot, s, got, err, v, from)
}

// ended records the observed result of a request. A request with its own call has two
// moments.
func (h *history) ended(
	t *testing.T, client int, slot *keySlot, s step, got ordering.Result, err error, v *callTimes, from time.Time,
) {
	t.Helper()
	to := time.Now()
	var (
		flight *ordering.InFlightError
		reused *ordering.KeyReusedError
		busy   *ordering.BusyError
		state  *ordering.StateError
	)
	switch {
	case err == nil:
		slot.learn(&got.Record)
		s.seen, s.call, s.result = snap(&got.Record), got.Call.Number, got.Call.Outcome
		s.moment = momentReplay
		if !got.Replayed {
			opened := s
			opened.moment, opened.result = momentOpen, ""
			h.add(client, opened, from, v.went)
			s.moment, from = momentEnd, v.came
		}
	case errors.As(err, &flight):
		s.moment, s.seen.ref = momentInFlight, flight.Ref
	case errors.As(err, &reused):
		s.moment = momentReused
	case errors.As(err, &busy):
		s.moment, s.seen = momentBusy, snap(&busy.Record)
		slot.learn(&busy.Record)
	case errors.As(err, &state):
		s.moment, s.seen = momentState, snap(&state.Record)
	default:
		t.Errorf("%s of %s: %v", s.op, s.key, err)
		return
	}
	h.add(client, s, from, to)
}

func (h *history) read(t *testing.T, client int, orders instance, slot *keySlot, ref, orderID string, by int) {
	t.Helper()
	var (
		got ordering.Record
		err error
		s   = step{key: slot.key}
	)
	from := time.Now()
	switch {
	case by == 0:
		s.moment = momentByKey
		got, err = orders.ByKey(t.Context(), []string{"main"}, "storefront", slot.key)
	case by == 1 && orderID != "":
		s.moment = momentByID
		got, err = orders.ByOrderID(t.Context(), []string{"main"}, orderID)
	default:
		s.moment = momentByRef
		got, err = orders.journal.Record(t.Context(), []string{"main"}, ref)
	}
	to := time.Now()
	if s.none = errors.Is(err, ordering.ErrNoOrder); err != nil && !s.none {
		t.Errorf("%s %s: %v", slot.key, s.moment, err)
		return
	}
	if !s.none {
		s.seen = snap(&got)
		slot.learn(&got)
	}
	h.add(client, s, from, to)
}

// resolve resolves an unknown outcome according to the service. The service has finished
// the call before its outcome is known to be unknown.
func (h *history) resolve(t *testing.T, client int, orders instance, slot *keySlot, ref string, op ordering.Operation) {
	t.Helper()
	resolution := ordering.ResolveRequest{
		Connections: []string{"main"},
		Ref:         ref,
		Operation:   op,
		Resolution:  ordering.ResolvedNotDone,
		By:          "ops",
		RequestID:   "ops",
	}
	for _, o := range shownOrders(t, h.control(t, http.MethodGet, "/sandbox/orders", "")) {
		if o.Body.Comment != slot.key {
			continue
		}
		switch {
		case op == upstream.OpCreate:
			resolution.Resolution, resolution.OrderID = ordering.ResolvedDone, o.OrderID
		case op == upstream.OpPay && o.Paid, op == upstream.OpComplete && o.State == "closed", op == upstream.OpReject && o.State == "rejected":
			resolution.Resolution = ordering.ResolvedDone
		}
	}
	from := time.Now()
	got, err := orders.Resolve(t.Context(), resolution)
	to := time.Now()
	if is[*ordering.StateError](err) {
		return // another client was faster: this one observed nothing
	}
	if err != nil {
		t.Errorf("resolve %s of %s: %v", op, slot.key, err)
		return
	}
	slot.learn(&got.Record)
	h.add(client, step{
		key:    slot.key,
		op:     op,
		moment: momentResolve,
		call:   got.Call.Number,
		result: got.Call.Outcome,
		seen:   snap(&got.Record),
		frees:  got.Call.Derived,
	}, from, to)
}

// check checks the history and the resulting orders.
func (h *history) check(t *testing.T) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(registers(), h.steps, time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), "larder-history-"+rand.Text()+".html")
		if err := porcupine.VisualizePath(registers(), info, path); err != nil {
			t.Errorf("write the history: %v", err)
		}
		t.Errorf("the history is %s; see %s", result, path)
	}
	made := map[string]int{}
	for _, o := range shownOrders(t, h.control(t, http.MethodGet, "/sandbox/orders", "")) {
		made[o.Body.Comment]++
	}
	for _, slot := range h.slots {
		if made[slot.key] > 1 {
			t.Errorf("the service has %d orders of %s, want at most 1", made[slot.key], slot.key)
		}
	}
	t.Logf("%d moments: %v", len(h.steps), h.kinds)
	for _, kind := range []string{
		"create ends done", "create ends unknown", "create resolves done", "pay ends done", "pay finds busy ", "create finds in flight ",
		"create finds reused ", "create replays done",
	} {
		if h.kinds[kind] == 0 {
			t.Errorf("the history has no %q: it tests too little", kind)
		}
	}
}
