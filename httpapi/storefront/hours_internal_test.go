package storefront

import (
	"testing"
	"time"

	"larder.local/internal/directory"
	"larder.local/ordering/validate"
)

// The page says until when orders are paused, in the restaurant's time zone, whatever offset the operator has sent.
func TestPausedPage_O23(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 20, 0, 0, 0, time.UTC) // a Friday; 21:00 in Lisbon
	for name, tc := range map[string]struct {
		until            time.Time
		english, russian string
	}{
		"without an end":  {time.Time{}, "No orders at the moment", "Сейчас заказы не принимаются"},
		"today":           {now.Add(150 * time.Minute), "No orders before 23:30", "Заказы не принимаются до 23:30"},
		"on the next day": {now.Add(210 * time.Minute), "No orders before Sat 00:30", "Заказы не принимаются до сб 00:30"},
	} {
		for lang, want := range map[string]string{"en": tc.english, "ru": tc.russian} {
			v := view{Lang: lang, Restaurant: directory.Restaurant{TimeZone: "Europe/Lisbon"}}
			terms := validate.Terms{LeadTime: new(time.Hour), PausedUntil: &tc.until}
			v.addHours(terms, terms, now)
			if v.Closed != want {
				t.Errorf("%s, %s: %q, want %q", name, lang, v.Closed, want)
			}
		}
	}
}
