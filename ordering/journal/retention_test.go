package journal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

const (
	day  = 24 * time.Hour
	gone = -1 // the key does not exist
	ever = 0  // the key does not expire
)

// TestRetention_O13 checks the expiry of each key at every step of an order (policies O7 and O13).
func TestRetention_O13(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(s *steps)
	}{
		{"a placed order with a payment that is unknown for some time", func(s *steps) {
			o := create()
			r := begun(s.t, s.env, o)
			s.want("begun", map[string]time.Duration{"order:" + r.Ref: ever, "guest:" + r.Ref + ":1": ever, "key:" + o.Key: ever})
			r = ended(s.t, s.env, r, ordering.OutcomeDone, "765")
			s.want("placed, expected in ten days", map[string]time.Duration{
				"order:" + r.Ref: 55 * day, "guest:" + r.Ref + ":1": 7 * day, "key:" + o.Key: day, "id:765": 55 * day,
			})
			p := pay("765")
			r = begun(s.t, s.env, p)
			s.want("payment open", map[string]time.Duration{
				"order:" + r.Ref: ever, "id:765": ever, "guest:" + r.Ref + ":1": 7 * day, "key:" + o.Key: day,
				"guest:" + r.Ref + ":2": ever, "key:" + p.Key: ever,
			})
			r = ended(s.t, s.env, r, ordering.OutcomeUnknown, "")
			s.want("payment unknown", map[string]time.Duration{
				"order:" + r.Ref: ever, "id:765": ever, "guest:" + r.Ref + ":1": ever, "key:" + o.Key: day,
				"guest:" + r.Ref + ":2": ever, "key:" + p.Key: ever,
			})
			s.resolve(r, upstream.OpPay, ordering.ResolvedDone)
			s.want("resolved", map[string]time.Duration{
				"order:" + r.Ref: 55 * day, "id:765": 55 * day, "guest:" + r.Ref + ":1": 7 * day, "key:" + o.Key: day,
				"guest:" + r.Ref + ":2": 7 * day, "key:" + p.Key: day,
			})
		}},
		{"an order that is not sent frees its key", func(s *steps) {
			o := create(func(o *ordering.CallSpec) { o.ExpectedAt = time.Time{} })
			r := ended(s.t, s.env, begun(s.t, s.env, o), ordering.OutcomeNotSent, "")
			s.want("not sent", map[string]time.Duration{
				"order:" + r.Ref: 45 * day, "guest:" + r.Ref + ":1": 7 * day, "key:" + o.Key: gone,
			})
		}},
		{"a refusal keeps the client's own key, and frees a derived one", func(s *steps) {
			own, derived := create(), create(func(o *ordering.CallSpec) { o.Derived = true })
			ended(s.t, s.env, begun(s.t, s.env, own), ordering.OutcomeRefused, "")
			ended(s.t, s.env, begun(s.t, s.env, derived), ordering.OutcomeRefused, "")
			s.want("refused", map[string]time.Duration{
				"order:" + own.Ref: 55 * day, "guest:" + own.Ref + ":1": 7 * day, "key:" + own.Key: day,
				"order:" + derived.Ref: 55 * day, "guest:" + derived.Ref + ":1": 7 * day, "key:" + derived.Key: gone,
			})
		}},
		{"an order sent again has its key with the new call", func(s *steps) {
			o := create()
			r := ended(s.t, s.env, begun(s.t, s.env, o), ordering.OutcomeUnknown, "")
			s.resolve(r, upstream.OpCreate, ordering.ResolvedRetry)
			s.want("sent again", map[string]time.Duration{
				"order:" + r.Ref: ever, "guest:" + r.Ref + ":1": 7 * day, "guest:" + r.Ref + ":2": ever, "key:" + o.Key: ever,
			})
		}},
		{"a lost payment with an unknown outcome", func(s *steps) {
			o, p := create(), pay("765")
			r := ended(s.t, s.env, begun(s.t, s.env, o), ordering.OutcomeDone, "765")
			r.Calls = append(r.Calls, ordering.Call{
				Number: 2, SpecID: p.ID, Operation: p.Operation, Key: p.Key, Outcome: ordering.OutcomeUnknown, StartedAt: r.UpdatedAt, EndedAt: r.UpdatedAt,
			})
			if _, _, err := s.env.Recreate(s.t.Context(), r, 2, p.Body); err != nil {
				s.t.Fatalf("Recreate: %v", err)
			}
			s.want("written again", map[string]time.Duration{
				"order:" + r.Ref: ever, "id:765": ever, "guest:" + r.Ref + ":1": ever, "key:" + o.Key: day,
				"guest:" + r.Ref + ":2": ever, "key:" + p.Key: ever,
			})
			if n := s.env.client.ZCard(s.t.Context(), "larder:{o:main}:f1:expiry").Val(); n != 0 {
				s.t.Errorf("%d records are in the list of those that expire, want none", n)
			}
		}},
		{"an adopted order", func(s *steps) {
			p := pay("999")
			p.Adopt = true
			r := begun(s.t, s.env, p)
			s.want("begun", map[string]time.Duration{
				"order:" + r.Ref: ever, "id:999": ever, "guest:" + r.Ref + ":1": ever, "key:" + p.Key: ever,
			})
			ended(s.t, s.env, r, ordering.OutcomeDone, "")
			s.want("paid", map[string]time.Duration{
				"order:" + r.Ref: 45 * day, "id:999": 45 * day, "guest:" + r.Ref + ":1": 7 * day, "key:" + p.Key: day,
			})
		}},
		{"a Begin that arrives after its Abort", func(s *steps) {
			o := create()
			if err := s.env.Abort(s.t.Context(), o); err != nil {
				s.t.Fatalf("Abort: %v", err)
			}
			s.want("aborted", map[string]time.Duration{"aborted:" + o.ID: time.Hour})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&steps{t: t, env: start(t, nil)})
		})
	}
}

