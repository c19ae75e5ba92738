package menu_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/menu"
)

const someGUID = "0a969eab-5b51-4ac4-a755-53d1cc02a782"

// nearGUIDs draws GUIDs, and texts that differ from one in few bytes.
func nearGUIDs() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := []byte(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, "guid"))
		if rapid.Bool().Draw(t, "near") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.Byte().Filter(func(c byte) bool { return c < 0x80 }).Draw(t, "byte")
		}
		if rapid.Bool().Draw(t, "short") {
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "size")]
		}
		if rapid.IntRange(0, 4).Draw(t, "upper") == 0 {
			text = []byte(strings.ToUpper(string(text)))
		}
		return string(text)
	})
}

// An externalId is returned as it was sent and is found only by the same text.
func TestExternalIDsAreStoredUnchanged(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(nearGUIDs(), rapid.Just(someGUID), rapid.Just(strings.ToUpper(someGUID)), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		externals := rapid.SliceOfN(texts, 1, 8).Draw(t, "externalIds")
		view := &menu.View{}
		owners := map[string][]menu.Index{}
		for i, external := range externals {
			view.Products = append(view.Products, menu.Product{ID: "d" + string(rune('a'+i)), ExternalID: external, Name: "Soup"})
			view.Ingredients = append(view.Ingredients, menu.Ingredient{ID: "i" + string(rune('a'+i)), ExternalID: external, Name: "Salt"})
			if external != "" {
				owners[external] = append(owners[external], menu.Index(i))
			}
		}
		c := menu.Compile(view, "r", menu.DefaultSettings())
		for i, external := range externals {
			p, in := c.Products().At(menu.Index(i)), c.Ingredients().At(menu.Index(i))
			if p.ExternalID() != external || in.ExternalID() != external || p.Name() != "Soup" || in.Name() != "Salt" {
				t.Errorf("%q became %q %q, %q %q", external, p.ExternalID(), p.Name(), in.ExternalID(), in.Name())
			}
			var drawn struct{ ExternalID string }
			if err := json.Unmarshal(c.AppendProductEntry(nil, menu.Index(i)), &drawn); err != nil || drawn.ExternalID != external {
				t.Errorf("%q is written as %q, %v", external, drawn.ExternalID, err)
			}
		}
		for i, external := range externals {
			if got := c.Products().SharingExternalID(menu.Index(i)); !slices.Equal(got, owners[external]) {
				t.Errorf("owners of %q = %v, want %v", external, got, owners[external])
			}
		}
		for _, asked := range append(externals, texts.Draw(t, "asked"), someGUID) {
			if got := c.Products().ByExternalID(asked); !slices.Equal(got, owners[asked]) {
				t.Errorf("dishes of %q = %v, want %v", asked, got, owners[asked])
			}
			if got := c.Ingredients().ByExternalID(asked); !slices.Equal(got, owners[asked]) {
				t.Errorf("ingredients of %q = %v, want %v", asked, got, owners[asked])
			}
		}
	})
}

// Each dish, group, scheme and category is found by its id, and unknown ids are not found,
// for menus of any size.
func TestEveryIDIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringN(1, 3, -1), 0, 200, rapid.ID).Draw(t, "ids")
		view := &menu.View{}
		for _, id := range ids {
			view.Categories = append(view.Categories, menu.Category{ID: id})
			view.Products = append(view.Products, menu.Product{ID: id})
			view.Groups = append(view.Groups, menu.Group{ID: id})
			view.Schemes = append(view.Schemes, menu.Scheme{ID: id})
		}
		c := menu.CompileContent(view, menu.DefaultSettings())
		for what, find := range map[string]func(string) (menu.Index, bool){
			"category": c.CategoryByID, "dish": c.Products().ByID, "group": c.GroupByID, "scheme": c.SchemeByID,
		} {
			for i, id := range ids {
				if at, ok := find(id); !ok || int(at) != i {
					t.Errorf("%s %q is at %d, %t; want %d", what, id, at, ok, i)
				}
			}
			if at, ok := find("absent"); ok || at != menu.None {
				t.Errorf("an unknown %s is found at %d", what, at)
			}
		}
	})
}
