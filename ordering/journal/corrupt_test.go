package journal_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/ordering"
	"larder.local/ordering/journal"
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
	text, err := w.client.Get(t.Context(), "larder:{o:main}:f1:order:"+r.Ref).Result()
	if err != nil {
		t.Fatal(err)
	}
	whole := w.client.HGet(t.Context(), "larder:{o:main}:f1:guest:"+r.Ref+":1", "answer").Val()
	if _, err := journal.Decode(main, r.Ref, text, whole); err != nil {
		t.Fatalf("the unchanged record %q: %v", text, err)
	}
	guest := strconv.Quote(phone)
	created := `"created":` + strconv.FormatInt(r.CreatedAt.UnixMilli(), 10)
	for _, test := range []struct{ old, value, name string }{
		{"f3 ", "f2 ", "format"},
		{"f3 ", "f4 ", "format"},
		{text, "", "format"},
		{text, phone, "format"},
		{text, text[:45], "format"},
		{text, text[:46] + phone, "format"},
		{text, text + phone, "format"},
		{text, strings.TrimSuffix(text, "}"), "format"},
		{text[30:45], "000000000000000", "committed"},
		{text[30:45], "00000000000000x", "committed"},
		{text[30:45], "999999999999999", "committed"},
		{text[29:30], "x", "format"},
		{`"state":"placed"`, `"state":` + guest, "/state"},
		{`"state":"placed"`, `"state":""`, "/state"},
		{`"state":"placed"`, `"state":7`, "/state"},
		{`"state":"placed"`, `"state":"placed","state":"placed"`, "format"},
		{`"state":"placed",`, "", "/state"},
		{`"id":"765"`, `"id":[` + guest + `]`, "/id"},
		{`"state":"placed"`, `"state":"placed","paid":1`, "/paid"},
		{"199.90", "1e99999999", "/total"},
		{"199.90", "1e-9999999", "/total"},
		{"199.90", strings.Repeat("9", 300), "/total"},
		{"199.90", guest, "/total"},
		{`"menu":42`, `"menu":42.5`, "/menu"},
		{`"menu":42`, `"menu":99999999999999999999`, "/menu"},
		{`"for":` + expected(r), `"for":-2`, "/for"},
		{`"for":` + expected(r), `"for":1.5`, "/for"},
		{created, `"created":0`, "/created"},
		{created, `"created":-2`, "/created"},
		{created, `"created":999999999999999999`, "/created"},
		{`"updated":-1`, `"updated":0`, "/updated"},
		{`"updated":-1`, `"updated":` + guest, "/updated"},
		{`"calls":[`, `"calls":[` + guest + `,`, "/calls/0"},
		{`"calls":[`, `"calls":[{},`, "/calls/0/n"},
		{`"n":2`, `"n":1`, "/calls/1/n"},
		{`"n":1`, `"n":0`, "/calls/0/n"},
		{`"op":"create"`, `"op":` + guest, "/calls/0/op"},
		{`"op":"create","out":"done"`, `"op":"create","out":"gone"`, "/calls/0/out"},
		{`"op":"create","out":"done"`, `"op":"create"`, "/calls/0/out"},
		{`"took":12000000`, `"took":` + guest, "/calls/0/tries/0/took"},
		{`"http":201,"out":"done"`, `"http":201,"out":` + guest, "/calls/0/tries"},
		{`"code":"cash","amount":199.90`, `"code":"cash","amount":null`, "/calls/1/pays/0/amount"},
		{`"code":"cash","amount":199.90`, `"code":"cash","amount":` + guest, "/calls/1/pays/0/amount"},
		{`"as":"not_done"`, `"as":` + guest, "/calls/1/resolved"},
		{`"by":"ops","at":-1`, `"by":"ops","at":` + guest, "/calls/1/resolved/at"},
		{`"note":"asked the restaurant"}`, `"note":"asked the restaurant"},"contradicted":` + guest, "/calls/1/contradicted"},
		{`"note":"asked the restaurant"}`, `"note":"asked the restaurant"},"recheck":3`, "/calls/1/recheck"},
	} {
		t.Run(test.old+" "+test.value, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(text, test.old) {
				t.Fatalf("%q does not contain %q", text, test.old)
			}
			_, err := journal.Decode(main, r.Ref, strings.Replace(text, test.old, test.value, 1), whole)
			wantCorrupt(t, err, test.name)
		})
	}
	for _, broken := range []string{phone, "f3 " + phone, "", "f3 201 ", whole + phone} {
		_, err := journal.Decode(main, r.Ref, text, broken)
		wantCorrupt(t, err, "answer of call 1")
	}
}