type steps struct {
	t   *testing.T
	env *env
}

func (s *steps) resolve(r ordering.Record, op ordering.Operation, how ordering.Resolution) {
	s.t.Helper()
	_, err := s.env.Resolve(s.t.Context(), ordering.ResolveCall{
		Connection: main,
		Ref:        r.Ref,
		Operation:  op,
		Resolution: how,
		By:         "ops",
		Deadline:   time.Hour,
	})
	if err != nil {
		s.t.Fatalf("Resolve(%s): %v", how, err)
	}
}

// want checks the expiry of all keys except the lists, which do not expire.
func (s *steps) want(when string, retention map[string]time.Duration) {
	s.t.Helper()
	got := map[string]time.Duration{}
	for _, name := range s.env.names(s.t) {
		life, err := s.env.client.PTTL(s.t.Context(), "larder:"+name).Result()
		if err != nil {
			s.t.Fatalf("PTTL %s: %v", name, err)
		}
		got[strings.TrimPrefix(name, "{o:main}:f1:")] = max(life, ever) // negative: no expiry
	}
	for name, want := range retention {
		life, there := got[name]
		delete(got, name)
		switch {
		case want == gone && there:
			s.t.Errorf("%s: the TTL of %s is %s, want no key", when, name, life)
		case want != gone && !there:
			s.t.Errorf("%s: %s does not exist", when, name)
		case want != gone && (want-life).Abs() > time.Minute:
			s.t.Errorf("%s: the TTL of %s is %s, want %s", when, name, life, want)
		}
	}
	for name, life := range got {
		list := !strings.Contains(name, ":") || strings.HasPrefix(name, "in:")
		if !list || life != ever {
			s.t.Errorf("%s: %s has the TTL %s, want only lists, without expiry", when, name, life)
		}
	}
}

// Guest data expires in Redis, while the record stays.
func TestGuestDataExpires_O13(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *ordering.Config) { c.KeyTTL, c.CustomerDataTTL = time.Second, time.Second })
	r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	holds := func() bool {
		for _, name := range w.names(t) {
			if dump, _ := w.client.Dump(t.Context(), "larder:"+name).Bytes(); bytes.Contains(dump, []byte(phone)) {
				return true
			}
		}
		return false
	}
	if body, err := w.Body(t.Context(), main, r.Ref, 1); err != nil || !bytes.Contains(body, []byte(phone)) || !holds() {
		t.Fatalf("Body = %q, %v, phone in Redis: %t; want all of it", body, err, holds())
	}
	eventually(t, "no key contains the phone", func() bool { return !holds() })

	got, err := w.Record(t.Context(), []string{main}, r.Ref)
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	if a := got.Calls[0].Answer; a == nil || a.Status != 201 || a.Body != nil || a.ContentType != "" {
		t.Errorf("the response is %+v, want only its status", a)
	}
	if _, err := w.Body(t.Context(), main, r.Ref, 1); err == nil {
		t.Error("Body still returns the body")
	}
}

