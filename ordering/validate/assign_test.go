package validate

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unmetCounts returns the visible part of an assignment: the counts of slots whose limits
// are not met.
func unmetCounts(slots []groupSlot) string {
	var text strings.Builder
	for i := range slots {
		if d := &slots[i]; d.distance() != 0 {
			fmt.Fprintf(&text, "%d:%d ", i, d.count)
		}
	}
	return text.String()
}

// bruteForce tries every assignment and returns the best one. It has the minimal sum of
// missing and excess units, then the minimum at the first slot, and so on.
func bruteForce(slots []groupSlot, selections []selection) []groupSlot {
	var best []groupSlot
	try := append([]groupSlot(nil), slots...)
	var place func(s, k int, left int64)
	place = func(s, k int, left int64) {
		if s == len(selections) {
			if best == nil || closer(try, best) {
				best = append([]groupSlot(nil), try...)
			}
			return
		}
		may := selections[s].eligible
		next := func(units, rest int64, s, k int) {
			try[may[k]].count += units
			if rest == 0 {
				following := int64(0)
				if s+1 < len(selections) {
					following = selections[s+1].units
				}
				place(s+1, 0, following)
			} else {
				place(s, k+1, rest)
			}
			try[may[k]].count -= units
		}
		if k == len(may)-1 {
			next(left, 0, s, k)
			return
		}
		for units := int64(0); units <= left; units++ {
			next(units, left-units, s, k)
		}
	}
	first := int64(0)
	if len(selections) > 0 {
		first = selections[0].units
	}
	place(0, 0, first)
	return best
}

func closer(a, b []groupSlot) bool {
	var sumA, sumB int64
	for i := range a {
		sumA, sumB = sumA+a[i].distance(), sumB+b[i].distance()
	}
	if sumA != sumB {
		return sumA < sumB
	}
	for i := range a {
		if x, y := a[i].distance(), b[i].distance(); x != y {
			return x < y
		}
	}
	return false
}

func drawAssignment(t *rapid.T, mostUnits int64) ([]groupSlot, []selection) {
	slots := make([]groupSlot, rapid.IntRange(1, 5).Draw(t, "slots"))
	for i := range slots {
		slots[i].min = rapid.Int64Range(0, 3).Draw(t, "min")
		slots[i].max = noMaximum
		if rapid.Bool().Draw(t, "limited") {
			slots[i].max = slots[i].min + rapid.Int64Range(0, 2).Draw(t, "room")
		}
	}
	selections := make([]selection, rapid.IntRange(0, 5).Draw(t, "selections"))
	for i := range selections {
		selections[i].units = rapid.Int64Range(1, mostUnits).Draw(t, "units")
		for d := range slots {
			if rapid.Bool().Draw(t, "eligible") {
				selections[i].eligible = append(selections[i].eligible, int32(d))
			}
		}
		if len(selections[i].eligible) == 0 {
			selections[i].eligible = []int32{int32(rapid.IntRange(0, len(slots)-1).Draw(t, "only"))}
		}
	}
	return slots, selections
}

func TestAssignIsOptimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots, selections := drawAssignment(t, 3)
		want := unmetCounts(bruteForce(slots, selections))
		if work := workLimit; !assign(slots, selections, &work) {
			t.Fatalf("more than %d steps", workLimit)
		}
		if got := unmetCounts(slots); got != want {
			t.Fatalf("not met: %q; brute force finds %q\nslots %+v\nselections %+v", got, want, slots, selections)
		}
		counted, ordered := int64(0), int64(0)
		for _, d := range slots {
			counted += d.count
		}
		for _, s := range selections {
			ordered += s.units
		}
		if counted != ordered {
			t.Fatalf("counted %d of %d", counted, ordered)
		}
	})
}

func TestAssignDoesNotDependOnTheOrderOfLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots, selections := drawAssignment(t, 1000)
		again := append([]groupSlot(nil), slots...)
		shuffled := rapid.Permutation(selections).Draw(t, "shuffled")
		work := workLimit
		if !assign(slots, selections, &work) || !assign(again, shuffled, &work) {
			t.Fatal("the work limit is reached")
		}
		if a, b := unmetCounts(slots), unmetCounts(again); a != b {
			t.Fatalf("not met: %q; with the lines in another order: %q", a, b)
		}
	})
}

// If every selection has one eligible slot, the simple count equals the result of the
// search.
func TestAssignUnambiguous_MatchesSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots, selections := drawAssignment(t, 1000)
		for i := range selections {
			selections[i].eligible = selections[i].eligible[:1]
		}
		searched := append([]groupSlot(nil), slots...)
		work := workLimit
		if !assignUnambiguous(slots, selections) || !search(searched, selections, &work) {
			t.Fatalf("assignUnambiguous did not count %+v", selections)
		}
		if a, b := fmt.Sprint(slots), fmt.Sprint(searched); a != b {
			t.Fatalf("counted %s, searched %s\nselections %+v", a, b, selections)
		}
	})
}

// With one ambiguous selection, nothing is counted.
func TestAssignUnambiguous_AmbiguousSelection(t *testing.T) {
	t.Parallel()
	slots := make([]groupSlot, 2)
	selections := []selection{{units: 1, eligible: []int32{0}}, {units: 2, eligible: []int32{0, 1}}}
	if assignUnambiguous(slots, selections) || slots[0].count != 0 {
		t.Errorf("assignUnambiguous counted %+v", slots)
	}
}

func TestAssignIsBounded(t *testing.T) {
	t.Parallel()
	const groups, lines = 30, 100
	build := func() ([]groupSlot, []selection) {
		slots, selections := make([]groupSlot, groups), make([]selection, lines)
		for i := range slots {
			slots[i] = groupSlot{min: int64(i * 7), max: int64(i*7 + 1)}
		}
		for i := range selections {
			selections[i].units = int64(1 + i*31%97)
			for d := range groups {
				if (d+i)%3 == 0 {
					selections[i].eligible = append(selections[i].eligible, int32(d))
				}
			}
		}
		return slots, selections
	}
	slots, selections := build()
	work := workLimit
	if !assign(slots, selections, &work) || work < workLimit*3/4 {
		t.Errorf("100 lines in ten groups each left %d steps of %d", work, workLimit)
	}
	work = 100
	if slots, selections = build(); assign(slots, selections, &work) {
		t.Error("a hundred steps were enough for 100 lines in ten groups each")
	}
}
