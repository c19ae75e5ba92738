package sync

import (
	"testing"
	"time"
)

// Policy S9: a later configuration is newer by Redis's clock too, if this instance was slow to read a response of Redis, and
// if the clock of Redis was set back.
func TestALaterConfigurationIsNewer_S9(t *testing.T) {
	t.Parallel()
	redis := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	read := time.Now().Add(-time.Hour)
	r := &Runner{}
	load := func(after time.Duration) { r.set.Store(&targetSet{read: read.Add(after)}) }
	asked := func(after time.Duration, now time.Time) lease { return lease{asked: read.Add(after), now: now} }

	load(0)
	first := r.readAt(asked(10*time.Second, redis)) // this response is an hour old, as if the process had been stopped
	if want := redis.Add(-10 * time.Second); !first.Equal(want) {
		t.Errorf("the first: %s, want %s", first, want)
	}
	if again := r.readAt(asked(20*time.Second, redis.Add(time.Minute))); !again.Equal(first) {
		t.Errorf("the same configuration: %s, then %s", first, again)
	}
	load(30 * time.Second)
	second := r.readAt(asked(29*time.Second, redis.Add(19*time.Second))) // read while Redis was asked
	if want := first.Add(30 * time.Second); !second.Equal(want) {
		t.Errorf("the second: %s, want %s", second, want)
	}
	load(40 * time.Second)
	if third := r.readAt(asked(41*time.Second, redis.Add(-24*time.Hour))); !third.After(second.Truncate(time.Millisecond)) {
		t.Errorf("after a step of Redis's clock: %s, want later than %s", third, second)
	}
}
