package violation_test

import (
	"fmt"
	"slices"
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

// TestList checks that a list is in the order of the body, and that its copy and its limit are independent of what is
// added later.
func TestList(t *testing.T) {
	t.Parallel()
	list := violation.List{Language: "en", Limit: 4}
	list.Add(30, "/comment", violation.FieldRequired, violation.Params{"field": "comment"}, "")
	copied := list.Clone()
	list.Add(20, "/dishList/0/quantity", violation.DecimalComma, nil, "")
	list.Add(10, "/dishList/0/price", violation.DecimalComma, nil, "")
	list.Add(40, "/last", violation.DecimalComma, nil, "")
	list.Add(5, "/above-the-limit", violation.DecimalComma, nil, "")
	got, more := list.Sorted()
	paths := make([]string, len(got))
	for i, v := range got {
		paths[i] = v.Path
		if v.Msg == "" || v.Params == nil {
			t.Errorf("%s: message %q, params %v", v.Path, v.Msg, v.Params)
		}
	}
	if want := []string{"/dishList/0/price", "/dishList/0/quantity", "/comment", "/last"}; !slices.Equal(paths, want) || more {
		t.Errorf("Sorted() = %v, %v, want %v and no more", paths, more, want)
	}
	if alone, _ := copied.Sorted(); len(alone) != 1 || alone[0].Path != "/comment" {
		t.Errorf("the copy is %v", alone)
	}
	if copied.Truncate(0); copied.Len() != 0 {
		t.Errorf("%d violations after Truncate(0)", copied.Len())
	}
	if none, more := copied.Sorted(); none != nil || more {
		t.Errorf("an empty list is %v, %v", none, more)
	}
}

// TestListIsCutAtMax checks that a response has at most Max violations, and that it says so.
func TestListIsCutAtMax(t *testing.T) {
	t.Parallel()
	var list violation.List
	for i := range violation.Max + 1 {
		list.Add(int32(violation.Max-i), fmt.Sprintf("/%d", violation.Max-i), violation.DecimalComma, nil, "")
	}
	if got, more := list.Sorted(); len(got) != violation.Max || !more || got[0].Path != "/0" {
		t.Errorf("%d violations, more %v, the first is %s", len(got), more, got[0].Path)
	}
}

// TestLimitSubjects checks that the subject of a limit is translated.
func TestLimitSubjects(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"en": violation.LimitOfSteps, "ru": "шагов, чтобы распределить"} {
		list := violation.List{Language: language}
		list.Add(1, "/dishList/0", violation.LimitExceeded, violation.Params{"limit": 5}, violation.LimitOfSteps+"Pizza")
		if got, _ := list.Sorted(); !strings.Contains(got[0].Msg, want) || !strings.Contains(got[0].Msg, "Pizza") {
			t.Errorf("%s: %q lacks %q or the dish", language, got[0].Msg, want)
		}
	}
	for language, want := range map[string]string{"en": violation.LimitOfWork + ": at most 5", "ru": "Шагов, чтобы проверить заказ: не больше 5"} {
		list := violation.List{Language: language}
		list.Add(1, "/dishList/0", violation.LimitExceeded, violation.Params{"limit": 5}, violation.LimitOfWork)
		if got, _ := list.Sorted(); got[0].Msg != want {
			t.Errorf("%s: %q, want %q", language, got[0].Msg, want)
		}
	}
}
