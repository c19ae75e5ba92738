package ordering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// A call without a certain outcome is logged with its details. A certain refusal is not
// logged.
func TestCallLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		answer  error
		want    bool
		outcome ordering.Outcome
		cause   string // may be empty
		status  int
		hint    string
	}{
		{"a lost response", lostAnswer(), true, ordering.OutcomeUnknown, "connection reset", 0, ""},
		{"not reached", notSent(), true, ordering.OutcomeNotSent, "connection refused", 0, ""},
		{"a response without a cause", &upstream.Error{Status: 500, Effect: upstream.EffectUnknown}, true, ordering.OutcomeUnknown, "", 500, ""},
		{
			"an error with a code", &upstream.Error{Status: 500, Code: "POS_STOP", Msg: "Anna", Effect: upstream.EffectUnknown},
			true, ordering.OutcomeUnknown, "", 500, `if this code always means that the service refused, add connections[].refusal_codes: ["POS_STOP"]`,
		},
		{"a code that repeats the request", &upstream.Error{Status: 500, Code: "Anna, +79051234567", Effect: upstream.EffectUnknown}, true, ordering.OutcomeUnknown, "", 500, ""},
		{"an error that speaks of time", &upstream.Error{Status: 500, Code: "POS_STOP", Msg: "timed out", Effect: upstream.EffectUnknown}, true, ordering.OutcomeUnknown, "", 500, ""},
		{"a gateway's error", &upstream.Error{Status: 504, Code: "POS_STOP", Effect: upstream.EffectUnknown}, true, ordering.OutcomeUnknown, "", 504, ""},
		{"a certain refusal", certainRefusal(t), false, "", "", 0, ""},
	} {
		h := newHarness(t, ordering.DefaultConfig())
		h.service.fails(tc.answer)
		if _, err := h.Place(t.Context(), placing()); err != nil {
			t.Fatalf("%s: Place(): %v", tc.name, err)
		}
		var lines []*logrus.Entry
		for _, entry := range h.log.AllEntries() {
			if entry.Data["event"] == "order.call_failed" {
				lines = append(lines, entry)
			}
		}
		if !tc.want {
			if len(lines) != 0 {
				t.Errorf("%s: logged %v", tc.name, lines[0].Data)
			}
			continue
		}
		if len(lines) != 1 {
			t.Errorf("%s: %d lines, want 1", tc.name, len(lines))
			continue
		}
		line := lines[0].Data
		cause, has := line[logrus.ErrorKey].(error)
		if line["outcome"] != string(tc.outcome) && line["outcome"] != tc.outcome {
			t.Errorf("%s: outcome %v, want %s", tc.name, line["outcome"], tc.outcome)
		}
		if has != (tc.cause != "") || has && cause.Error() != tc.cause {
			t.Errorf("%s: cause %v, want %q", tc.name, line[logrus.ErrorKey], tc.cause)
		}
		if line["status"] != tc.status {
			t.Errorf("%s: status %v, want %d", tc.name, line["status"], tc.status)
		}
		if hint, _ := line["hint"].(string); hint != tc.hint || strings.Contains(fmt.Sprint(lines[0].Message, line), "Anna") {
			t.Errorf("%s: logged %v; want the hint %q, and no message of the service", tc.name, line, tc.hint)
		}
	}
}
