package violation_test

import (
	"strings"
	"testing"

	"larder.local/ordering/violation"
)

// A violation has the given params. They are never null in JSON.
func TestNew(t *testing.T) {
	t.Parallel()
	given := violation.New("/a", violation.FieldRequired, violation.Params{"field": "a"}, "en")
	if given.Params["field"] != "a" || given.Msg == "" || given.Path != "/a" || given.Code != violation.FieldRequired {
		t.Errorf("New() = %+v", given)
	}
	if none := violation.New("", violation.DecimalComma, nil, "en"); none.Params == nil || len(none.Params) != 0 {
		t.Errorf("without params: %+v, want an empty object", none.Params)
	}
}

// TestLimitSubjects checks that the subject of a limit is translated.
func TestLimitSubjects(t *testing.T) {
	t.Parallel()
	limit := violation.Params{"limit": 5}
	for language, want := range map[string]string{"en": violation.LimitOfSteps, "ru": "шагов, чтобы распределить"} {
		got := violation.NewAbout(violation.LimitOfSteps+"Pizza", "/dishList/0", violation.LimitExceeded, limit, language)
		if !strings.Contains(got.Msg, want) || !strings.Contains(got.Msg, "Pizza") {
			t.Errorf("%s: %q lacks %q or the dish", language, got.Msg, want)
		}
	}
	for language, want := range map[string]string{"en": violation.LimitOfWork + ": at most 5", "ru": "Шагов, чтобы проверить заказ: не больше 5"} {
		got := violation.NewAbout(violation.LimitOfWork, "/dishList/0", violation.LimitExceeded, limit, language)
		if got.Msg != want {
			t.Errorf("%s: %q, want %q", language, got.Msg, want)
		}
	}
}
