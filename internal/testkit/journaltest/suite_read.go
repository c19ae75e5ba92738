package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func (s suite) read(t *testing.T) {
	s.test(t, "what is not there", func(t *testing.T, j *journal) {
		_, err := j.Record(t.Context(), []string{conn, other}, id())
		wantIs(t, "Record", err, ordering.ErrNoOrder)
		_, err = j.Order(t.Context(), conn, "765")
		wantIs(t, "Order", err, ordering.ErrNoOrder)
		_, err = j.Body(t.Context(), conn, id(), 1)
		wantIs(t, "Body", err, ordering.ErrNoBody)
		r := j.begun(t, create())
		_, err = j.Body(t.Context(), conn, r.Ref, 2)
		wantIs(t, "Body of no call", err, ordering.ErrNoBody)
		_, err = j.Order(t.Context(), conn, "")
		wantIs(t, "Order of no orderID", err, ordering.ErrNoOrder)
	})
	s.test(t, "a record by its ref on any of the connections", func(t *testing.T, j *journal) {
		r := j.begun(t, create(on(other)))
		got, err := j.Record(t.Context(), []string{conn, "third", other}, r.Ref)
		if err != nil {
			t.Fatalf("Record: %v", err)
		}
		same(t, "Record", got, r)
	})
	s.test(t, "what was given is nobody else's", func(t *testing.T, j *journal) {
		r := j.placed(t, "765")
		r.Calls[0].Outcome, r.State = ordering.OutcomeUnknown, ordering.StateUnknown
		if got := j.now(t, r); got.State != ordering.StatePlaced || got.Calls[0].Outcome != ordering.OutcomeDone {
			t.Errorf("the record is %s, want it untouched", got.State)
		}
	})
	s.test(t, "the latest changes and the creating call are kept", s.manyCalls)
}

func (s suite) manyCalls(t *testing.T, j *journal) {
	r := j.placed(t, "765")
	first := change(upstream.OpReject, "765")
	j.ended(t, j.begun(t, first), ordering.OutcomeRefused, "")
	total := ordering.MaxCalls + 20
	for range total - 1 {
		j.ended(t, j.begun(t, change(upstream.OpReject, "765")), ordering.OutcomeRefused, "")
	}
	got := j.now(t, r)
	if len(got.Calls) != ordering.MaxCalls+1 || got.Calls[0].Operation != upstream.OpCreate {
		t.Fatalf("the record has %d calls, the first a %s; want the create and %d changes",
			len(got.Calls), got.Calls[0].Operation, ordering.MaxCalls)
	}
	for i, call := range got.Calls[1:] {
		if want := total - ordering.MaxCalls + 2 + i; call.Number != want {
			t.Fatalf("call %d of the record has the number %d, want %d", i+1, call.Number, want)
		}
	}
	// The outcome of a key follows from the record, or the key is free.
	record, number, err := j.Lookup(t.Context(), conn, first.Key)
	if !errors.Is(err, ordering.ErrKeyFree) {
		if _, ok := record.Call(number); err != nil || !ok {
			t.Errorf("Lookup of a dropped call's key gives call %d, %v; want a call of the record, or a free key", number, err)
		}
	}
}

func (s suite) list(t *testing.T) {
	s.test(t, "nothing", func(t *testing.T, j *journal) {
		for _, connections := range [][]string{{conn}, {conn, other}, nil} {
			page, next, err := j.List(t.Context(), ordering.Query{Connections: connections, Limit: 50})
			if err != nil || len(page) != 0 || next != "" {
				t.Errorf("List of %v = %v, %q, %v; want nothing", connections, refs(page), next, err)
			}
		}
	})
	s.test(t, "by state", s.byState)
	s.test(t, "pages over two connections", func(t *testing.T, j *journal) {
		var want []string
		for i := range 57 {
			connection := conn
			if i%3 == 0 {
				connection = other
			}
			want = append(want, j.begun(t, create(on(connection))).Ref)
			j.begun(t, create(on("third")))
		}
		for _, limit := range []int{1, 5, 56, 57, 58, 500} {
			got := j.pages(t, ordering.Query{Connections: []string{conn, other}, Limit: limit}, nil)
			sameSet(t, fmt.Sprintf("pages of %d", limit), got, want)
		}
	})
	s.test(t, "pages while orders come in", func(t *testing.T, j *journal) {
		var want []string
		for range 40 {
			want = append(want, j.begun(t, create()).Ref)
		}
		j.pass(t, slack)
		late := map[string]bool{}
		got := j.pages(t, ordering.Query{Connections: []string{conn}, Limit: 7}, func() {
			for range 3 {
				late[j.begun(t, create()).Ref] = true
			}
		})
		got = slices.DeleteFunc(got, func(ref string) bool { return late[ref] })
		sameSet(t, "the orders that were there", got, want)
	})
	s.test(t, "pages of a state while orders leave it", func(t *testing.T, j *journal) {
		records := map[string]ordering.Record{}
		var stay []string
		for range 30 {
			r := j.begun(t, create())
			records[r.Ref] = r
			stay = append(stay, r.Ref)
		}
		got := j.pages(t, ordering.Query{Connections: []string{conn}, State: ordering.StatePlacing, Limit: 4}, func() {
			ref := stay[len(stay)-1]
			stay = stay[:len(stay)-1]
			j.ended(t, records[ref], ordering.OutcomeNotSent, "")
		})
		for _, ref := range stay {
			if !slices.Contains(got, ref) {
				t.Errorf("the pages lack %s, which was in the state all the time", ref)
			}
		}
	})
	s.test(t, "a cursor that List did not give", func(t *testing.T, j *journal) {
		j.begun(t, create())
		for _, cursor := range []string{"x", "-1", "../..", "\x00", "9999999999999999999999"} {
			_, _, err := j.List(t.Context(), ordering.Query{Connections: []string{conn}, Limit: 1, Cursor: cursor})
			wantIs(t, fmt.Sprintf("List from %q", cursor), err, ordering.ErrCursor)
		}
	})
}

