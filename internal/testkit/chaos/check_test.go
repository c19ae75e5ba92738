package chaos_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"larder.local/internal/testkit/chaos"
)

// good returns a history without violations: one order is placed, repeated, paid
// and completed; another one stays unknown; a third one is not placed.
func good() *chaos.History {
	body := func(key string) string { return `{"result":{"orderID":"` + key + `"}}` }
	return &chaos.History{
		Answers: []chaos.Answer{
			{Start: 10, End: 20, Operation: chaos.Create, Order: "a", Key: "a", Status: 201, OrderID: "1", Body: body("1")},
			{Start: 30, End: 40, Instance: 1, Operation: chaos.Create, Order: "a", Key: "a", Status: 201, OrderID: "1", Body: body("1")},
			{Start: 50, End: 60, Operation: chaos.Pay, Order: "a", Key: "a-pay", Error: "reset"},
			{Start: 61, End: 70, Operation: chaos.Pay, Order: "a", Key: "a-pay", Status: 200, Body: "paid"},
			{Start: 71, End: 80, Operation: chaos.Complete, Order: "a", Key: "a-complete", Status: 200, Body: "closed"},
			{Start: 10, End: 20, Operation: chaos.Create, Order: "b", Key: "b", Status: 504, Code: "order_outcome_unknown"},
			{Start: 10, End: 20, Operation: chaos.Create, Order: "c", Key: "c", Status: 503, Code: "journal_unavailable"},
			{Start: 900, End: 910, Operation: chaos.Create, Order: "a", Key: "a", Status: 201, OrderID: "1", Body: body("1"), Final: true},
			{Start: 900, End: 910, Operation: chaos.Create, Order: "b", Key: "b", Status: 504, Code: "order_outcome_unknown", Final: true},
		},
		Executed: []chaos.Executed{
			{OrderID: "1", Order: "a", State: "closed", Paid: true, Payments: 1},
			{OrderID: "2", Order: "b", State: "new"},
		},
		Arrivals: []chaos.Arrival{{At: 65, Operation: chaos.Pay, OrderID: "1"}},
		Records: []chaos.Record{
			{At: 920, Order: "a", Status: 200, State: "closed", OrderID: "1", Last: map[string]string{
				"create": "done", "pay": "done", "complete": "done",
			}},
			{At: 920, Order: "b", Status: 200, State: "unknown", Last: map[string]string{"create": "unknown"}, Listed: true},
		},
	}
}

