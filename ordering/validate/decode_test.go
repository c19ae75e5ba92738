package validate

import (
	"testing"
	"time"

	"larder/internal/menu"
	"larder/internal/testkit/ordertest"
	"larder/ordering/violation"
)

// TestDecode_ValidOrderNeedsNoPointers: JSON Pointers are made for violations
// alone. Decoding an order without any takes no memory but for the decoder.
func TestDecode_ValidOrderNeedsNoPointers(t *testing.T) { //nolint:paralleltest // it counts allocations
	sent, err := ordertest.FiveLines(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	o := &order{}
	allocations := testing.AllocsPerRun(100, func() {
		var notes violation.List
		o.reset()
		if err := decode(sent.Body, o, true, menu.DefaultMaxDepth, &notes); err != nil || o.dishCount != 5 {
			t.Errorf("%d dishes, %v", o.dishCount, err)
		}
		o.clear()
	})
	if allocations > 2 {
		t.Errorf("decoding an order takes %g allocations, want at most 2", allocations)
	}
}
