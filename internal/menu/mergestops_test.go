package menu_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/viewtest"
)

func TestMergeStopLists_OlderContent(t *testing.T) {
	t.Parallel()
	old := published(t, `{"products":[{"id":"a","isContainInStopList":["r"]},{"id":"b"},{"id":"gone","disabled":true},{"id":7},{"name":"no id","disabled":true},"odd"],
		"ingredients":[{"id":"a"},{"id":"i","disabled":true}]}`)
	now := published(t, `{"ingredients":[{"id":"i"}],"products":[{"id":"new","disabled":true},{"ID":"b","isContainInStopList":true},
		{"id":"b","disabled":false},{"id":"7","isContainInStopList":["r"]},{"id":"a","isContainInStopList":[]},{"name":"no id"}]}`)
	got, err := old.MergeStopLists(now)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ingredients":[{"id":"a"},{"id":"i"}],"products":[{"id":"a","isContainInStopList":[]},{"id":"b","isContainInStopList":true},` +
		`{"id":"gone","disabled":true},{"id":7,"isContainInStopList":["r"]},{"name":"no id","disabled":true},"odd"]}`
	if view := restored(t, got); view != want {
		t.Errorf("got\n%s\nwant\n%s", view, want)
	}
}

func TestMergeStopLists_SameContent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		view := viewtest.Views().Draw(t, "view")
		then, now := part(t, answer(view, 1)), part(t, answer(viewtest.Restopped(view).Draw(t, "now"), 1))
		got, err := then.MergeStopLists(now)
		if err != nil {
			t.Fatalf("%v of %s", err, then.Content)
		}
		if diff := cmp.Diff(string(then.Content), string(got.Content)); diff != "" {
			t.Fatalf("another content (-want +got):\n%s", diff)
		}
		s := menu.DefaultSettings()
		for _, restaurant := range []menu.RestaurantID{"r1", "r2"} {
			if want, stops := stopsOf(t, now).Stops(restaurant, s), stopsOf(t, got).Stops(restaurant, s); !want.Equal(stops) {
				t.Fatalf("%s: got %v, want %v", restaurant, stops, want)
			}
		}
	})
}

// part returns a published menu view.
func part(t *rapid.T, raw []byte) menu.Published {
	_, p, err := menu.DecodePublished(raw)
	if err != nil {
		t.Skip("not a menu view")
	}
	return p
}

// stopsOf decodes a view with its stop lists.
func stopsOf(t *rapid.T, p menu.Published) *menu.View {
	raw, err := p.AppendAnswer(nil)
	if err != nil {
		t.Fatal(err)
	}
	view, err := menu.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func TestMergeStopLists_OtherContent(t *testing.T) {
	t.Parallel()
	p := published(t, `{"products":[{"id":"a"},{"id":"b"}]}`)
	for name, broken := range map[string]menu.Published{
		"too few":  {Content: p.Content, Stops: []byte(`{"values":["{}"],"of":[0]}`)},
		"too many": {Content: p.Content, Stops: []byte(`{"values":["{}"],"of":[0,0,0]}`)},
		"not JSON": {Content: p.Content, Stops: []byte(`{`)},
	} {
		for _, pair := range [][2]menu.Published{{p, broken}, {broken, p}} {
			if _, err := pair[0].MergeStopLists(pair[1]); !errors.Is(err, menu.ErrForeignStops) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}
