package journal_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/ordering"
)

// What every method answers about records of another format, and that none of them changes one byte of Redis. The records
// themselves are readable here: only the state of the connection shows that another version has written them.
func TestOtherFormat_O20(t *testing.T) {
	t.Parallel()
	const state = "larder:{o:main}:f1:journal"
	for name, test := range map[string]struct {
		change func(redis.Pipeliner)
		found  string // what the text says that Redis has
	}{
		"older: an epoch without a format": {func(p redis.Pipeliner) { p.HDel(t.Context(), state, "format") }, `no format`},
		"no epoch, and no format":          {func(p redis.Pipeliner) { p.HDel(t.Context(), state, "format", "epoch") }, `no format`},
		"no state":                         {func(p redis.Pipeliner) { p.Del(t.Context(), state) }, `no key larder:{o:main}:f1:journal`},
		"newer":                            {func(p redis.Pipeliner) { p.HSet(t.Context(), state, "format", "4") }, `format "4"`},
		"junk":                             {func(p redis.Pipeliner) { p.HSet(t.Context(), state, "format", "3 ") }, `format "3 "`},
		"empty":                            {func(p redis.Pipeliner) { p.HSet(t.Context(), state, "format", "") }, `format ""`},
		"newer, without an epoch and orders": {func(p redis.Pipeliner) {
			p.HDel(t.Context(), state, "epoch")
			p.HSet(t.Context(), state, "format", "4")
			p.Del(t.Context(), "larder:{o:main}:f1:orders")
		}, `format "4"`},
		"paused": {func(p redis.Pipeliner) { p.HSet(t.Context(), state, "format", "4", "paused", "1") }, `format "4"`},
		"a state of another type": {func(p redis.Pipeliner) {
			p.Del(t.Context(), state)
			p.Set(t.Context(), state, "v7", 0)
		}, ``},
		"no state, and orders of another type": {func(p redis.Pipeliner) {
			p.Del(t.Context(), state, "larder:{o:main}:f1:orders")
			p.Set(t.Context(), "larder:{o:main}:f1:orders", "v7", 0)
		}, `no key larder:{o:main}:f1:journal`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			order := create(overdue)
			begun(t, w.Journal, order)
			unknown := ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeUnknown, "")
			placed := ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeDone, "765")
			if _, err := w.client.TxPipelined(t.Context(), func(p redis.Pipeliner) error { test.change(p); return nil }); err != nil {
				t.Fatal(err)
			}
			_, _ = w.Secret(t.Context(), main) // creates the secret, which belongs to no connection
			before := dump(t, w)

			fresh := w.of(t, "next") // remembers nothing
			for what, j := range map[string]ordering.Journal{"running": w.Journal, "fresh": fresh} {
				for method, call := range map[string]func() error{
					"Begin":   func() error { _, err := j.Begin(t.Context(), create()); return err },
					"Pay":     func() error { _, err := j.Begin(t.Context(), pay("765")); return err },
					"Adopt":   func() error { c := pay("9"); c.Adopt = true; _, err := j.Begin(t.Context(), c); return err },
					"Abort":   func() error { return j.Abort(t.Context(), order) },
					"Accept":  func() error { _, err := j.Accept(t.Context(), main); return err },
					"Sweep":   func() error { _, err := j.Sweep(t.Context(), main); return err },
					"Watch":   func() error { _, err := j.Watch(t.Context(), main); return err },
					"Order":   func() error { _, err := j.Order(t.Context(), main, "765"); return err },
					"Order?":  func() error { _, err := j.Order(t.Context(), main, "no such"); return err },
					"Record":  func() error { _, err := j.Record(t.Context(), []string{main, "other"}, placed.Ref); return err },
					"Record?": func() error { _, err := j.Record(t.Context(), []string{main, "other"}, "NOSUCH"); return err },
					"Finish": func() error {
						_, err := j.Finish(t.Context(), ordering.CallResult{Connection: main, Ref: order.Ref, Call: 1, Outcome: ordering.OutcomeRefused})
						return err
					},
					"Recreate": func() error { _, _, err := j.Recreate(t.Context(), placed, 1, nil); return err },
					"Resolve": func() error {
						_, err := j.Resolve(t.Context(), ordering.ResolveCall{
							Connection: main, Ref: unknown.Ref, Operation: "create", Resolution: ordering.ResolvedNotDone, By: "ops",
						})
						return err
					},
				} {
					err := call()
					if !isFormat(err) {
						t.Errorf("%s of a %s journal: %v, want a *FormatError", method, what, err)
					}
					if failed, _ := errors.AsType[*ordering.JournalError](err); method == "Begin" && failed.Unwritten != redis.HasErrorPrefix(err, "FORMAT") {
						t.Errorf("Begin of a %s journal: %v, is it certain that nothing was written: %t", what, err, failed.Unwritten)
					}
				}
				for _, state := range append(ordering.States(), "") {
					page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{main}, State: state, Limit: 10})
					if !isFormat(err) || len(page) > 0 {
						t.Errorf("List of %q of a %s journal: %d records, %v; want a *FormatError", state, what, len(page), err)
					}
				}
			}
			if _, _, err := fresh.Lookup(t.Context(), main, "no such key"); !isFormat(err) {
				t.Errorf("Lookup: %v, want a *FormatError", err)
			}
			format, ok := errors.AsType[*ordering.FormatError](fresh.Ready(t.Context(), main))
			if !ok || format.Unreadable[0].Found != test.found || !strings.Contains(format.Msg(), "only order records of format 3") {
				t.Errorf("Ready: %v, want a *FormatError with %q and the format of this version", format, test.found)
			}
			if _, err := fresh.Unknown(t.Context(), main); !isFormat(err) {
				t.Errorf("Unknown: %v, want a *FormatError", err)
			}
			// An earlier version kept no set of connections.
			recorded := w.client.Exists(t.Context(), "larder:{o:main}:f1:orders").Val() > 0
			if _, err := fresh.ForeignOrders(t.Context(), nil); isFormat(err) != recorded {
				t.Errorf("ForeignOrders: %v, want a *FormatError", err)
			}
			w.client.Del(t.Context(), "larder:f1:connections")
			wantSame(t, w, before)
		})
	}
}

