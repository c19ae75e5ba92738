package ratelimit

import (
	"strconv"
	"testing"
	"time"
)

// hand is a clock that a test sets.
type hand struct{ at time.Time }

func (h *hand) now() time.Time { return h.at }

func TestLimiter(t *testing.T) {
	t.Parallel()
	clock := &hand{at: time.Unix(1_700_000_000, 0)}
	l := New("test", Rate{Count: 2, Per: time.Second}, clock.now)
	for i := range 2 {
		if _, _, ok := l.allow("a"); !ok {
			t.Fatalf("take %d of a burst of 2 was refused", i+1)
		}
	}
	wait, _, ok := l.allow("a")
	if ok || wait != 500*time.Millisecond {
		t.Errorf("third take: got %v, %v, want a wait of 500ms", wait, ok)
	}
	if _, _, ok := l.allow("b"); !ok {
		t.Error("another key was refused")
	}
	clock.at = clock.at.Add(500 * time.Millisecond)
	if _, _, ok := l.allow("a"); !ok {
		t.Error("refused after the wait that was asked for")
	}
}

func TestLimiterRefusalTakesNothing(t *testing.T) {
	t.Parallel()
	clock := &hand{at: time.Unix(1_700_000_000, 0)}
	l := New("test", Rate{Count: 1, Per: time.Minute}, clock.now)
	l.allow("a")
	for range 50 {
		l.allow("a")
	}
	clock.at = clock.at.Add(time.Minute)
	if _, _, ok := l.allow("a"); !ok {
		t.Error("refused takes were counted: the key is still refused a minute later")
	}
}

func TestLimiterForgetsTheOldest(t *testing.T) {
	t.Parallel()
	clock := &hand{at: time.Unix(1_700_000_000, 0)}
	l := New("test", Rate{Count: 1, Per: time.Hour}, clock.now)
	l.max = 3
	for i := range 100 {
		l.allow(strconv.Itoa(i))
	}
	if len(l.buckets) != 3 || l.order.Len() != 3 {
		t.Fatalf("holds %d keys in %d places, want 3 and 3", len(l.buckets), l.order.Len())
	}
	if _, _, ok := l.allow("99"); ok {
		t.Error("the latest key was forgotten")
	}
	if _, _, ok := l.allow("0"); !ok {
		t.Error("the oldest key was not forgotten")
	}
}

func TestLimiterOff(t *testing.T) {
	t.Parallel()
	l := New("test", Rate{}, time.Now)
	for range 1000 {
		if _, _, ok := l.allow("a"); !ok {
			t.Fatal("a rate of 0 limits")
		}
	}
	if len(l.buckets) != 0 {
		t.Error("a rate of 0 counts")
	}
}

func TestAddressKey(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7":             "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":  "2001:db8:1:2::/64",
		"2001:db8:1:2::9":       "2001:db8:1:2::/64",
		"fe80::1%eth0":          "fe80::/64",
		"::ffff:192.0.2.7":      "192.0.2.7",
		"":                      "",
		"something that is not": "something that is not",
	} {
		if got := AddressKey(ip); got != want {
			t.Errorf("AddressKey(%q) = %q, want %q", ip, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Rate{
		"20/s":  {20, time.Second},
		"5/m":   {5, time.Minute},
		"100/h": {100, time.Hour},
		"0":     {},
	} {
		var got Rate
		err := got.UnmarshalText([]byte(text))
		if err != nil || got != want {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%q comes back as %q", text, got.String())
		}
	}
	for _, text := range []string{"", "20", "20/x", "-1/s", "0/s", "1.5/s", "x/s", "9999999/s", "s/20"} {
		if err := new(Rate).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("UnmarshalText(%q) was taken", text)
		}
	}
	var r Rate
	if err := r.UnmarshalText([]byte(" 7/m ")); err != nil || r != (Rate{7, time.Minute}) {
		t.Errorf("UnmarshalText: got %v, %v", r, err)
	}
	if err := r.UnmarshalText([]byte("often")); err == nil {
		t.Error("UnmarshalText took a word")
	}
}
