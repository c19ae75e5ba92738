package menu_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/viewtest"
)

// published returns a published menu view.
func published(tb testing.TB, raw string) menu.Published {
	tb.Helper()
	_, p, err := menu.DecodePublished([]byte(raw))
	if err != nil {
		tb.Fatalf("DecodePublished(%s): %v", raw, err)
	}
	return p
}

// restored returns the view of p with its stop lists.
func restored(tb testing.TB, p menu.Published) string {
	tb.Helper()
	view, err := p.AppendView(nil)
	if err != nil {
		tb.Fatalf("%s with %s: %v", p.Content, p.Stops, err)
	}
	return string(view)
}

func TestPublishedSeparatesStopListsAndContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, content, stops, view string }{
		"stop lists are removed only from dishes and ingredients": {
			`{"result": {"Products":[{"id":"a","isContainInStopList":["r1"],"price":"1.50"},{"Disabled":true,"id":"b","IS_LIST_STOPED":0}],
				"categories":[{"id":"c","disabled":true}],"ingredients":[{"isContainInStopList":null},{}], "disabled":false}}`,
			`{"categories":[{"disabled":true,"id":"c"}],"disabled":false,"ingredients":[{},{}],"Products":[{"id":"a","price":"1.50"},{"id":"b"}]}`,
			`{"values":["{\"isContainInStopList\":null}","{}","{\"isContainInStopList\":[\"r1\"]}","{\"Disabled\":true,\"IS_LIST_STOPED\":0}"],"of":[0,1,2,3]}`,
			`{"categories":[{"disabled":true,"id":"c"}],"disabled":false,"ingredients":[{"isContainInStopList":null},{}],` +
				`"Products":[{"id":"a","price":"1.50","isContainInStopList":["r1"]},{"id":"b","Disabled":true,"IS_LIST_STOPED":0}]}`,
		},
		"one value of many elements is stored once": {
			`{"products":[{"disabled":false},{"disabled":false},7,[{"disabled":true}],{"disabled":true},{"disabled":false}]}`,
			`{"products":[{},{},7,[{"disabled":true}],{},{}]}`,
			`{"values":["{\"disabled\":false}","{\"disabled\":true}"],"of":[0,0,1,0]}`,
			`{"products":[{"disabled":false},{"disabled":false},7,[{"disabled":true}],{"disabled":true},{"disabled":false}]}`,
		},
		"equal names in different case keep their order": {
			`{"products":[{"b":1,"id":"1","ID":"2","a":2,"disabled":1,"Disabled":2,"id":"3"}]}`,
			`{"products":[{"a":2,"b":1,"id":"1","ID":"2","id":"3"}]}`,
			`{"values":["{\"disabled\":1,\"Disabled\":2}"],"of":[0]}`,
			`{"products":[{"a":2,"b":1,"id":"1","ID":"2","id":"3","disabled":1,"Disabled":2}]}`,
		},
		"numbers keep their digits and strings their characters": {
			`{"products":[],"n":[ 1.50, 1E+2, -0, 12345678901234567890.10 ],"t":["\u0053\u00fcp\/pe\b\u001f\"\\","\ud83d\ude00","\uD800x","\udc00\ud800","` + "\xff" + `"]}`,
			`{"n":[1.50,1E+2,-0,12345678901234567890.10],"products":[],"t":["Süp/pe\u0008\u001f\"\\","😀","\ud800x","\udc00\ud800","` + "\ufffd" + `"]}`,
			`{"values":null,"of":null}`,
			`{"n":[1.50,1E+2,-0,12345678901234567890.10],"products":[],"t":["Süp/pe\u0008\u001f\"\\","😀","\ud800x","\udc00\ud800","` + "\ufffd" + `"]}`,
		},
		"a view may have a field named result": {
			"\ufeff" + `{"requestId":"q","result":{"result":{"products":[]},"ingredients":{"disabled":1}}}`,
			`{"ingredients":{"disabled":1},"result":{"products":[]}}`,
			`{"values":null,"of":null}`,
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

// sameValue fails unless two JSON texts have the same value, digit for digit.
func sameValue(tb interface {
	Helper()
	Fatalf(format string, args ...any)
}, what string, want viewtest.Node, got []byte,
) {
	tb.Helper()
	node, err := viewtest.Parse(got)
	if err != nil {
		tb.Fatalf("%s is not JSON: %v: %s", what, err, got)
	}
	if diff := cmp.Diff(want.Meaning(), node.Meaning()); diff != "" {
		tb.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func TestPublishedViewsAreRestored(t *testing.T) {
	t.Parallel()
	bistro, err := viewtest.Parse(sandbox.Generate{Restaurants: 1, Products: 5, Seed: 3}.Menu(0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range bistro.Members {
		if bistro.Members[i].Name == "result" {
			bistro = bistro.Members[i].Value
			break
		}
	}
	for name, views := range map[string]*rapid.Generator[viewtest.Node]{
		"generated": viewtest.Views(), "mutated": viewtest.Mutated(bistro),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				view := views.Draw(t, "view")
				seed := rapid.Uint64().Draw(t, "seed")
				raw := answer(view, seed)
				decoded, p, err := menu.DecodePublished(raw)
				if shape := (*menu.ShapeError)(nil); errors.As(err, &shape) {
					t.Skip("a mutation removed all lists")
				} else if err != nil {
					t.Fatalf("DecodePublished(%s): %v", raw, err)
				}
				back, err := p.AppendView(nil)
				if err != nil {
					t.Fatalf("AppendView: %v of %s", err, raw)
				}
				sameValue(t, "the view with its stop lists", view, back)

				_, again, err := menu.DecodePublished(answer(view, seed+1))
				if diff := differing(p, again); err != nil || diff != "" {
					t.Fatalf("decoded from another spelling (%v):\n%s", err, diff)
				}
				_, again, err = menu.DecodePublished(append([]byte(`{"result":`), append(back, '}')...))
				if diff := differing(p, again); err != nil || diff != "" {
					t.Fatalf("the served view, decoded again (%v):\n%s", err, diff)
				}
				_, chain, err := menu.DecodePublished(answer(viewtest.Restopped(view).Draw(t, "other stops"), seed))
				if diff := cmp.Diff(string(p.Content), string(chain.Content)); err != nil || diff != "" {
					t.Fatalf("other stop lists change the content (%v):\n%s", err, diff)
				}
				sameCatalogue(t, decoded, p)
			})
		})
	}
}

// differing describes the difference of two published views.
func differing(a, b menu.Published) string {
	return cmp.Diff(string(a.Content), string(b.Content)) + cmp.Diff(string(a.Stops), string(b.Stops))
}

// answer returns the ordering service's response with the view. seed selects the spelling.
func answer(view viewtest.Node, seed uint64) []byte {
	token := viewtest.Node{Text: strconv.FormatUint(seed, 10)}
	return viewtest.Node{Kind: viewtest.Object, Members: []viewtest.Member{
		{Name: "requestId", Value: token}, {Name: "result", Value: view},
	}}.Print(seed)
}

// sameCatalogue fails unless content and view compile to the same catalogue.
func sameCatalogue(t *rapid.T, view *menu.View, p menu.Published) {
	stored, err := menu.DecodeContent(p.Content)
	if err != nil {
		t.Fatalf("DecodeContent(%s): %v", p.Content, err)
	}
	s := menu.DefaultSettings()
	want := menu.Compile(view, "r1", s)
	got := menu.CompileContent(stored, s).WithStops(view.Stops("r1", s))
	if diff := cmp.Diff(string(want.AppendMenu(nil, menu.Head{})), string(got.AppendMenu(nil, menu.Head{}))); diff != "" {
		t.Fatalf("the catalogue of the content differs:\n%s", diff)
	}
	if changes := menu.Diff(want, got); !changes.Empty() {
		t.Fatalf("the catalogue of the content differs: %+v", changes)
	}
	for _, stopped := range [][]string{stored.Stops("r1", s).Products, stored.Stops("r1", s).Ingredients} {
		if len(stopped) > 0 {
			t.Fatalf("the content stops %v", stopped)
		}
	}
}

// FuzzPublished: everything that Decode accepts is restored as it was published, and its
// content compiles to the same catalogue.
func FuzzPublished(f *testing.F) {
	f.Add([]byte(menuWithIssues(30)))
	f.Add([]byte(nestedMenu))
	f.Add([]byte("{\"products\":[{\"id\":\"a\tb\",\"x\":{\"\x00\":[\"\n\"]},\"disabled\":{\"\x1f\":1}}]}"))
	f.Add([]byte(`{"products":[{"id":"a","x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}]}`))
	f.Add([]byte(`{"result":{"result":{},"products":[{"disabled":{"a":[]},"DISABLED":"\ud800","id":"\u0041"}],"Products":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		view, p, err := menu.DecodePublished(raw)
		if again, plain := menu.Decode(raw); (plain == nil) != (err == nil) ||
			plain == nil && !cmp.Equal(view, again, cmp.Comparer(decimal.Decimal.Equal)) {
			t.Fatalf("Decode returns %v, DecodePublished %v", plain, err)
		}
		if err != nil {
			return
		}
		if !json.Valid(p.Content) || !json.Valid(p.Stops) {
			t.Fatalf("the content is not JSON: %s %s", p.Content, p.Stops)
		}
		if raw = escapeControls(raw); bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > 400 {
			return // it may be deeper than what is stored (TestAnIgnoredFieldCannotRejectAMenu_W17)
		}
		sameAsReference(t, raw, p)
		back, err := p.AppendView(nil)
		if err != nil {
			t.Fatal(err)
		}
		sameValue(t, "the view with its stop lists", viewOf(t, raw), back)
		_, again, err := menu.DecodePublished(append([]byte(`{"result":`), append(back, '}')...))
		if diff := differing(p, again); err != nil || diff != "" {
			t.Fatalf("the served view, decoded again (%v):\n%s", err, diff)
		}
		stored, err := menu.DecodeContent(p.Content)
		if err != nil {
			t.Fatal(err)
		}
		s := menu.DefaultSettings()
		one := menu.CompileContent(view, s).WithStops(menu.Stops{}).AppendMenu(nil, menu.Head{})
		if two := menu.CompileContent(stored, s).WithStops(menu.Stops{}).AppendMenu(nil, menu.Head{}); !bytes.Equal(one, two) {
			t.Fatalf("the catalogue of the content differs:\n%s\n%s", one, two)
		}
	})
}

// escapeControls escapes the control characters in strings.
func escapeControls(raw []byte) []byte {
	return inString.ReplaceAllFunc(raw, func(text []byte) []byte {
		return control.ReplaceAllFunc(text, func(c []byte) []byte { return fmt.Appendf(nil, `\u%04x`, c[0]) })
	})
}

var (
	inString = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)
	control  = regexp.MustCompile(`[\x00-\x1f]`)
)

// viewOf returns the view in a response. This is the last result, unless the response itself
// is a view.
func viewOf(t *testing.T, raw []byte) viewtest.Node {
	t.Helper()
	answer, err := viewtest.Parse(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if err != nil {
		t.Fatal(err)
	}
	view := answer
	for _, m := range answer.Members {
		switch jsontext.FoldName(m.Name) {
		case "result":
			view = m.Value
		case "products", "categories":
			return answer
		}
	}
	return view
}

func FuzzAppendView(f *testing.F) {
	p := published(f, menuWithIssues(30))
	f.Add(p.Content, p.Stops)
	f.Add([]byte(`{"products":[{},{}]}`), []byte(`{"values":["{}","{\"disabled\":true}"],"of":[0,1]}`))
	for _, stops := range []string{
		``, `[]`, `{}`, `{"values":["1"],"of":[0,0]}`, `{"values":[],"of":[0,0]}`,
		`{"values":["{}"],"of":[0]}`, `{"values":["{} "],"of":[0,0]}`,
	} {
		f.Add([]byte(`{"products":[{},{}]}`), []byte(stops))
	}
	f.Fuzz(func(t *testing.T, content, stops []byte) {
		if _, err := menu.DecodeContent(content); err != nil {
			return
		}
		view, err := menu.Published{Content: content, Stops: stops}.AppendView(nil)
		if err == nil && !json.Valid(view) {
			t.Fatalf("%s with %s became %s", content, stops, view)
		}
	})
}

func TestForeignStopValuesAreRejected(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]string{
		"not JSON": `{`, "too few": `{"values":["{}"],"of":[0]}`, "too many": `{"values":["{}"],"of":[0,0,0]}`,
		"an unknown value": `{"values":["{}"],"of":[1,1]}`, "a negative index": `{"values":["{}"],"of":[-1,-1]}`,
		"not an object": `{"values":["7"],"of":[0,0]}`, "two objects": `{"values":["{}{}"],"of":[0,0]}`,
		"not text": `{"values":[{}],"of":[0,0]}`, "not a number": `{"values":["{}"],"of":[0,"0"]}`, "no fields": `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := menu.Published{Content: []byte(`{"products":[{},{}]}`), Stops: []byte(stops)}
			if view, err := p.AppendView(nil); !errors.Is(err, menu.ErrForeignStops) {
				t.Errorf("%s: got %s, %v; want ErrForeignStops", stops, view, err)
			}
		})
	}
}
