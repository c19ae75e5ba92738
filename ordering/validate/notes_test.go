package validate

import (
	"slices"
	"strings"
	"testing"

	"larder.local/ordering/violation"
)

// TestNotes checks that violations are listed in the order of the body, with the JSON Pointers of their values (RFC 6901),
// and that none is kept above the limit.
func TestNotes(t *testing.T) {
	t.Parallel()
	const body = ` {"dishList":[7,{"price":1,"a/b~c":null,"quantity":2}],"comment":"x"}`
	pos := func(text string) int32 { return int32(strings.Index(body, text)) }
	list := notes{text: body, language: "en", limit: 8}
	end := pos(`],"comment"`)
	list.missing(atMember(int32(len(body)), "guest/phone"), "guest.phone")
	list.missing(at(pos(`"x"`)), "comment")
	list.missing(atMember(end, "ID"), "dishList[].ID")
	list.add(at(pos(`2}`)), violation.DecimalComma, nil, "")
	list.add(at(pos(`1,"a/b`)), violation.DecimalComma, nil, "")
	list.add(at(pos(`null`)), violation.DecimalComma, nil, "")
	list.add(at(pos(`7,`)), violation.DecimalComma, nil, "")
	list.add(place{pos: pos(`2}`), value: pos(`{"price"`), member: "/Quantity"}, violation.DecimalComma, nil, "")
	list.add(at(1), violation.DecimalComma, nil, "")
	got, more := list.Violations()
	paths := make([]string, len(got))
	for i, v := range got {
		paths[i] = v.Path
		if v.Msg == "" || v.Params == nil {
			t.Errorf("%s: message %q, params %v", v.Path, v.Msg, v.Params)
		}
	}
	want := []string{
		"/dishList/0", "/dishList/1/price", "/dishList/1/a~1b~0c", "/dishList/1/quantity", "/dishList/1/Quantity", "/dishList/1/ID",
		"/comment", "/guest/phone",
	}
	if !slices.Equal(paths, want) || more {
		t.Errorf("listed %v, %v, want %v and no more", paths, more, want)
	}
	if none, more := new(notes).Violations(); none != nil || more {
		t.Errorf("without violations: %v, %v", none, more)
	}
}

// TestNotesAreCutAtMax checks that a response has at most violation.Max violations, and that it says so.
func TestNotesAreCutAtMax(t *testing.T) {
	t.Parallel()
	list := notes{text: "[" + strings.Repeat("7,", violation.Max) + "7]"}
	for i := range violation.Max + 1 {
		list.add(at(int32(1+2*(violation.Max-i))), violation.DecimalComma, nil, "")
	}
	if got, more := list.Violations(); len(got) != violation.Max || !more || got[0].Path != "/0" {
		t.Errorf("%d violations, more %v, the first is %s", len(got), more, got[0].Path)
	}
}
