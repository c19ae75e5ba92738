package jsontext_test

import (
	"testing"

	"larder.local/internal/jsontext"
)

// A reader with Unicode's simple case folding treats these names like those of the
// interface.
func TestFoldNameUsesSimpleCaseFolding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"dishLi\u017ft": "dishlist", "d\u0131shList": "dishlist", "\u212Aey": "key", "restaurant_ID": "restaurantid",
	} {
		if got := jsontext.FoldName(name); got != want {
			t.Errorf("FoldName(%q) = %q, want %q", name, got, want)
		}
	}
}
