package ordering

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// verdictOf is what a client sees of an assignment: the counts of the demands
// that are not met.
func verdictOf(demands []demand) string {
	var text strings.Builder
	for i := range demands {
		if d := &demands[i]; d.off() != 0 {
			fmt.Fprintf(&text, "%d:%d ", i, d.count)
		}
	}
	return text.String()
}

// bruteForce tries every assignment and gives the best: the least sum of what
// is missing and in excess, then the least at the first demand, and so on.
func bruteForce(demands []demand, supplies []supply) []demand {
	var best []demand
	try := append([]demand(nil), demands...)
	var place func(s, k int, left int64)
	place = func(s, k int, left int64) {
		if s == len(supplies) {
			if best == nil || nearer(try, best) {
				best = append([]demand(nil), try...)
			}
			return
		}
		may := supplies[s].may
		next := func(units, rest int64, s, k int) {
			try[may[k]].count += units
			if rest == 0 {
				following := int64(0)
				if s+1 < len(supplies) {
					following = supplies[s+1].units
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
	if len(supplies) > 0 {
		first = supplies[0].units
	}
	place(0, 0, first)
	return best
}

func nearer(a, b []demand) bool {
	var sumA, sumB int64
	for i := range a {
		sumA, sumB = sumA+a[i].off(), sumB+b[i].off()
	}
	if sumA != sumB {
		return sumA < sumB
	}
	for i := range a {
		if x, y := a[i].off(), b[i].off(); x != y {
			return x < y
		}
	}
	return false
}

func drawAssignment(t *rapid.T, mostUnits int64) ([]demand, []supply) {
	demands := make([]demand, rapid.IntRange(1, 5).Draw(t, "demands"))
	for i := range demands {
		demands[i].min = rapid.Int64Range(0, 3).Draw(t, "min")
		demands[i].max = noMaximum
		if rapid.Bool().Draw(t, "limited") {
			demands[i].max = demands[i].min + rapid.Int64Range(0, 2).Draw(t, "room")
		}
	}
	supplies := make([]supply, rapid.IntRange(0, 5).Draw(t, "supplies"))
	for i := range supplies {
		supplies[i].units = rapid.Int64Range(1, mostUnits).Draw(t, "units")
		for d := range demands {
			if rapid.Bool().Draw(t, "may") {
				supplies[i].may = append(supplies[i].may, int32(d))
			}
		}
		if len(supplies[i].may) == 0 {
			supplies[i].may = []int32{int32(rapid.IntRange(0, len(demands)-1).Draw(t, "only"))}
		}
	}
	return demands, supplies
}

func TestAssignIsTheBestThereIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		demands, supplies := drawAssignment(t, 3)
		want := verdictOf(bruteForce(demands, supplies))
		if work := assignmentWork; !assign(demands, supplies, &work) {
			t.Fatalf("more than %d steps", assignmentWork)
		}
		if got := verdictOf(demands); got != want {
			t.Fatalf("not met: %q; brute force finds %q\ndemands %+v\nsupplies %+v", got, want, demands, supplies)
		}
		counted, ordered := int64(0), int64(0)
		for _, d := range demands {
			counted += d.count
		}
		for _, s := range supplies {
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
		demands, supplies := drawAssignment(t, 1000)
		again := append([]demand(nil), demands...)
		shuffled := rapid.Permutation(supplies).Draw(t, "shuffled")
		work := assignmentWork
		if !assign(demands, supplies, &work) || !assign(again, shuffled, &work) {
			t.Fatal("out of work")
		}
		if a, b := verdictOf(demands), verdictOf(again); a != b {
			t.Fatalf("not met: %q, in another order %q", a, b)
		}
	})
}

// TestStraightCountIsTheFlow: where every supply may count for one demand
// alone, the plain count is what the search finds.
func TestStraightCountIsTheFlow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		demands, supplies := drawAssignment(t, 1000)
		for i := range supplies {
			supplies[i].may = supplies[i].may[:1]
		}
		searched := append([]demand(nil), demands...)
		work := assignmentWork
		if !straight(demands, supplies) || !new(flow).solve(searched, supplies, &work) {
			t.Fatalf("no count of %+v", supplies)
		}
		if a, b := fmt.Sprint(demands), fmt.Sprint(searched); a != b {
			t.Fatalf("counted %s, searched %s\nsupplies %+v", a, b, supplies)
		}
	})
}

// TestStraightLeavesTheRest: one supply with a choice, and nothing is counted.
func TestStraightLeavesTheRest(t *testing.T) {
	t.Parallel()
	demands := make([]demand, 2)
	supplies := []supply{{units: 1, may: []int32{0}}, {units: 2, may: []int32{0, 1}}}
	if straight(demands, supplies) || demands[0].count != 0 {
		t.Errorf("straight counted %+v", demands)
	}
}

func TestAssignIsBounded(t *testing.T) {
	t.Parallel()
	const groups, lines = 30, 100
	build := func() ([]demand, []supply) {
		demands, supplies := make([]demand, groups), make([]supply, lines)
		for i := range demands {
			demands[i] = demand{min: int64(i * 7), max: int64(i*7 + 1)}
		}
		for i := range supplies {
			supplies[i].units = int64(1 + i*31%97)
			for d := range groups {
				if (d+i)%3 == 0 {
					supplies[i].may = append(supplies[i].may, int32(d))
				}
			}
		}
		return demands, supplies
	}
	demands, supplies := build()
	work := assignmentWork
	if !assign(demands, supplies, &work) || work < assignmentWork*3/4 {
		t.Errorf("100 lines that each stand in ten groups left %d steps of %d", work, assignmentWork)
	}
	work = 100
	if demands, supplies = build(); assign(demands, supplies, &work) {
		t.Error("a hundred steps were enough for 100 lines in ten groups each")
	}
}
