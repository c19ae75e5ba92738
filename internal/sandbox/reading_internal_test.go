package sandbox

import (
	"testing"
	"time"
)

// The sandbox reads times of ISO 8601 with an offset, as the interface says.
func TestParseTime(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 5, 1, 15, 30, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-05-01T15:30:00Z", "2026-05-01T18:30:00+03:00", "2026-05-01T18:30+0300", "2026-05-01T18:30+03", "20260501T153000Z", "20260501T1830+03",
		"2026-05-01T15:30:00.000Z", "2026-05-01T15:30:00,0Z",
	} {
		if got, err := parseTime(text); err != nil || !got.Equal(want) {
			t.Errorf("%s is read as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2026-05-01T15:30:00", "20260501T1530", "2026-05-01", "tomorrow", "1777637400"} {
		if got, err := parseTime(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

// The price of an ingredient may be negative, that of a dish may not (policy W9b).
func TestNegativePrices(t *testing.T) {
	t.Parallel()
	menu, err := readMenuModel([]byte(`{"products":[{"id":"d","price":1},{"id":"bad","price":-1}],"ingredients":[{"id":"i","price":"-1.5"},{"id":"j"},{"id":"k","price":"x"}]}`), "r")
	if err != nil {
		t.Fatal(err)
	}
	for id, priced := range map[string]bool{"d": true, "bad": false} {
		if menu.dishes.byID[id].priced != priced {
			t.Errorf("dish %s is priced: %t", id, !priced)
		}
	}
	for id, priced := range map[string]bool{"i": true, "j": true, "k": false} {
		if menu.parts.byID[id].priced != priced {
			t.Errorf("ingredient %s is priced: %t", id, !priced)
		}
	}
}
