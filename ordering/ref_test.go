package ordering_test

import (
	"regexp"
	"testing"
	"time"

	"larder.local/internal/testkit/menutest"
	"larder.local/ordering"
)

func TestRefs(t *testing.T) {
	t.Parallel()
	at := menutest.Noon()
	refs := ordering.Refs(func() time.Time { return at })
	shape := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	seen, last := map[string]bool{}, ""
	for range 1000 {
		ref := refs()
		if !shape.MatchString(ref) || seen[ref] {
			t.Fatalf("reference %q: not 26 characters of Crockford's base 32, or not unique", ref)
		}
		if seen[ref] = true; ref[:10] < last {
			t.Fatalf("reference %q sorts before %q", ref, last)
		}
		last = ref[:10]
		at = at.Add(time.Millisecond)
	}
	if got := ordering.Refs(func() time.Time { return time.UnixMilli(1469918176385) })()[:10]; got != "01ARYZ6S41" {
		t.Errorf("the time of a known ULID: %s, want 01ARYZ6S41", got)
	}
}
