package violation_test

import (
	"testing"

	"larder/ordering/violation"
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
