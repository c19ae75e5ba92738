package ordering_test

import (
	"testing"

	"larder/ordering"
)

// TestNewViolation: its params are those given, and never null in JSON.
func TestNewViolation(t *testing.T) {
	t.Parallel()
	given := ordering.NewViolation("/a", ordering.FieldRequired, ordering.Params{"field": "a"}, "en")
	if given.Params["field"] != "a" || given.Msg == "" || given.Path != "/a" || given.Code != ordering.FieldRequired {
		t.Errorf("NewViolation() = %+v", given)
	}
	if none := ordering.NewViolation("", ordering.DecimalComma, nil, "en"); none.Params == nil || len(none.Params) != 0 {
		t.Errorf("without params: %+v, want an empty object", none.Params)
	}
}
