package ordering_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The model of an order is a register that each operation reads or changes at one moment.
// Placing and changing have two such moments: the call is opened before it reaches the
// service, and finished after the service has responded. A history has two operations for
// them.

// maxSlots is the number of keys of changes per order in a history.
const maxSlots = 8

// snapshot is the content of a record at one moment.
type snapshot struct {
	ref, orderID string
	state        ordering.State
	paid         bool
	calls        int
	busy         ordering.Operation // may be empty
	unknown      bool               // the busy call is unknown, otherwise open
}

// slot is the call of a change's key. It has no call if the key is free.
type slot struct {
	call    int
	op      ordering.Operation
	outcome ordering.Outcome
}

// register is the model of an order with its own key.
type register struct {
	snapshot
	body    int // the body that was sent with the key
	outcome ordering.Outcome
	slots   [maxSlots]slot
}

// moment is the kind of an operation in a history.
type moment string

const (
	momentOpen     moment = "opens"
	momentEnd      moment = "ends"
	momentReplay   moment = "replays"
	momentInFlight moment = "finds in flight"
	momentReused   moment = "finds reused"
	momentBusy     moment = "finds busy"
	momentState    moment = "finds in another state"
	momentByKey    moment = "reads by key"
	momentByID     moment = "reads by orderID"
	momentByRef    moment = "reads by ref"
	momentResolve  moment = "resolves"
)

// step is one operation of a history: its input and its observed output. The model is
// deterministic.
type step struct {
	key    string // of the order; histories are checked by key
	moment moment
	op     ordering.Operation
	slot   int // of the change's key
	body   int // of the creation
	frees  bool
	call   int
	result ordering.Outcome
	// seen is the record in the response. none is true if there is no record.
	seen snapshot
	none bool
}

// String describes the step in a failure.
func (s step) String() string {
	return fmt.Sprintf("%s of %s under %d %s call %d %s: %+v (none %t)", s.op, s.key, s.slot, s.moment, s.call, s.result, s.seen, s.none)
}

// registers returns the model of one order.
func registers() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range history {
				key := o.Input.(step).key //nolint:forcetypeassert,errcheck // set by the history
				by[key] = append(by[key], o)
			}
			parts := make([][]porcupine.Operation, 0, len(by))
			for _, part := range by {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return register{} },
		Step: func(state, input, _ any) (bool, any) {
			r, s := state.(register), input.(step) //nolint:forcetypeassert,errcheck // set by the model
			ok := r.apply(s)
			return ok, r
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// apply applies a step, and reports whether its output is possible.
func (r *register) apply(s step) bool {
	switch s.moment {
	case momentOpen:
		return r.open(s)
	case momentEnd:
		return r.end(s, false) && r.snapshot == s.seen
	case momentResolve:
		return r.end(s, true) && r.snapshot == s.seen
	case momentReplay:
		call, outcome, _ := r.under(s)
		return call == s.call && outcome == s.result && r.snapshot == s.seen
	case momentInFlight:
		call, outcome, op := r.under(s)
		return call > 0 && outcome == ordering.OutcomeOpen && op == s.op && r.ref == s.seen.ref
	case momentReused:
		call, _, op := r.under(s)
		return call > 0 && (op != s.op || (s.op == upstream.OpCreate && r.body != s.body))
	case momentBusy:
		call, _, _ := r.under(s)
		return call == 0 && r.busy != "" && r.snapshot == s.seen
	case momentState:
		call, _, _ := r.under(s)
		return call == 0 && r.busy == "" && (r.state != ordering.StatePlaced || (s.op == upstream.OpPay && r.paid)) && r.snapshot == s.seen
	case momentByKey:
		return s.none == r.free() && (s.none || r.snapshot == s.seen)
	case momentByID:
		return s.none == (r.orderID == "") && (s.none || r.snapshot == s.seen)
	case momentByRef:
		// The record of a call that was not sent stays under another ref.
		return r.snapshot == s.seen || (r.ref != s.seen.ref && s.seen.state == ordering.StateNotSent)
	}
	return false
}

// free reports whether the order's own key is free.
func (r *register) free() bool { return r.ref == "" || r.outcome == ordering.OutcomeNotSent }

// under returns the call that has the step's key. call is 0 if the key has no call.
func (r *register) under(s step) (call int, outcome ordering.Outcome, op ordering.Operation) {
	if s.op != upstream.OpCreate {
		k := r.slots[s.slot]
		return k.call, k.outcome, k.op
	}
	if r.free() {
		return 0, "", ""
	}
	return 1, r.outcome, upstream.OpCreate
}

func (r *register) open(s step) bool {
	if call, _, _ := r.under(s); call != 0 {
		return false
	}
	if s.op == upstream.OpCreate {
		*r = register{body: s.body, outcome: ordering.OutcomeOpen, snapshot: snapshot{
			ref:   s.seen.ref,
			state: ordering.StatePlacing,
			calls: 1,
			busy:  s.op,
		}}
		return s.call == 1
	}
	if r.busy != "" || r.state != ordering.StatePlaced || (s.op == upstream.OpPay && r.paid) || r.ref != s.seen.ref {
		return false
	}
	r.calls++
	r.busy, r.unknown = s.op, false
	r.slots[s.slot] = slot{call: r.calls, op: s.op, outcome: ordering.OutcomeOpen}
	return s.call == r.calls
}

// end ends the open or unknown call, by its own result or by a person's resolution.
func (r *register) end(s step, resolved bool) bool {
	if r.busy != s.op || r.unknown != resolved || r.calls != s.call || r.ref != s.seen.ref {
		return false
	}
	if r.unknown = s.result == ordering.OutcomeUnknown; !r.unknown {
		r.busy = ""
	}
	for i := range r.slots {
		if k := &r.slots[i]; k.call == s.call && s.op != upstream.OpCreate {
			k.outcome = s.result
			if s.result == ordering.OutcomeNotSent || (s.result == ordering.OutcomeRefused && s.frees) {
				*k = slot{}
			}
		}
	}
	done := s.result == ordering.OutcomeDone
	switch {
	case s.op == upstream.OpCreate:
		r.outcome = s.result
		r.state = map[ordering.Outcome]ordering.State{
			ordering.OutcomeDone: ordering.StatePlaced, ordering.OutcomeRefused: ordering.StateRefused,
			ordering.OutcomeNotSent: ordering.StateNotSent, ordering.OutcomeUnknown: ordering.StateUnknown,
		}[s.result]
		if done {
			r.orderID = s.seen.orderID
		}
		return (r.orderID != "") == done
	case done && s.op == upstream.OpPay:
		r.paid = true
	case done && s.op == upstream.OpComplete:
		r.state = ordering.StateClosed
	case done:
		r.state = ordering.StateRejected
	}
	return true
}
