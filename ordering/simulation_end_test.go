package ordering_test

import (
	"errors"
	"maps"
	"slices"
	"time"

	"larder.local/internal/testkit/menutest"
	"larder.local/ordering"
)

// converge ends all faults and resolves all unknown outcomes. Then the response for each
// key must match the service.
func (s *simulation) converge() {
	s.control("PUT", "/sandbox/faults", "[]")
	s.control("PATCH", "/sandbox/stop-list/"+string(menutest.Restaurant), `{"soup":false}`)
	s.mu.Lock()
	s.stopped = false
	s.mu.Unlock()
	for _, r := range s.replicas {
		r.gate.mu.Lock()
		r.gate.unreachable = false
		clear(r.gate.fail)
		clear(r.gate.die)
		clear(r.gate.delay)
		r.gate.mu.Unlock()
	}
	time.Sleep(3 * time.Minute) //testwaits:allow in the synctest bubble
	s.quiesce()
	s.check()
	s.allRecorded()
	for _, r := range s.records(ordering.StateUnknown) {
		if !s.resolve(s.replicas[0], r, false) {
			s.wrong("%s is never finished at the service", r.Ref)
		}
		s.quiesce()
		s.check()
	}
	for _, r := range s.records("") {
		if call, busy := r.Busy(); busy {
			s.wrong("%s: the %s without faults is %s", r.Ref, call.Operation, call.Outcome)
		}
	}
	asked := map[string]*simRequest{}
	for _, a := range s.requests {
		if a.placing != nil && a.identity != "" && !a.invalid {
			asked[a.identity] = a
		}
	}
	for _, identity := range slices.Sorted(maps.Keys(asked)) {
		a := &simRequest{
			placing:  asked[identity].placing,
			label:    asked[identity].label,
			identity: identity,
			own:      true,
		}
		s.send(s.replicas[1], a)
		s.quiesce()
		if a.err == nil && !a.result.Call.Outcome.Certain() {
			s.wrong("%s: %s without faults", a, a.result.Call.Outcome)
		}
		s.check()
	}
}

// allRecorded checks that an instance, if it still runs, has recorded all results that it
// could not record before.
func (s *simulation) allRecorded() {
	for _, a := range s.requests {
		if !s.answered(a) || a.by.gate.isDead() {
			continue
		}
		if a.err != nil && a.identity == "" && a.placing != nil {
			s.wantNothingOpen(a)
		}
		if a.err != nil {
			continue
		}
		r := s.truth.records[a.result.Record.Ref]
		call, _ := r.Call(a.result.Call.Number)
		resolved := call.Resolved != nil && (call.Outcome == ordering.OutcomeDone) == (a.result.Call.Outcome == ordering.OutcomeDone)
		if a.result.Call.Outcome.Certain() && call.Outcome != a.result.Call.Outcome && !resolved {
			s.wrong("%s has the result %s, and the record has %s", a, a.result.Call.Outcome, call.Outcome)
		}
	}
}

// wantNothingOpen checks that an order has no open call after a request that failed. An order that the service refused
// stays refused if the new menu explains that (policy O18).
func (s *simulation) wantNothingOpen(a *simRequest) {
	explained, ok := errors.AsType[*ordering.InvalidError](a.err)
	for ref, label := range s.truth.labels {
		if ok && ref == explained.Ref && s.truth.records[ref].State == ordering.StateRefused {
			continue
		}
		if state := s.truth.records[ref].State; label == a.label && state != ordering.StateNotSent {
			s.wrong("%s got the error %v, and %s is %s", a, a.err, ref, state)
		}
	}
}
