package journaltest

import (
	"testing"

	"larder.local/ordering"
)

// recheck tests the mark of a refused order that is checked again (policy O18).
func (s suite) recheck(t *testing.T) {
	refused := func(t *testing.T, j *journal, spec ordering.CallSpec, recheck bool) ordering.Record {
		t.Helper()
		result := resultOf(j.begun(t, spec), ordering.OutcomeRefused, "")
		result.Recheck = recheck
		r, err := j.Finish(t.Context(), result)
		if err != nil {
			t.Fatalf("Finish: %v", err)
		}
		return r
	}
	state := func(t *testing.T, j *journal, key string) ordering.Recheck {
		t.Helper()
		r, call, found := j.lookup(t, key)
		if !found {
			t.Fatal("the key is free")
		}
		made, _ := r.Call(call)
		return made.Recheck
	}
	s.test(t, "a refusal is marked, and one step frees its key", func(t *testing.T, j *journal) {
		o := create()
		r := refused(t, j, o, true)
		if got := r.Calls[0].Recheck; got != ordering.RecheckRunning {
			t.Errorf("Finish returns %d", got)
		}
		for what, each := range map[string]ordering.Journal{"here": j.Journal, "another instance": j.fixture.Again(t)} {
			if got := state(t, newJournal(Fixture{Journal: each}), o.Key); got != ordering.RecheckRunning {
				t.Errorf("%s: Recheck is %d during the recheck", what, got)
			}
		}
		_, err := j.Begin(t.Context(), create(underKey(o.Key)))
		taken := wantError[*ordering.KeyTakenError](t, "Begin", err)
		if taken.Record.Calls[0].Recheck != ordering.RecheckRunning {
			t.Errorf("the key is taken by %+v", taken.Record.Calls[0])
		}
		if err := j.EndRecheck(t.Context(), conn, r.Ref, 1, true); err != nil {
			t.Fatalf("EndRecheck: %v", err)
		}
		j.wantKey(t, o.Key, "", 0)
		j.wantState(t, r, ordering.StateRefused, ordering.OutcomeRefused)
		if got := j.now(t, r).Calls[0].Recheck; got != ordering.RecheckExplained {
			t.Errorf("the record has Recheck %d", got)
		}
		wantIs(t, "EndRecheck again", j.EndRecheck(t.Context(), conn, r.Ref, 1, true), ordering.ErrRecheckOver)
		again := j.begun(t, create(underKey(o.Key)))
		j.wantKey(t, o.Key, again.Ref, 1)
	})
	s.test(t, "the mark ends by the clock of the store", func(t *testing.T, j *journal) {
		o := create()
		r := refused(t, j, o, true)
		j.pass(t, ordering.RecheckTime+slack)
		if got := state(t, j, o.Key); got != ordering.RecheckNone {
			t.Errorf("Recheck is %d after its time", got)
		}
		_, err := j.Begin(t.Context(), create(underKey(o.Key)))
		taken := wantError[*ordering.KeyTakenError](t, "Begin", err)
		if taken.Record.Calls[0].Recheck != ordering.RecheckNone {
			t.Errorf("the key is taken by %+v", taken.Record.Calls[0])
		}
		wantIs(t, "EndRecheck", j.EndRecheck(t.Context(), conn, r.Ref, 1, true), ordering.ErrRecheckOver)
		j.wantKey(t, o.Key, r.Ref, 1)
	})
	s.test(t, "without an explanation, the key keeps the refusal", func(t *testing.T, j *journal) {
		o := create()
		r := refused(t, j, o, true)
		if err := j.EndRecheck(t.Context(), conn, r.Ref, 1, false); err != nil {
			t.Fatalf("EndRecheck: %v", err)
		}
		if got := state(t, j, o.Key); got != ordering.RecheckNone {
			t.Errorf("Recheck is %d", got)
		}
		j.wantKey(t, o.Key, r.Ref, 1)
		wantIs(t, "EndRecheck again", j.EndRecheck(t.Context(), conn, r.Ref, 1, true), ordering.ErrRecheckOver)
	})
	s.test(t, "what is not marked keeps its key", func(t *testing.T, j *journal) {
		o := create()
		r := refused(t, j, o, false)
		wantIs(t, "EndRecheck", j.EndRecheck(t.Context(), conn, r.Ref, 1, true), ordering.ErrRecheckOver)
		j.wantKey(t, o.Key, r.Ref, 1)
		done := j.begun(t, create())
		result := resultOf(done, ordering.OutcomeDone, "765")
		result.Recheck = true
		if _, err := j.Finish(t.Context(), result); err != nil {
			t.Fatal(err)
		}
		wantIs(t, "EndRecheck of a placed order", j.EndRecheck(t.Context(), conn, done.Ref, 1, true), ordering.ErrRecheckOver)
		wantIs(t, "EndRecheck of no order", j.EndRecheck(t.Context(), conn, id(), 1, true), ordering.ErrNoOrder)
	})
}