// Policy O21: a change keeps the members of a newer version, wherever they are. A record has nothing of an answer but its
// status and code.
func TestUnknownMembersAreKept_O21(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	ended(t, w, begun(t, w, pay("765")), ordering.OutcomeDone, "")
	key := "larder:{o:main}:f1:order:" + r.Ref
	text := w.client.Get(t.Context(), key).Val()
	for _, member := range []string{`"menu":42`, `"n":1`, `"n":2`, `"took":12000000`, `"code":"cash"`} {
		text = strings.Replace(text, member, member+`,"newer":{"than":[`+strconv.Quote(member)+`, 1.50]}`, 1)
	}
	if err := w.client.Set(t.Context(), key, text, 0).Err(); err != nil {
		t.Fatal(err)
	}
	ended(t, w, begun(t, w, func() ordering.CallSpec { o := pay("765"); o.Operation, o.Payments = "complete", nil; return o }()), ordering.OutcomeDone, "")
	changed := w.client.Get(t.Context(), key).Val()
	for _, member := range []string{`"menu":42`, `"n":1`, `"n":2`, `"took":12000000`, `"code":"cash"`} {
		if kept := `"newer":{"than":[` + strconv.Quote(member) + `,1.50]}`; strings.Count(strings.ReplaceAll(changed, " 1.50", "1.50"), kept) != 1 {
			t.Errorf("the member of a newer version after %s is lost:\n%s", member, changed)
		}
	}
	if !strings.Contains(changed, `"op":"complete","out":"done"`) || strings.Contains(changed, phone) {
		t.Errorf("the record after the change: %s", changed)
	}
}

func expected(r ordering.Record) string { return strconv.FormatInt(r.ExpectedAt.UnixMilli(), 10) }

func wantCorrupt(t *testing.T, err error, field string) {
	t.Helper()
	if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), `"`+field) {
		t.Errorf("error %v, want ErrCorrupt that names %q", err, field)
	}
	if err != nil && strings.Contains(err.Error(), phone) {
		t.Errorf("the error contains the value: %v", err)
	}
}

