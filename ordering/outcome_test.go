package ordering_test

import (
	"testing"

	"larder.local/ordering"
)

// Exactly three outcomes are certain.
func TestCertainOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[ordering.Outcome]bool{
		ordering.OutcomeDone: true, ordering.OutcomeRefused: true, ordering.OutcomeNotSent: true,
		ordering.OutcomeUnknown: false, ordering.OutcomeOpen: false,
	} {
		if got := outcome.Certain(); got != want {
			t.Errorf("%q.Certain() = %t, want %t", outcome, got, want)
		}
	}
}
