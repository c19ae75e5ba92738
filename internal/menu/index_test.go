package menu_test

import (
	"slices"
	"testing"

	"larder.local/internal/menu"
)

// ByID and ByExternalID agree with a search of all items. A shared externalId returns all its owners.
func TestByIDAndExternalID(t *testing.T) {
	t.Parallel()
	view := &menu.View{
		Products: []menu.Product{
			{ID: "a", ExternalID: "1"},
			{ID: "b", ExternalID: "2"},
			{ID: "c", ExternalID: "2"},
			{ID: "d", ExternalID: "a"},
			{ID: "e"},
			{ID: "f", ExternalID: "3"},
			{ID: "g", ExternalID: "3"},
			{ID: "2x", ExternalID: "f"},
			{ID: "h", ExternalID: "f"},
		},
		Ingredients: []menu.Ingredient{{ID: "x", ExternalID: "1"}, {ID: "y", ExternalID: "1"}, {ID: "z", ExternalID: "x"}},
	}
	c := menu.CompileContent(view, menu.DefaultSettings())
	for _, name := range []string{"", "a", "b", "c", "d", "e", "f", "g", "h", "1", "2", "3", "2x", "x", "y", "z", "nobody"} {
		compare(t, name, c.Products())
		compare(t, name, c.Ingredients())
	}
	if sharing := c.Products().ByExternalID("2"); !slices.Equal(sharing, []menu.Index{1, 2}) {
		t.Errorf("2 is shared by %v, want [1 2]", sharing)
	}
}

func compare(t *testing.T, name string, items *menu.ItemTable) {
	t.Helper()
	want := menu.None
	var shared []menu.Index
	for i, item := range items.All() {
		if item.ID() == name {
			want = i
		}
		if name != "" && item.ExternalID() == name {
			shared = append(shared, i)
		}
	}
	if i, ok := items.ByID(name); ok != (want != menu.None) || ok && i != want {
		t.Errorf("%q is the id of %d, want %d", name, i, want)
	}
	if owners := items.ByExternalID(name); !slices.Equal(owners, shared) {
		t.Errorf("%q is the externalId of %v, want %v", name, owners, shared)
	}
}
