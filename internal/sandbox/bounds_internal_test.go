package sandbox

import (
	"strconv"
	"strings"
	"testing"
)

// TestUnusedChainsAreDropped shows that cached menus stay within their limit,
// and that a menu is the same after its eviction.
func TestUnusedChainsAreDropped(t *testing.T) {
	t.Parallel()
	box := New(Config{})
	box.SetGenerated(Generate{Restaurants: 10, Products: 20, ChainSize: 1})
	gen := box.menus.gen
	first := gen.chain(0)
	want := string(first.render("r", nil))
	keep := 3 * gen.chains.WeightedSize()
	gen.chains = newChains(keep)
	for n := range 10 {
		gen.chain(n)
		gen.chains.CleanUp()
		if got := gen.chains.WeightedSize(); got > keep || gen.chains.EstimatedSize() > 4 {
			t.Fatalf("after chain %d: %d bytes of %d in %d chains", n, got, keep, gen.chains.EstimatedSize())
		}
	}
	gen.chains = newChains(1)
	for range 2 {
		again := gen.chain(0)
		if again == first {
			t.Error("a chain without room is kept")
		}
		if got := string(again.render("r", nil)); got != want {
			t.Error("a chain made again differs")
		}
	}
}

// TestAssignmentMatchesEnumeration compares the search with an enumeration of
// all assignments.
func TestAssignmentMatchesEnumeration(t *testing.T) {
	t.Parallel()
	d := &rng{state: 42}
	for round := range 2000 {
		c := &menuModel{groupMembers: map[string][]string{}, groupNames: map[string]string{}}
		var chosen []selection
		var units []string
		for i := range d.between(1, 3) {
			p := selection{&item{id: "i" + strconv.Itoa(i)}, d.between(1, 3)}
			chosen = append(chosen, p)
			for range p.quantity {
				units = append(units, p.part.id)
			}
		}
		var slots []groupSlot
		for i := range d.between(1, 3) {
			group := "g" + strconv.Itoa(i)
			for _, p := range chosen {
				if i == 0 || d.n(2) == 0 { // group 0 takes everything, so that every selection has a group
					c.groupMembers[group] = append(c.groupMembers[group], p.part.id)
				}
			}
			low := d.n(3)
			slots = append(slots, groupSlot{group: group, min: low, max: pick(d, []int{-1, low, low + 1, low + 3})})
		}
		want := countable(c, slots, units, make([]int, len(slots)))
		if got := len(c.assignAll(slots, chosen)) == 0; got != want {
			t.Fatalf("round %d: %v of %v: %v, want %v", round, chosen, slots, got, want)
		}
	}
}

// countable assigns one unit after the other to every possible group.
func countable(c *menuModel, slots []groupSlot, units []string, counts []int) bool {
	if len(units) == 0 {
		for i, s := range slots {
			if counts[i] < s.min || (s.max >= 0 && counts[i] > s.max) {
				return false
			}
		}
		return true
	}
	for i, s := range slots {
		for _, id := range c.groupMembers[s.group] {
			if id != units[0] {
				continue
			}
			counts[i]++
			ok := countable(c, slots, units[1:], counts)
			counts[i]--
			if ok {
				return true
			}
		}
	}
	return false
}

// TestAssignmentIsBounded: an excessive search ends with a violation.
func TestAssignmentIsBounded(t *testing.T) {
	t.Parallel()
	c := &menuModel{groupMembers: map[string][]string{}, groupNames: map[string]string{}}
	var chosen []selection
	for i := range 12 {
		chosen = append(chosen, selection{&item{id: strconv.Itoa(i)}, 500})
	}
	var slots []groupSlot
	for i := range 8 {
		group := "g" + strconv.Itoa(i)
		for _, p := range chosen {
			c.groupMembers[group] = append(c.groupMembers[group], p.part.id)
		}
		slots = append(slots, groupSlot{group: group, min: 751, max: 900})
	}
	reasons := c.assignAll(slots, chosen)
	if len(reasons) != 1 || !strings.Contains(reasons[0], "too many ways") {
		t.Errorf("reasons %v, want too many ways", reasons)
	}
}

func TestMatchPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "/a", true},
		{"*", "/a/b", true},
		{"/a", "/a", true},
		{"/a", "/a/b", false},
		{"/a/*", "/a/b/c", true},
		{"/a/*", "/b/a/c", false},
		{"/o/*/pay", "/o/1/pay", true},
		{"/o/*/pay", "/o/1/complete", false},
		{"*/x/*/z", "/a/x/b/c/z", true},
		{"*/x/*/z", "/a/y/b/c/z", false},
		{"/aa*aa", "/aaa", false},
	} {
		if got := matchPattern(c.pattern, c.text); got != c.want {
			t.Errorf("matchPattern(%q, %q) = %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
}

func TestConfigSettings(t *testing.T) {
	t.Parallel()
	off := false
	got := New(Config{Settings: Settings{AutoAccept: &off, OrderIDs: OrderIDsNumber}}).settings.get()
	if *got.AutoAccept || got.OrderIDs != OrderIDsNumber || got.Spelling != SpellingID || !*got.RejectionReasons {
		t.Errorf("settings %+v", got)
	}
	if got := New(Config{Settings: Settings{Spelling: "nonsense"}}).settings.get(); got.Spelling != SpellingID {
		t.Errorf("spelling %q, want the default", got.Spelling)
	}
}
