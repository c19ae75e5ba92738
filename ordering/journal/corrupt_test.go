package journal_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder/internal/testkit/journaltest"
	"larder/ordering"
	"larder/ordering/journal"
)

// Invalid data is an error that contains the name of the field, but no data.
func TestCorruptRecord(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	ended(t, w, begun(t, w, pay("765")), ordering.OutcomeUnknown, "")
	_, err := w.Resolve(t.Context(), ordering.ResolveCall{
		Connection: main,
		Ref:        r.Ref,
		Operation:  "pay",
		Resolution: ordering.ResolvedNotDone,
		By:         "ops",
		Note:       "asked the restaurant",
	})
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	fields, err := w.client.HGetAll(t.Context(), "larder:{o:main}:f1:order:"+r.Ref).Result()
	if err != nil {
		t.Fatal(err)
	}
	answers := map[int]string{1: w.client.HGet(t.Context(), "larder:{o:main}:f1:guest:"+r.Ref+":1", "answer").Val()}
	if _, err := journal.Decode(main, r.Ref, fields, answers); err != nil {
		t.Fatalf("the unchanged record: %v", err)
	}
	head := fields["head"]
	for _, test := range []struct{ field, value string }{
		{"rev", ""},
		{"rev", "0"},
		{"rev", "-7"},
		{"rev", phone + "x"},
		{"head", ""},
		{"head", phone},
		{"head", `{"ref":"` + phone + `"}`},
		{"head", strings.Replace(head, `"connection":"main"`, `"connection":"other"`, 1)},
		{"head", strings.Replace(head, "199.90", "1e999999999", 1)},
		{"head", strings.Replace(head, "199.90", phone+"x", 1)},
		{"head", strings.Replace(head, `"expectedAt":`, `"expectedAt":-`, 1)},
		{"state", ""},
		{"state", phone},
		{"created", ""},
		{"created", "-1"},
		{"created", "999999999999999999"},
		{"updated", phone + "x"},
		{"c:1", phone},
		{"c:1", `{"operation":"` + phone + `"}`},
		{"c:2", strings.Replace(fields["c:2"], "199.90", phone+"x", 1)},
		{"o:1", ""},
		{"o:1", phone},
		{"b:1", ""},
		{"e:1", phone + "x"},
		{"t:1", phone + "x"},
		{"t:1", `[{"outcome":"` + phone + `"}]`},
		{"a:1", phone + "x"},
		{"s:2", phone + "x"},
		{"s:2", `{"how":"` + phone + `"}`},
		{"sa:2", phone + "x"},
		{"x:1", phone},
	} {
		t.Run(test.field+" "+test.value, func(t *testing.T) {
			t.Parallel()
			broken := maps.Clone(fields)
			broken[test.field] = test.value
			var whole map[int]string
			if test.field != "a:1" {
				whole = answers
			}
			_, err := journal.Decode(main, r.Ref, broken, whole)
			wantCorrupt(t, err, test.field)
		})
	}
	t.Run("a complete response", func(t *testing.T) {
		t.Parallel()
		_, err := journal.Decode(main, r.Ref, fields, map[int]string{1: phone + "x"})
		wantCorrupt(t, err, "a:1")
	})
}

func wantCorrupt(t *testing.T, err error, field string) {
	t.Helper()
	if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), `"`+field+`"`) {
		t.Errorf("error %v, want ErrCorrupt that names %q", err, field)
	}
	if err != nil && strings.Contains(err.Error(), phone) {
		t.Errorf("the error contains the value: %v", err)
	}
}

