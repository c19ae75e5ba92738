package menu_test

import (
	"testing"

	"larder/internal/menu"
)

// published is a menu view as published.
func published(tb testing.TB, raw string) menu.Published {
	tb.Helper()
	_, p, err := menu.DecodePublished([]byte(raw))
	if err != nil {
		tb.Fatalf("DecodePublished(%s): %v", raw, err)
	}
	return p
}

// restored is the view of p with its stop lists.
func restored(tb testing.TB, p menu.Published) string {
	tb.Helper()
	view, err := p.AppendView(nil)
	if err != nil {
		tb.Fatalf("%s with %s: %v", p.Content, p.Stops, err)
	}
	return string(view)
}

func TestPublishedPartsTheStopListsFromTheContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, content, stops, view string }{
		"stop lists are cut out of dishes and ingredients alone": {
			`{"result": {"Products":[{"id":"a","isContainInStopList":["r1"],"price":"1.50"},{"Disabled":true,"id":"b","IS_LIST_STOPED":0}],
				"categories":[{"id":"c","disabled":true}],"ingredients":[{"isContainInStopList":null},{}], "disabled":false}}`,
			`{"categories":[{"disabled":true,"id":"c"}],"disabled":false,"ingredients":[{},{}],"Products":[{"id":"a","price":"1.50"},{"id":"b"}]}`,
			`{"values":[{"isContainInStopList":null},{},{"isContainInStopList":["r1"]},{"Disabled":true,"IS_LIST_STOPED":0}],"runs":[0,1,1,1,2,1,3,1]}`,
			`{"categories":[{"disabled":true,"id":"c"}],"disabled":false,"ingredients":[{"isContainInStopList":null},{}],` +
				`"Products":[{"id":"a","price":"1.50","isContainInStopList":["r1"]},{"id":"b","Disabled":true,"IS_LIST_STOPED":0}]}`,
		},
		"one value of many elements stands once": {
			`{"products":[{"disabled":false},{"disabled":false},7,[{"disabled":true}],{"disabled":true},{"disabled":false}]}`,
			`{"products":[{},{},7,[{"disabled":true}],{},{}]}`,
			`{"values":[{"disabled":false},{"disabled":true}],"runs":[0,2,1,1,0,1]}`,
			`{"products":[{"disabled":false},{"disabled":false},7,[{"disabled":true}],{"disabled":true},{"disabled":false}]}`,
		},
		"names that fold alike stay in their order": {
			`{"products":[{"b":1,"id":"1","ID":"2","a":2,"disabled":1,"Disabled":2,"id":"3"}]}`,
			`{"products":[{"a":2,"b":1,"id":"1","ID":"2","id":"3"}]}`,
			`{"values":[{"disabled":1,"Disabled":2}],"runs":[0,1]}`,
			`{"products":[{"a":2,"b":1,"id":"1","ID":"2","id":"3","disabled":1,"Disabled":2}]}`,
		},
		"numbers keep their digits and texts their characters": {
			`{"products":[],"n":[ 1.50, 1E+2, -0, 12345678901234567890.10 ],"t":["\u0053\u00fcp\/pe\b\u001f\"\\","\ud83d\ude00","\uD800x","\udc00\ud800","` + "\xff" + `"]}`,
			`{"n":[1.50,1E+2,-0,12345678901234567890.10],"products":[],"t":["Süp/pe\u0008\u001f\"\\","😀","\ud800x","\udc00\ud800","` + "\ufffd" + `"]}`,
			`{"values":[],"runs":[]}`,
			`{"n":[1.50,1E+2,-0,12345678901234567890.10],"products":[],"t":["Süp/pe\u0008\u001f\"\\","😀","\ud800x","\udc00\ud800","` + "\ufffd" + `"]}`,
		},
		"a view may have a result of its own": {
			"\ufeff" + `{"requestId":"q","result":{"result":{"products":[]},"ingredients":{"disabled":1}}}`,
			`{"ingredients":{"disabled":1},"result":{"products":[]}}`,
			`{"values":[],"runs":[]}`,
			`{"ingredients":{"disabled":1},"result":{"products":[]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := published(t, c.raw)
			if string(p.Content) != c.content {
				t.Errorf("content of %s:\n got %s\nwant %s", c.raw, p.Content, c.content)
			}
			if string(p.Stops) != c.stops {
				t.Errorf("stops of %s:\n got %s\nwant %s", c.raw, p.Stops, c.stops)
			}
			if got := restored(t, p); got != c.view {
				t.Errorf("view of %s:\n got %s\nwant %s", c.raw, got, c.view)
			}
		})
	}
}
