package journal_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// Lookups that share a pipeline return their own orders, and one whose context ends returns at once.
func TestLookupsSharePipelines(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	p := newProxy(t, w.server.Addr())
	j := journal.New(open(t, p.url(), ""), ordering.DefaultConfig(), quiet())
	specs := make([]ordering.CallSpec, 60)
	for i := range specs {
		specs[i] = create()
		begun(t, j, specs[i])
	}
	var warm sync.WaitGroup
	for range 4 {
		warm.Go(func() { _, _, _ = j.Lookup(t.Context(), main, specs[0].Key) })
	}
	warm.Wait()
	p.hold()
	var all sync.WaitGroup
	for i := range specs {
		all.Go(func() {
			r, call, err := j.Lookup(t.Context(), main, specs[i].Key)
			if err != nil || r.Ref != specs[i].Ref || call != 1 {
				t.Errorf("lookup %d = %s, %v; want %s", i, r.Ref, err, specs[i].Ref)
			}
		})
		all.Go(func() {
			if _, _, err := j.Lookup(t.Context(), main, create().Key); !errors.Is(err, ordering.ErrKeyFree) {
				t.Errorf("a free key = %v", err)
			}
		})
	}
	eventually(t, "both pipelines wait", func() bool { waiting, _ := p.counts(); return waiting >= 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) //testwaits:allow the test expects its end
	defer cancel()
	if _, _, err := j.Lookup(ctx, main, specs[0].Key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a lookup whose context ends = %v", err) // while Redis does not answer
	}
	p.release()
	all.Wait()
}
