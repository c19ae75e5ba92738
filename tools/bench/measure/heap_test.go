package measure

import (
	"testing"

	"larder.local/internal/testkit/metrics"
)

func TestLiveHeapIsHalfOfWhatStartsTheNextCollection(t *testing.T) {
	t.Parallel()
	if got := liveHeap(metrics.Parse("go_memstats_next_gc_bytes 5.8720256e+07\n")); got != 4<<20 {
		t.Errorf("liveHeap = %v, want %d", got, 4<<20)
	}
}