func TestCheckAcceptsAGoodHistory(t *testing.T) {
	t.Parallel()
	broken, counts := chaos.Check(good())
	if len(broken) > 0 {
		t.Errorf("violations of a good history: %v", broken)
	}
	if want := (chaos.Counts{
		Keys:         5,
		Acknowledged: 3,
		NotAvailable: 1,
		Unknown:      1,
	}); counts != want {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
}

// answer adds an answer to a history.
func answer(a chaos.Answer) func(*chaos.History) {
	return func(h *chaos.History) { h.Answers = append(h.Answers, a) }
}

// record sets the status of larder's answer for an order.
func record(n, status int) func(*chaos.History) {
	return func(h *chaos.History) {
		h.Records[n] = chaos.Record{At: 920, Order: h.Records[n].Order, Status: status}
	}
}

func TestCheckRejectsBadHistories(t *testing.T) {
	t.Parallel()
	later := chaos.Answer{
		Start:     500,
		End:       510,
		Operation: chaos.Create,
		Order:     "a",
		Key:       "a",
	}
	with := func(change func(*chaos.Answer)) func(*chaos.History) {
		changed := later
		change(&changed)
		return answer(changed)
	}
	for name, tc := range map[string]struct {
		rule  string
		spoil func(*chaos.History)
	}{
		"an order twice at the service": {chaos.RuleOnce, func(h *chaos.History) {
			h.Executed = append(h.Executed, chaos.Executed{OrderID: "9", Order: "a"})
		}},
		"a payment sent again after it was executed": {chaos.RuleOnce, func(h *chaos.History) { h.Arrivals[0].Repeat = true }},
		"two payments acknowledged": {
			chaos.RuleOnce,
			answer(chaos.Answer{
				Start:     81,
				End:       82,
				Operation: chaos.Pay,
				Order:     "a",
				Key:       "a-again",
				Status:    200,
			}),
		},
		"completed and rejected": {
			chaos.RuleOnce,
			answer(chaos.Answer{
				Start:     81,
				End:       82,
				Operation: chaos.Reject,
				Order:     "a",
				Key:       "a-reject",
				Status:    200,
			}),
		},
		"acknowledged, not executed":            {chaos.RuleExecuted, func(h *chaos.History) { h.Executed = h.Executed[1:] }},
		"acknowledged as another order":         {chaos.RuleExecuted, func(h *chaos.History) { h.Executed[0].OrderID = "7" }},
		"payment acknowledged, not executed":    {chaos.RuleExecuted, func(h *chaos.History) { h.Executed[0].Paid = false }},
		"completion acknowledged, not executed": {chaos.RuleExecuted, func(h *chaos.History) { h.Executed[0].State = "new" }},
		"another body":                          {chaos.RuleSameAnswer, with(func(a *chaos.Answer) { a.Status, a.Body = 201, "other" })},
		"another status":                        {chaos.RuleSameAnswer, with(func(a *chaos.Answer) { a.Status, a.Body = 200, `{"result":{"orderID":"1"}}` })},
		"refused after acknowledged":            {chaos.RuleSameAnswer, with(func(a *chaos.Answer) { a.Status = 502 })},
		"not found after acknowledged":          {chaos.RuleSameAnswer, with(func(a *chaos.Answer) { a.Status = 404 })},
		"record of another order":               {chaos.RuleSameAnswer, func(h *chaos.History) { h.Records[0].OrderID = "7" }},
		"record without the payment":            {chaos.RuleSameAnswer, func(h *chaos.History) { h.Records[0].Last["pay"] = "not_sent" }},
		"unknown after acknowledged":            {chaos.RuleNotUnknown, with(func(a *chaos.Answer) { a.Status = 504 })},
		"record unknown":                        {chaos.RuleNotUnknown, func(h *chaos.History) { h.Records[0].Last["create"] = "unknown" }},
		"no record":                             {chaos.RuleNotForgotten, record(0, 404)},
		"unknown and not listed":                {chaos.RuleListed, func(h *chaos.History) { h.Records[1].Listed = false }},
		"unknown without a record":              {chaos.RuleListed, record(1, 404)},
		"503 and executed all the same": {chaos.RuleNotPlaced, func(h *chaos.History) {
			h.Executed = append(h.Executed, chaos.Executed{OrderID: "3", Order: "c"})
		}},
		"503 and rejected all the same": {chaos.RuleNotPlaced, func(h *chaos.History) {
			answer(chaos.Answer{
				Start:     30,
				End:       31,
				Operation: chaos.Reject,
				Order:     "b",
				Key:       "b-reject",
				Status:    503,
			})(h)
			h.Executed[1].State = "rejected"
		}},
		"paused without a loss": {chaos.RulePause, with(func(a *chaos.Answer) { a.Status, a.Code = 503, "journal_restored" })},
		"paused before the loss": {chaos.RulePause, func(h *chaos.History) {
			h.Faults = append(h.Faults, chaos.Fault{Start: 700, End: 700, Kind: chaos.Flushed})
			with(func(a *chaos.Answer) { a.Status, a.Code = 503, "journal_restored" })(h)
		}},
		"acknowledged, 503 in the end": {chaos.RuleRecovers, func(h *chaos.History) {
			with(func(a *chaos.Answer) { a.Start, a.End, a.Status, a.Final = 920, 930, 503, true })(h)
		}},
		"no answer in the end": {
			chaos.RuleRecovers,
			answer(chaos.Answer{
				Start:     920,
				End:       930,
				Operation: chaos.Create,
				Order:     "d",
				Key:       "d",
				Final:     true,
			}),
		},
		"twice after a loss of data": {chaos.RuleOnce, func(h *chaos.History) {
			h.Faults = append(h.Faults, chaos.Fault{Start: 5, End: 5, Kind: chaos.BackupRestored})
			h.Executed = append(h.Executed, chaos.Executed{OrderID: "9", Order: "a"})
		}},
		"unknown while the instance lives": {chaos.RuleNotUnknown, func(h *chaos.History) {
			h.Faults = append(h.Faults, chaos.Fault{Start: 100, End: 200, Kind: chaos.MasterKilled})
			h.Faults = append(h.Faults, chaos.Fault{
				Start:  100,
				End:    200,
				Kind:   chaos.LarderKilled,
				Target: 2,
			})
			with(func(a *chaos.Answer) { a.Status = 504 })(h)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good()
			tc.spoil(h)
			broken, _ := chaos.Check(h)
			if !slices.ContainsFunc(broken, func(v chaos.Violation) bool { return v.Rule == tc.rule }) {
				t.Errorf("violations %v, want one of %q", broken, tc.rule)
			}
		})
	}
}

// What the policies allow is not a violation.
func TestCheckAllows(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*chaos.History){
		"503 and 409 between two answers": func(h *chaos.History) {
			answer(chaos.Answer{
				Start:     25,
				End:       26,
				Operation: chaos.Create,
				Order:     "a",
				Key:       "a",
				Status:    503,
			})(h)
			answer(chaos.Answer{
				Start:     27,
				End:       28,
				Operation: chaos.Create,
				Order:     "a",
				Key:       "a",
				Status:    409,
			})(h)
		},
		"unknown when the instance was killed and a replica took over": func(h *chaos.History) {
			h.Faults = append(h.Faults, chaos.Fault{Start: 100, End: 200, Kind: chaos.MasterKilled})
			h.Faults = append(h.Faults, chaos.Fault{Start: 100, End: 200, Kind: chaos.LarderKilled})
			answer(chaos.Answer{
				Start:     500,
				End:       510,
				Operation: chaos.Create,
				Order:     "a",
				Key:       "a",
				Status:    504,
			})(h)
		},
		"forgotten and paused after a loss of data": func(h *chaos.History) {
			h.Faults = append(h.Faults, chaos.Fault{Start: 300, End: 300, Kind: chaos.Flushed})
			h.Records[0] = chaos.Record{At: 920, Order: "a", Status: 404}
			answer(chaos.Answer{
				Start:     500,
				End:       510,
				Operation: chaos.Create,
				Order:     "a",
				Key:       "a",
				Status:    503,
				Code:      "journal_restored",
			})(h)
		},
		"resolved": func(h *chaos.History) {
			h.Records[1] = chaos.Record{
				Order:  "b",
				Status: 200,
				State:  "placed",
				Last:   map[string]string{"create": "done"},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good()
			change(h)
			if broken, _ := chaos.Check(h); len(broken) > 0 {
				t.Errorf("violations: %v", broken)
			}
		})
	}
}

// A written history is equal after it is read.
func TestHistoryIsReadAgain(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	h := good()
	encoder := json.NewEncoder(&lines)
	for _, a := range h.Answers {
		_ = encoder.Encode(map[string]any{"answer": a})
	}
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := chaos.ReadHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Answers, h.Answers) {
		t.Errorf("read %+v, want %+v", got.Answers, h.Answers)
	}
}

func TestAPlanComesFromItsSeed(t *testing.T) {
	t.Parallel()
	for _, form := range []string{chaos.Single, chaos.Sentinel, chaos.Cluster} {
		plan := chaos.NewPlan(form, 7, 30e9, true)
		if !reflect.DeepEqual(plan, chaos.NewPlan(form, 7, 30e9, true)) {
			t.Errorf("%s: one seed makes two plans", form)
		}
		if reflect.DeepEqual(plan, chaos.NewPlan(form, 8, 30e9, true)) {
			t.Errorf("%s: two seeds make one plan", form)
		}
		for _, step := range plan {
			if step.At+step.For > 30e9 {
				t.Errorf("%s: %+v ends after the run", form, step)
			}
		}
	}
}
