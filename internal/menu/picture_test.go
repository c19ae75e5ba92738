package menu_test

import (
	"encoding/json"
	"os"
	"testing"

	"larder.local/internal/menu"
)

// A page shows pictures of http(s) addresses without credentials, and of its own origin. The components in the browser
// are tested with the same table (policy H13).
func TestSafePicture_H13(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../httpapi/web/testdata/logic/src/pictures.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Address string
		Shown   bool
	}
	if err := json.Unmarshal(text, &table); err != nil || len(table) < 50 {
		t.Fatal(len(table), err)
	}
	for _, c := range table {
		if got := menu.SafePicture(c.Address); (got != "") != c.Shown || got != "" && got != c.Address {
			t.Errorf("%q: %q, want shown %v", c.Address, got, c.Shown)
		}
	}
}
