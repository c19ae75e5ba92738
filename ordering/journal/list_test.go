package journal_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
)

// Expired records that are not swept yet do not shorten a page.
func TestListSkipsExpiredRecords(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	var refs []string
	for range 12 {
		refs = append(refs, begun(t, w, create()).Ref)
	}
	slices.Reverse(refs)
	for i, ref := range refs {
		if i%4 != 3 { // three of every four have expired
			if err := w.client.Del(t.Context(), "larder:{o:main}:f1:order:"+ref).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	cursor := ""
	for range 12 {
		page, next, err := w.List(t.Context(), ordering.Query{Connections: []string{main, "other"}, Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, r := range page {
			got = append(got, r.Ref)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if want := []string{refs[3], refs[7], refs[11]}; !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("List returns %v, want %v", got, want)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// Unusual queries have a defined result.
func TestListBounds(t *testing.T) {
	t.Parallel()
	w := start(t, nil, redistest.Config("databases", "1"))
	begun(t, w, create())
	begun(t, w, create())
	for _, test := range []struct {
		name  string
		query ordering.Query
		want  int
		err   error
	}{
		{"no limit: the minimum", ordering.Query{Connections: []string{main}}, 1, nil},
		{"a limit above the maximum", ordering.Query{Connections: []string{main}, Limit: 1 << 30}, 2, nil},
		{"no connections", ordering.Query{Limit: 10}, 0, nil},
		{"an unknown state", ordering.Query{Connections: []string{main}, Limit: 10, State: "eaten"}, 0, nil},
		{"an invalid cursor", ordering.Query{Connections: []string{main}, Limit: 10, Cursor: "("}, 0, ordering.ErrCursor},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			page, _, err := w.List(t.Context(), test.query)
			if len(page) != test.want || !errors.Is(err, test.err) {
				t.Errorf("List = %d records, %v; want %d, %v", len(page), err, test.want, test.err)
			}
		})
	}
}

// wantLists compares the lists of a connection with its records: which order is in which list is written here once more.
func wantLists(t *testing.T, r *redisdb.DB, j ordering.Journal, connection string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute) // also at the end of a test
	defer cancel()
	names := []string{"orders", "open", "expiry"}
	for _, state := range ordering.States() {
		names = append(names, "in:"+string(state))
	}
	has := map[string][]string{} // by the member of the list of all orders
	for _, name := range names {
		members, err := r.Client().ZRange(ctx, r.Prefix()+":{o:"+connection+"}:f1:"+name, 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range members {
			order, call, _ := strings.Cut(member, " ")
			has[order] = append(has[order], name+call)
		}
	}
	prefix := r.Prefix() + ":{o:" + connection + "}:f1:"
	for _, key := range r.Client().Keys(ctx, prefix+"order:*").Val() {
		ref := strings.TrimPrefix(key, prefix+"order:")
		inLists := func(member string) bool { return strings.HasSuffix(member, "/"+ref) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(has)), inLists) {
			t.Errorf("the order %s is in no list", ref)
		}
	}
	for member, got := range has {
		_, ref, _ := strings.Cut(member, "/")
		record, err := j.Record(ctx, []string{connection}, ref)
		if errors.Is(err, ordering.ErrNoOrder) { // it has expired
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"orders"}
		if record.State != ordering.StatePlacing && record.State != ordering.StateUnknown {
			want = append(want, "in:"+string(record.State))
		}
		open, unknown := 0, false
		for _, call := range record.Calls {
			if call.Outcome == ordering.OutcomeOpen {
				want, open = append(want, "open"+strconv.Itoa(call.Number)), open+1
			}
			unknown = unknown || call.Outcome == ordering.OutcomeUnknown
		}
		if unknown {
			want = append(want, "in:unknown")
		}
		if !unknown && open == 0 {
			want = append(want, "expiry")
			for _, call := range record.Calls {
				key := prefix + "guest:" + ref + ":" + strconv.Itoa(call.Number)
				if r.Client().TTL(ctx, key).Val() == -1 {
					t.Errorf("the guest data of call %d of the %s order %s does not expire", call.Number, record.State, ref)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the %s order %s is in the lists %q, want %q", record.State, ref, got, want)
		}
	}
}
