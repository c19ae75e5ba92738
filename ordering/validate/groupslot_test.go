package validate

import (
	"math"
	"testing"
)

// TestGroupSlotCosts tests the distance of a count from the limits of a group, and the
// largest shift at the same cost.
func TestGroupSlotCosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name              string
		min, max, count   int64
		off               int64
		leaving, entering int64
		fall, rise        int64
	}{
		{"above the maximum", 2, 4, 7, 3, -1, 1, 3, math.MaxInt64},
		{"at the maximum", 2, 4, 4, 0, 0, 1, 2, math.MaxInt64},
		{"within", 2, 4, 3, 0, 0, 0, 1, 1},
		{"at the minimum", 2, 4, 2, 0, 1, 0, 2, 2},
		{"below the minimum", 2, 4, 1, 1, 1, -1, 1, 1},
		{"nothing chosen", 3, 4, 0, 3, 1, -1, 0, 3},
		{"at both", 2, 2, 2, 0, 1, 1, 2, math.MaxInt64},
		{"no maximum, many", 1, noMaximum, 9, 0, 0, 0, 8, math.MaxInt64},
		{"no maximum, nothing chosen", 1, noMaximum, 0, 1, 1, -1, 0, 1},
		{"nothing allowed", 0, 0, 2, 2, -1, 1, 2, math.MaxInt64},
	} {
		d := groupSlot{min: tc.min, max: tc.max, count: tc.count}
		if d.distance() != tc.off || d.costOfRemove() != tc.leaving || d.costOfAdd() != tc.entering || d.removable() != tc.fall ||
			d.addable() != tc.rise {
			t.Errorf("%s: %+v is %d off, leaving %d, entering %d, fall %d, rise %d; want %d, %d, %d, %d, %d", tc.name, d,
				d.distance(), d.costOfRemove(), d.costOfAdd(), d.removable(), d.addable(), tc.off, tc.leaving, tc.entering, tc.fall, tc.rise)
		}
	}
}

// A gain of two units is more than a gain of one. A gain of one unit is more than a better
// order.
func TestGain(t *testing.T) {
	t.Parallel()
	over, under := groupSlot{min: 0, max: 1, count: 3}, groupSlot{min: 2, max: 3, count: 0}
	full, room := groupSlot{min: 1, max: 1, count: 1}, groupSlot{min: 0, max: 3, count: 1}
	for _, tc := range []struct {
		name     string
		from, to groupSlot
		want     int64
	}{
		{"from excess to missing", over, under, 4},
		{"from excess to free capacity", over, room, 2},
		{"from free capacity to missing", room, under, 2},
		{"from excess to excess, an earlier one nearer", over, full, 1},
		{"from missing to missing, a later one nearer", under, under, 0},
		{"from free capacity to free capacity", room, room, 0},
		{"from the maximum to excess", full, over, 0},
	} {
		f := assigner{slots: []groupSlot{tc.from, tc.to}}
		if got := f.gain(0, 1); got != tc.want {
			t.Errorf("%s: gain %d, want %d", tc.name, got, tc.want)
		}
	}
	f := assigner{slots: []groupSlot{under, under}}
	if got := f.gain(1, 0); got != 1 {
		t.Errorf("from missing to missing, an earlier one nearer: gain %d, want 1", got)
	}
	if f = (assigner{slots: []groupSlot{full, over}}); f.gain(1, 0) != 0 {
		t.Error("from excess to excess, a later one nearer: a gain, want none")
	}
}

// TestFirstCount: the initial assignment fills minimums of the first groups, then free
// capacity, then exceeds maximums. Selections with the fewest groups come first.
func TestFirstCount(t *testing.T) {
	t.Parallel()
	any3 := []int32{0, 1, 2}
	for _, tc := range []struct {
		name     string
		demands  []groupSlot
		supplies []selection
		want     [3]int64
	}{
		{"missing first", []groupSlot{{min: 0, max: 5}, {min: 2, max: 5}, {min: 1, max: 5}}, []selection{{4, any3}}, [3]int64{1, 2, 1}},
		{"then free capacity", []groupSlot{{min: 0, max: 1}, {min: 1, max: 3}, {min: 0, max: 9}}, []selection{{5, any3}}, [3]int64{1, 3, 1}},
		{"a group without a maximum takes the rest", []groupSlot{{min: 0, max: 1}, {min: 0, max: noMaximum}, {min: 0, max: 9}}, []selection{{5, any3}}, [3]int64{1, 4, 0}},
		{"excess at the first group", []groupSlot{{min: 0, max: 1}, {min: 0, max: 1}, {min: 0, max: 1}}, []selection{{5, any3}}, [3]int64{3, 1, 1}},
		{"the selection with the fewest groups is first", []groupSlot{{min: 0, max: 1}, {min: 0, max: 1}, {min: 0, max: 1}}, []selection{{2, any3}, {1, []int32{0, 1}}}, [3]int64{1, 1, 1}},
		{"earlier selections count", []groupSlot{{min: 2, max: 2}, {min: 2, max: 2}, {min: 0, max: 0}}, []selection{{2, any3}, {2, any3}}, [3]int64{2, 2, 0}},
	} {
		f := newAssigner(tc.demands, tc.supplies, workLimit)
		var got [3]int64
		for i, d := range f.slots {
			got[i] = d.count
		}
		if got != tc.want {
			t.Errorf("%s: counted %v, want %v", tc.name, got, tc.want)
		}
	}
}

// The search also starts if the initial assignment leaves every group outside its limits.
func TestShiftFromAllLimitsUnmet(t *testing.T) {
	t.Parallel()
	slots := []groupSlot{{min: 0, max: 1}, {min: 2, max: 2}}
	selections := []selection{{units: 3, eligible: []int32{0, 1}}}
	f := newAssigner(slots, selections, workLimit)
	slots[0].count, slots[1].count = 3, 0
	f.counts[0] = []int64{3, 0}
	if !f.hasUnmet() {
		t.Fatal("hasUnmet() = false with both groups outside their limits")
	}
	for f.improve(0) {
	}
	if slots[0].count != 1 || slots[1].count != 2 || f.hasUnmet() {
		t.Errorf("counted %d and %d, want 1 and 2", slots[0].count, slots[1].count)
	}
	slots[0].count, slots[1].count = 1, 2
	if f.hasUnmet() {
		t.Error("hasUnmet() = true with both groups within their limits")
	}
}
