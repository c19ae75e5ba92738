package journaltest

import (
	"errors"
	"sync"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

const rivals = 50

// atOnce runs rivals goroutines over several journals of one store, which start
// together. It returns their errors.
func (j *journal) atOnce(t *testing.T, run func(j ordering.Journal, rival int) error) []error {
	t.Helper()
	replicas := []ordering.Journal{j.Journal, j.fixture.Again(t), j.fixture.Again(t)}
	errs := make([]error, rivals)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range rivals {
		group.Go(func() {
			<-start
			errs[i] = run(replicas[i%len(replicas)], i)
		})
	}
	close(start)
	group.Wait()
	return errs
}

func (s suite) race(t *testing.T) {
	s.test(t, "of one key exactly one wins", func(t *testing.T, j *journal) {
		key := id()
		openings := make([]ordering.CallSpec, rivals)
		for i := range openings {
			openings[i] = create(underKey(key))
		}
		errs := j.atOnce(t, func(j ordering.Journal, i int) error {
			_, err := j.Begin(t.Context(), openings[i])
			return err
		})
		winner := j.winner(t, errs, func(err error) bool {
			var e *ordering.KeyTakenError
			return errors.As(err, &e) && e.Call == 1
		})
		j.wantKey(t, key, openings[winner].Ref, 1)
		if got := j.pages(t, ordering.Query{Connections: []string{conn}, Limit: 500}, nil); len(got) != 1 {
			t.Errorf("the journal holds %d records, want 1", len(got))
		}
	})
	for _, adopted := range []bool{false, true} {
		name := "of one order exactly one change is open"
		if adopted {
			name = "of one order nobody knows exactly one change is open"
		}
		s.test(t, name, func(t *testing.T, j *journal) {
			if !adopted {
				j.placed(t, "765")
			}
			openings := make([]ordering.CallSpec, rivals)
			for i := range openings {
				openings[i] = change(changes()[i%3], "765", func(o *ordering.CallSpec) { o.Adopt = adopted })
			}
			errs := j.atOnce(t, func(j ordering.Journal, i int) error {
				_, err := j.Begin(t.Context(), openings[i])
				return err
			})
			j.winner(t, errs, func(err error) bool {
				var e *ordering.BusyError
				return errors.As(err, &e)
			})
			r, err := j.Order(t.Context(), conn, "765")
			if err != nil || len(r.Calls)-map[bool]int{false: 1, true: 0}[adopted] != 1 {
				t.Errorf("the order has %d calls, %v; want one change", len(r.Calls), err)
			}
		})
	}
	s.test(t, "of one change asked for many times one is open, the others find its key", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		for round := range 5 {
			o := change(upstream.OpComplete, "765")
			errs := j.atOnce(t, func(j ordering.Journal, _ int) error {
				again := o
				again.ID, again.Ref = id(), id()
				_, err := j.Begin(t.Context(), again)
				return err
			})
			j.winner(t, errs, func(err error) bool {
				var e *ordering.KeyTakenError
				return errors.As(err, &e) && e.Call == round+2
			})
			r, err := j.Order(t.Context(), conn, "765")
			if err != nil {
				t.Fatalf("Order: %v", err)
			}
			j.ended(t, r, ordering.OutcomeRefused, "")
		}
	})
	s.test(t, "of two endings that contradict one stands", func(t *testing.T, j *journal) {
		r := j.begun(t, create())
		errs := j.atOnce(t, func(j ordering.Journal, i int) error {
			e := resultOf(r, ordering.OutcomeRefused, "")
			if i%2 == 0 {
				e = resultOf(r, ordering.OutcomeDone, "765")
			}
			_, err := j.Finish(t.Context(), e)
			return err
		})
		held := j.now(t, r).Calls[0].Outcome
		for i, err := range errs {
			said := ordering.OutcomeRefused
			if i%2 == 0 {
				said = ordering.OutcomeDone
			}
			var e *ordering.ContradictionError
			if (said == held) != (err == nil) || (err != nil && !errors.As(err, &e)) {
				t.Errorf("the record says %s, Finish(%s): %v", held, said, err)
			}
		}
	})
	s.test(t, "of one unknown order one resolution is kept", func(t *testing.T, j *journal) {
		r, _ := j.unknown(t, upstream.OpCreate)
		errs := j.atOnce(t, func(j ordering.Journal, _ int) error {
			_, err := j.Resolve(t.Context(), resolution(r, upstream.OpCreate, ordering.ResolvedRetry, ""))
			return err
		})
		j.winner(t, errs, func(err error) bool {
			var e *ordering.StateError
			return errors.As(err, &e)
		})
		if got := j.now(t, r); len(got.Calls) != 2 {
			t.Errorf("the record has %d calls, want 2", len(got.Calls))
		}
	})
	s.test(t, "one sweep reports a late call", func(t *testing.T, j *journal) {
		j.begun(t, create(within(brief)))
		j.pass(t, brief+slack)
		var mu sync.Mutex
		moved := 0
		errs := j.atOnce(t, func(j ordering.Journal, _ int) error {
			records, err := j.Sweep(t.Context(), conn)
			mu.Lock()
			defer mu.Unlock()
			moved += len(records)
			return err
		})
		if err := errors.Join(errs...); err != nil || moved != 1 {
			t.Errorf("the sweeps moved %d, %v; want 1", moved, err)
		}
	})
}

// winner returns the one rival without an error. lost must be true for the other
// errors.
func (j *journal) winner(t *testing.T, errs []error, lost func(error) bool) int {
	t.Helper()
	winner, won := 0, 0
	for i, err := range errs {
		switch {
		case err == nil:
			winner = i
			won++
		case !lost(err):
			t.Errorf("rival %d: %v", i, err)
		}
	}
	if won != 1 {
		t.Fatalf("%d of %d rivals won, want 1", won, len(errs))
	}
	return winner
}