// After records have expired, their entries are removed from the lists.
func TestListsDropExpiredRecords(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *ordering.Config) {
		c.KeyTTL, c.CustomerDataTTL, c.RecordTTL = time.Second, time.Second, time.Second
	})
	soon := func(o *ordering.CallSpec) { o.ExpectedAt = time.Time{} }
	for _, outcome := range []ordering.Outcome{ordering.OutcomeRefused, ordering.OutcomeNotSent} {
		ended(t, w, begun(t, w, create(soon)), outcome, "")
	}
	ended(t, w, begun(t, w, create(soon)), ordering.OutcomeDone, "765")
	stays := ended(t, w, begun(t, w, create(soon)), ordering.OutcomeUnknown, "")

	eventually(t, "only the unknown order is left", func() bool {
		if _, err := w.Sweep(t.Context(), main); err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		return w.client.ZCard(t.Context(), "larder:{o:main}:f1:orders").Val() == 1
	})
	page, next, err := w.List(t.Context(), ordering.Query{Connections: []string{main}, Limit: 10})
	if err != nil || len(page) != 1 || page[0].Ref != stays.Ref || next != "" {
		t.Errorf("List = %d records, %q, %v; want only the unknown one", len(page), next, err)
	}
	for _, list := range []string{"expiry", "open", "in:placed", "in:refused", "in:not_sent", "in:placing"} {
		if n := w.client.ZCard(t.Context(), "larder:{o:main}:f1:"+list).Val(); n != 0 {
			t.Errorf("%s has %d members, want none", list, n)
		}
	}
}

// An entry of the expiry list is kept if its record still exists, as after a change of record_ttl.
func TestSweepPostponesExistingRecords(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	r := ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	const expiry = "larder:{o:main}:f1:expiry"
	member := w.client.ZRange(t.Context(), expiry, 0, 0).Val()[0]
	for what, life := range map[string]time.Duration{"with the record's expiry": 55 * day, "in a minute": time.Minute} {
		if err := w.client.Do(t.Context(), "ZADD", expiry, 1, member).Err(); err != nil {
			t.Fatal(err)
		}
		if life == time.Minute { // the expiry was removed
			w.client.Persist(t.Context(), "larder:{o:main}:f1:order:"+r.Ref)
		} else {
			w.client.PExpire(t.Context(), "larder:{o:main}:f1:order:"+r.Ref, life)
		}
		if _, err := w.Sweep(t.Context(), main); err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		at := time.UnixMilli(int64(w.client.ZScore(t.Context(), expiry, member).Val()))
		if late := time.Until(at) - life; late.Abs() > 20*time.Second {
			t.Errorf("the next sweep is in %s, want it %s", time.Until(at), what)
		}
	}
	page, _, err := w.List(t.Context(), ordering.Query{Connections: []string{main}, Limit: 10})
	if err != nil || len(page) != 1 {
		t.Errorf("List = %d records, %v; want one", len(page), err)
	}
}

// All keys of a connection have its hash tag, and there are no other keys (policy O14).
func TestKeysOfAConnectionShareOneSlot(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	if _, err := w.Secret(t.Context(), main); err != nil {
		t.Fatalf("secret: %v", err)
	}
	for _, connection := range []string{main, "other"} {
		ended(t, w, begun(t, w, create(on(connection))), ordering.OutcomeDone, "765")
		r := ended(t, w, begun(t, w, create(on(connection))), ordering.OutcomeUnknown, "")
		begun(t, w, create(on(connection), overdue))
		if moved, err := w.Sweep(t.Context(), connection); err != nil || len(moved) != 1 {
			t.Fatalf("Sweep = %d records, %v; want 1", len(moved), err)
		}
		if err := w.Abort(t.Context(), create(on(connection))); err != nil {
			t.Fatalf("Abort of %s: %v", r.Ref, err)
		}
	}
	for _, name := range w.names(t) {
		if !strings.HasPrefix(name, "{o:main}:f1:") && !strings.HasPrefix(name, "{o:other}:f1:") && name != "f1:journal-secret" {
			t.Errorf("key %s does not have the hash tag of a connection", name)
		}
	}
}