// A journal without records is new, and its state is complete after the first change, even if that is a pause.
func TestNewJournal_O20(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	if err := w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", "source", "s").Err(); err != nil {
		t.Fatal(err)
	}
	known := ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeDone, "765")
	if err := w.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Watch(t.Context(), main); err != nil { // pauses
		t.Fatal(err)
	}
	if _, _, err := w.Recreate(t.Context(), known, 1, nil); err != nil {
		t.Errorf("Recreate during the pause: %v", err)
	}
	if accepted, err := w.Accept(t.Context(), main); err != nil || !accepted {
		t.Errorf("Accept = %t, %v; want true", accepted, err)
	}
	ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeDone, "766")
}

// A list has the records that can be read, together with an error that names the others.
func TestPartlyUnreadable_O20(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	readable := ended(t, w.Journal, begun(t, w.Journal, create()), ordering.OutcomeUnknown, "")
	other := create()
	other.Connection = "other"
	begun(t, w.Journal, other)
	if err := w.client.HSet(t.Context(), "larder:{o:other}:f1:journal", "format", "4").Err(); err != nil {
		t.Fatal(err)
	}
	page, _, err := w.List(t.Context(), ordering.Query{Connections: []string{"other", main}, Limit: 10})
	format, ok := errors.AsType[*ordering.FormatError](err)
	if !ok || len(page) != 1 || page[0].Ref != readable.Ref || len(format.Unreadable) != 1 || format.Unreadable[0] != (ordering.Unreadable{Connection: "other", Found: `format "4"`}) {
		t.Errorf("List = %d records, %v; want that of main, and an error about the other connection", len(page), err)
	}
	found, err := w.of(t, "next").ForeignOrders(t.Context(), []string{"other", main})
	if !isFormat(err) || len(found) != 0 && found[0].Connection != main {
		t.Errorf("ForeignOrders = %v, %v", found, err)
	}
	if record, err := w.Record(t.Context(), []string{"other", main}, readable.Ref); err != nil || record.Ref != readable.Ref {
		t.Errorf("Record of the readable connection = %v, %v", record.Ref, err)
	}
	former, err := w.Former(t.Context(), []string{main})
	if err != nil || len(former) != 1 || former[0] != "other" {
		t.Errorf("Former = %q, %v; want the other connection", former, err)
	}
}

// docs/redis.md names the format of this version.
func TestDocumentedFormat_O20(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| `format` | the format of the records, `3` |", "A record is one text: `f3`,", "the `format` of `journal` is not `3`,"} {
		if want = strings.Replace(want, "3", ordering.RecordFormat, 1); !strings.Contains(string(text), want) {
			t.Errorf("docs/redis.md does not say %q", want)
		}
	}
}

// dump returns the dump of every key by name.
func dump(t *testing.T, w *env) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range w.names(t) {
		all[name] = w.client.Dump(t.Context(), "larder:"+name).Val()
	}
	return all
}

func wantSame(t *testing.T, w *env, before map[string]string) {
	t.Helper()
	after := dump(t, w)
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s was changed", name)
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			t.Errorf("%s was written", name)
		}
	}
}
