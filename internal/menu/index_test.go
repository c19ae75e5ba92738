package menu_test

import (
	"slices"
	"testing"

	"larder/internal/menu"
)

// An id wins over an equal externalId (policy O3). A shared externalId returns all its
// owners. Named agrees with ByID and ByExternalID.
func TestNamed(t *testing.T) {
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
		compare(t, name, c.Products().Named, c.Products().ByID, c.Products().ByExternalID)
		compare(t, name, c.Ingredients().Named, c.Ingredients().ByID, c.Ingredients().ByExternalID)
	}
	if _, sharing := c.Products().Named("2"); !slices.Equal(sharing, []menu.Index{1, 2}) {
		t.Errorf("2 is shared by %v, want [1 2]", sharing)
	}
}

func compare(
	t *testing.T, name string, named func(string) (menu.Index, []menu.Index),
	byID func(string) (menu.Index, bool), byExternalID func(string) []menu.Index,
) {
	t.Helper()
	want, ok := byID(name)
	var shared []menu.Index
	if !ok {
		want = menu.None
		if owners := byExternalID(name); len(owners) == 1 {
			want = owners[0]
		} else {
			shared = owners
		}
	}
	if i, sharing := named(name); i != want || !slices.Equal(sharing, shared) {
		t.Errorf("%q is %d, shared by %v; want %d, %v", name, i, sharing, want, shared)
	}
}