// An unreadable order is an error for requests of this order. It does not affect other
// orders.
func TestCorruptInRedis(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	log, hook := logtest.NewNullLogger()
	j := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), log)

	broken, foreign, odd := create(overdue), create(overdue), create()
	for _, o := range []ordering.CallSpec{broken, foreign, odd} {
		begun(t, j, o)
	}
	well := begun(t, j, create(overdue))
	const tag = "larder:{o:main}:f1:"
	pipe := w.client.Pipeline()
	pipe.HSet(t.Context(), tag+"order:"+broken.Ref, "state", phone)
	pipe.Set(t.Context(), tag+"order:"+foreign.Ref, phone, 0)
	pipe.Set(t.Context(), tag+"key:"+odd.Key, phone, 0)
	pipe.Set(t.Context(), tag+"id:1", "no-such-ref", 0)
	pipe.ZAdd(t.Context(), tag+"open", zero("nonsense"), zero("no-such-ref 1"), zero(well.Ref+" 9"))
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}

	for what, call := range map[string]func() error{
		"Record":                  func() error { _, err := j.Record(t.Context(), []string{main}, broken.Ref); return err },
		"Record of a string":      func() error { _, err := j.Record(t.Context(), []string{main}, foreign.Ref); return err },
		"Lookup":                  func() error { _, _, err := j.Lookup(t.Context(), main, journaltest.Hashed(broken.Key)); return err },
		"Lookup of a corrupt key": func() error { _, _, err := j.Lookup(t.Context(), main, journaltest.Hashed(odd.Key)); return err },
		"Abort":                   func() error { return j.Abort(t.Context(), broken) },
		"Finish": func() error {
			_, err := j.Finish(t.Context(), ordering.CallResult{
				Connection: main,
				Ref:        broken.Ref,
				Call:       1,
				Outcome:    ordering.OutcomeDone,
			})
			return err
		},
	} {
		err := call()
		var want *ordering.JournalError
		if !errors.As(err, &want) || !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: %v, want a *JournalError of ErrCorrupt", what, err)
		}
		if err != nil && (strings.Contains(err.Error(), phone) || strings.Contains(err.Error(), broken.Key)) {
			t.Errorf("%s contains the unreadable value: %v", what, err)
		}
	}
	if _, err := j.Order(t.Context(), main, "1"); !errors.Is(err, ordering.ErrNoOrder) {
		t.Errorf("Order of an id without a record: %v, want ErrNoOrder", err)
	}

	moved, err := j.Sweep(t.Context(), main)
	if err != nil || len(moved) != 1 || moved[0].Ref != well.Ref {
		t.Errorf("Sweep = %d records, %v; want the readable one", len(moved), err)
	}
	if n := w.client.ZCard(t.Context(), tag+"open").Val(); n != 3 { // rescheduled: broken and foreign; not due: odd
		t.Errorf("%d calls are open, want 3", n)
	}
	if moved, err := j.Sweep(t.Context(), main); err != nil || len(moved) != 0 {
		t.Errorf("Sweep again = %d records, %v; want none", len(moved), err)
	}
	page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{main}, Limit: 10})
	if err != nil || len(page) != 2 {
		t.Errorf("List = %d records, %v; want the two readable ones", len(page), err)
	}
	wantLogged(t, hook.AllEntries(), broken.Ref, foreign.Ref)
}

func wantLogged(t *testing.T, entries []*logrus.Entry, refs ...string) {
	t.Helper()
	logged := map[any]bool{}
	for _, entry := range entries {
		logged[entry.Data["ref"]] = true
		line, err := entry.String()
		if err != nil || strings.Contains(line, phone) {
			t.Errorf("the log has %q, %v; want no guest data", line, err)
		}
	}
	for _, ref := range refs {
		if !logged[ref] {
			t.Errorf("the log does not mention %s", ref)
		}
	}
}

// A call whose record would be unreadable is rejected before it is written.
func TestUnreadableRecordsAreNotWritten(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{0, 1} {
		w := start(t, func(c *ordering.Config) { c.WaitReplicas = &replicas })
		o := create(func(o *ordering.CallSpec) { o.Operation = "create"; o.Total.Decimal = o.Total.Decimal.Shift(-100) })
		_, err := w.Begin(t.Context(), o)
		var want *ordering.JournalError
		if !errors.As(err, &want) || len(w.names(t)) != 0 {
			t.Errorf("Begin = %v with keys %v, want a *JournalError and none", err, w.names(t))
		}
	}
}

// A secret that larder did not create is not used.
func TestSecretCorrupt(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	if err := w.client.Set(t.Context(), "larder:f1:journal-secret", phone, 0).Err(); err != nil {
		t.Fatal(err)
	}
	_, err := journaltest.Secret(t.Context(), w)
	if !errors.Is(err, journal.ErrCorrupt) || strings.Contains(err.Error(), phone) {
		t.Errorf("secret = %v, want ErrCorrupt without the value", err)
	}
}

// Any data in Redis results in a record or an error.
func FuzzDecode(f *testing.F) {
	f.Add(`{"ref":"R","connection":"main","total":"199.90","expectedAt":1900000000000}`, `{"operation":"create","key":"k"}`,
		`[{"at":1,"outcome":"done"}]`, `{"status":201,"body":"e30="}`, `{"how":"done"}`, "1900000000000", "done")
	f.Add(`{"ref":"R","connection":"main","total":"1e64"}`, `{"operation":"pay","payments":[{"amount":"1e-64"}]}`,
		`[]`, `{}`, `null`, "1", "open")
	f.Add(``, `[`, `{}`, `0`, `"`, "-1", "x")
	f.Fuzz(func(t *testing.T, head, opening, tries, answer, resolved, number, outcome string) {
		r, err := journal.Decode(main, "R", map[string]string{
			"rev": number, "head": head, "state": "placed", "created": number, "updated": number, "c:1": opening, "o:1": outcome,
			"b:1": number, "e:1": number, "t:1": tries, "a:1": answer, "s:1": resolved, "sa:1": number, "x:1": outcome, "c:+1": opening,
		}, map[int]string{1: answer})
		if err != nil {
			if !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			return
		}
		if len(r.Calls) != 1 || r.Ref != "R" || r.CreatedAt.IsZero() || r.CreatedAt.Year() > 9999 {
			t.Errorf("record %+v, want one call of R and a valid time", r)
		}
		if text := r.Total.Decimal.String(); len(text) > len(head)+100 {
			t.Errorf("a total of %d characters was decoded from %d", len(text), len(head))
		}
	})
}
