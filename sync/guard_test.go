package sync

import (
	"strings"
	"testing"

	"larder/internal/menu"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int
		want          string // part of the reason; empty: may be published
	}{
		"first menu":               {0, 1, ""},
		"first menu, empty":        {0, 0, "Menu is empty, so it was not published"},
		"empty":                    {10, 0, "Menu is empty"},
		"grows":                    {10, 30, ""},
		"loses exactly half":       {10, 5, ""},
		"loses more than half":     {10, 4, "lost 6 of 10 dishes, more than 50 % (sync.shrink_limit), so it was not published"},
		"an odd number loses half": {5, 3, ""},
		"an odd number loses more": {5, 2, "lost 3 of 5"},
		"one product is replaced":  {1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refusal(c.before, c.after, 0.5)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("refusal(%d, %d) = %q, want %q in it", c.before, c.after, got, c.want)
			}
		})
	}
}

func TestProductCountEqualsTheCatalogue(t *testing.T) {
	t.Parallel()
	view := &menu.View{Products: []menu.Product{{ID: "a"}, {ID: "b"}, {ID: "a"}, {ID: ""}}}
	want := menu.Compile(view, "r", menu.DefaultSettings()).Counts().Products
	if got := productCount(view); got != want {
		t.Errorf("productCount = %d, the catalogue has %d", got, want)
	}
}
