package runlog

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := ""
	made := newIDs()
	for i := range 4000 {
		// Four per millisecond, and sometimes the clock goes back.
		id := made.next(at.Add(time.Duration(i/4-i%64/63*5) * time.Millisecond))
		if !isID(id) || id <= before {
			t.Fatalf("id %q after %q: want ids that sort", id, before)
		}
		before = id
	}
	if first, second := newIDs().next(at), newIDs().next(at); first == second {
		t.Error("two processes made the same id")
	}
	last := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)), bytes.NewReader(bytes.Repeat([]byte{1}, 100)))
	full := &ids{entropy: ulid.Monotonic(last, 0)}
	first := full.next(at)
	if id := full.next(at); id <= first || IDTime(id) != at.UnixMilli()+1 {
		t.Errorf("after the last id of a millisecond, %s, came %s", first, id)
	}
}
