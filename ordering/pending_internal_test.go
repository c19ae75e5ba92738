package ordering

import (
	"io"
	"testing"

	"github.com/sirupsen/logrus"
)

// The limits include the writes that a flush has taken and may put back.
func TestPendingWritesAreBoundedDuringAFlush(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	dropped := 0
	o := &Orders{log: log, deps: Deps{Observe: func(string, string) { dropped++ }}}
	write := func() pendingWrite { return pendingWrite{result: &CallResult{}, body: make([]byte, 1)} }
	for range maxPendingWrites {
		o.pending.add(o, write())
	}
	taken := o.pending.drain()
	o.pending.add(o, write())
	if dropped != 1 {
		t.Errorf("during a flush of %d writes, %d more were dropped, want 1", len(taken), dropped)
	}
	o.pending.requeue(taken, taken[:1])
	o.pending.add(o, write())
	if dropped != 1 || o.pending.size != 2 || o.pending.bytes != 2 || len(o.pending.queue) != 2 {
		t.Errorf("after the flush: %d dropped, size %d, %d bytes, %d queued; want 1, 2, 2, 2", dropped, o.pending.size, o.pending.bytes, len(o.pending.queue))
	}
}