// An unreadable order is an error for requests of this order. It does not affect other orders.
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
	pipe.Set(t.Context(), tag+"order:"+broken.Ref, "f3 "+phone, 0)
	pipe.Del(t.Context(), tag+"order:"+foreign.Ref)
	pipe.HSet(t.Context(), tag+"order:"+foreign.Ref, "state", phone)
	pipe.Set(t.Context(), tag+"key:"+odd.Key, phone, 0)
	pipe.Set(t.Context(), tag+"id:1", "no-such-ref", 0)
	pipe.ZAdd(t.Context(), tag+"open", zero("nonsense"), zero("000000000000001/no-such-ref 1"), zero("000000000000001/"+well.Ref+" 9"))
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}

	for what, call := range map[string]func() error{
		"Record":                  func() error { _, err := j.Record(t.Context(), []string{main}, broken.Ref); return err },
		"Record of a hash":        func() error { _, err := j.Record(t.Context(), []string{main}, foreign.Ref); return err },
		"Lookup":                  func() error { _, _, err := j.Lookup(t.Context(), main, broken.Key); return err },
		"Lookup of a corrupt key": func() error { _, _, err := j.Lookup(t.Context(), main, odd.Key); return err },
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
		if !errors.As(err, &want) || !errors.Is(err, journal.ErrCorrupt) || !isFormat(err) { // policy O20
			t.Errorf("%s: %v, want a *JournalError of ErrCorrupt and a *FormatError", what, err)
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
	if format, ok := errors.AsType[*ordering.FormatError](err); !ok || len(format.Unreadable) != 2 || len(page) != 2 {
		t.Errorf("List = %d records, %v; want the two readable ones, and both unreadable ones in the error", len(page), err)
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

// An answer of another type makes its order unreadable. It does not stop the sweep of the others.
func TestAnAnswerOfAnotherTypeDoesNotStopTheSweep(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	var refs []string
	for _, orderID := range []string{"1", "2"} {
		r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, orderID)
		late := pay(orderID)
		late.Deadline = -time.Second
		begun(t, w, late)
		refs = append(refs, r.Ref)
	}
	if err := w.client.Set(t.Context(), "larder:{o:main}:f1:guest:"+refs[0]+":1", phone, 0).Err(); err != nil {
		t.Fatal(err)
	}
	moved, err := w.Sweep(t.Context(), main)
	if err != nil || len(moved) != 1 || moved[0].Ref != refs[1] {
		t.Errorf("Sweep = %d records, %v; want the second order", len(moved), err)
	}
	if n := w.client.ZCount(t.Context(), "larder:{o:main}:f1:open", "-inf", "+inf").Val(); n != 1 {
		t.Errorf("%d open calls, want the unreadable one", n)
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
	_, err := w.Secret(t.Context(), main)
	if err == nil || !strings.Contains(err.Error(), "larder:f1:journal-secret in Redis has") || strings.Contains(err.Error(), phone) {
		t.Errorf("secret = %v, want an error that names the key, without its value", err)
	}
	var unavailable *ordering.JournalError
	var format *ordering.FormatError
	if !errors.As(err, &unavailable) || errors.As(err, &format) {
		t.Errorf("secret = %v, want a *JournalError: no record of an order is unreadable", err)
	}
}

// Any data in Redis results in a record or an error.
func FuzzDecode(f *testing.F) {
	const head = "f3 01ARZ3NDEKTSV4RRFFQ69G5FAV 001900000000000 "
	f.Add(head+`{"src":"s","by":"c","at":"b","id":"765","state":"placed","total":199.90,"menu":42,"created":-1,"updated":-1,`+
		`"for":1900000000000,"calls":[{"n":1,"op":"create","out":"done","by":"c","req":"r","hash":"f","key":"k","spec":"s","from":-1,`+
		`"to":-1,"tries":[{"at":1,"took":2,"http":201,"out":"done"}],"answer":{"http":201},"resolved":{"by":"ops","at":-1,`+
		`"as":"done"},"more":[1]}],"less":{}}`, `f3 {"http":201,"body":"e30="}`)
	f.Add(head+`{"adopted":true,"state":"placed","created":1,"updated":1,"calls":[{"n":1,"op":"pay","out":"open","from":1,`+
		`"pays":[{"code":"","amount":1e-9}]}]}`, "f3 ")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, text, answer string) {
		r, err := journal.Decode(main, "R", text, answer)
		if err != nil {
			if !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			return
		}
		if r.Ref != "R" || r.CreatedAt.IsZero() || r.CreatedAt.Year() > 9999 || len(r.Calls) > len(text) {
			t.Errorf("record %+v, want one of R and a valid time", r)
		}
		if total := r.Total.Decimal.String(); len(total) > len(text)+100 {
			t.Errorf("a total of %d characters was decoded from %d", len(total), len(text))
		}
		again, err := journal.Recode(r)
		given := func(a, b jsontext.Value) bool { return len(a)+len(b) > 0 } // EquateEmpty compares the others
		spaces := cmp.FilterValues(given, cmp.Transformer("withoutSpaces", func(unknown jsontext.Value) string {
			unknown = unknown.Clone()
			_ = unknown.Compact()
			return string(unknown)
		}))
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty(), spaces); err != nil || diff != "" {
			t.Errorf("the record differs after it was written and read (-want +got), %v:\n%s", err, diff)
		}
	})
}