// pages reads every page and calls between before each next one. It checks the
// order and that there are no duplicates.
func (j *journal) pages(t *testing.T, q ordering.Query, between func()) []string {
	t.Helper()
	var got []string
	var last ordering.Record
	for page := 0; ; page++ {
		records, next, err := j.List(t.Context(), q)
		if err != nil {
			t.Fatalf("List, page %d: %v", page, err)
		}
		if len(records) > q.Limit || (next != "" && len(records) == 0) {
			t.Fatalf("page %d has %d records and the cursor %q, want at most %d", page, len(records), next, q.Limit)
		}
		for _, r := range records {
			if !last.CreatedAt.IsZero() && r.CreatedAt.After(last.CreatedAt) {
				t.Errorf("%s of %v stands after %s of %v, want the newest first", r.Ref, r.CreatedAt, last.Ref, last.CreatedAt)
			}
			if slices.Contains(got, r.Ref) {
				t.Errorf("%s stands twice", r.Ref)
			}
			got, last = append(got, r.Ref), r
		}
		if next == "" {
			return got
		}
		if page > 1000 {
			t.Fatal("the pages do not end")
		}
		q.Cursor = next
		if between != nil {
			between()
		}
	}
}

// byState creates one order in each state, and unknown changes.
func (s suite) byState(t *testing.T, j *journal) {
	want := map[ordering.State][]string{}
	add := func(r ordering.Record, state ordering.State) {
		want[state] = append(want[state], r.Ref)
		want[""] = append(want[""], r.Ref)
	}
	add(j.begun(t, create()), ordering.StatePlacing)
	add(j.placed(t, "1"), ordering.StatePlaced)
	for outcome, state := range map[ordering.Outcome]ordering.State{
		ordering.OutcomeRefused: ordering.StateRefused, ordering.OutcomeNotSent: ordering.StateNotSent,
		ordering.OutcomeUnknown: ordering.StateUnknown,
	} {
		add(j.ended(t, j.begun(t, create()), outcome, ""), state)
	}
	j.placed(t, "2")
	add(j.ended(t, j.begun(t, change(upstream.OpComplete, "2")), ordering.OutcomeDone, ""), ordering.StateClosed)
	j.placed(t, "3")
	add(j.ended(t, j.begun(t, change(upstream.OpReject, "3")), ordering.OutcomeDone, ""), ordering.StateRejected)
	for i, op := range changes() {
		orderID := fmt.Sprint("unknown-", i)
		j.placed(t, orderID)
		r := j.ended(t, j.begun(t, change(op, orderID)), ordering.OutcomeUnknown, "")
		add(r, ordering.StatePlaced)
		want[ordering.StateUnknown] = append(want[ordering.StateUnknown], r.Ref)
	}
	j.placed(t, "4")
	r := j.swept(t, change(upstream.OpPay, "4", adopt))
	add(r, ordering.StatePlaced)
	want[ordering.StateUnknown] = append(want[ordering.StateUnknown], r.Ref)

	for _, state := range append(ordering.States(), "") {
		got := j.pages(t, ordering.Query{Connections: []string{conn}, State: state, Limit: 500}, nil)
		sameSet(t, fmt.Sprintf("List of %q", state), got, want[state])
	}
	page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{conn}, Limit: 500})
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	for _, r := range page {
		same(t, "a record of the list", r, j.now(t, r))
	}
	// A resolved call is no longer listed as unknown.
	j.resolved(t, resolution(r, upstream.OpPay, ordering.ResolvedNotDone, ""))
	left := j.pages(t, ordering.Query{Connections: []string{conn}, State: ordering.StateUnknown, Limit: 500}, nil)
	if slices.Contains(left, r.Ref) {
		t.Errorf("%s is resolved and still listed as unknown", r.Ref)
	}
}

func sameSet(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d records %v, want %d %v", what, len(got), got, len(want), want)
	}
}
