package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	maxDepth = 6       // of nested schemes (policy W15)
	maxSteps = 1 << 17 // of the search for one dish
)

// groupSlot is a group of an open scheme, to which ingredients can be assigned. A negative max is no limit.
type groupSlot struct {
	group    string
	min, max int
	path     []string // schemes from the dish down to this one
}

// selection is an ingredient of one dish with its total quantity.
type selection struct {
	part     *item
	quantity int
}

// openGroupSlots returns the groups of a dish's scheme and of every chosen ingredient with a
// scheme, once and multiplied by its quantity (policy M5, the flat form).
func (c *menuModel) openGroupSlots(d *item, chosen []selection) []groupSlot {
	var slots []groupSlot
	open := func(scheme string, times int, path []string) {
		path = append(slices.Clone(path), scheme)
		for _, l := range c.schemes[scheme] {
			slots = append(slots, groupSlot{group: l.group, min: l.min * times, max: l.max * times, path: path})
		}
	}
	open(d.scheme, 1, nil)
	opened := make([]bool, len(chosen))
	for i := 0; i < len(slots); i++ { // slots grows
		for k, p := range chosen {
			if opened[k] || p.part.scheme == "" || !slices.Contains(c.groupMembers[slots[i].group], p.part.id) {
				continue
			}
			if slices.Contains(slots[i].path, p.part.scheme) || len(slots[i].path) >= maxDepth {
				continue // a cycle of schemes ends here (policy W10)
			}
			opened[k] = true
			open(p.part.scheme, p.quantity, slots[i].path)
		}
	}
	return slots
}

// takes reports whether the part belongs to the group of any slot.
func (c *menuModel) takes(slots []groupSlot, part *item) bool {
	return slices.ContainsFunc(slots, func(st groupSlot) bool { return slices.Contains(c.groupMembers[st.group], part.id) })
}

// assignment searches for the best assignment of selections to groups.
type assignment struct {
	slots   []groupSlot
	options [][]int // of each selection: indexes of slots that accept it
	amounts []int
	counts  []int
	best    int // the smallest sum of missing and excess quantities, -1 if none is known
	filled  []int
	seen    map[string]int
	steps   int
}

// assignAll returns nil if an assignment satisfies every minimum and maximum, otherwise the
// violations of the closest assignment. Each selection must have a group that accepts it.
func (c *menuModel) assignAll(slots []groupSlot, chosen []selection) []string {
	s := &assignment{
		slots:  slots,
		counts: make([]int, len(slots)),
		best:   -1,
		seen:   map[string]int{},
	}
	for _, p := range chosen {
		var options []int
		for i, st := range slots {
			if slices.Contains(c.groupMembers[st.group], p.part.id) {
				options = append(options, i)
			}
		}
		s.options = append(s.options, options)
		s.amounts = append(s.amounts, p.quantity)
	}
	s.assign(0)
	if s.best == 0 {
		return nil
	}
	if s.steps > maxSteps {
		return []string{"too many ways to assign the ingredients to groups"}
	}
	var wrong []string
	for i, st := range slots {
		name := c.groupNames[st.group]
		switch n := s.filled[i]; {
		case n < st.min:
			wrong = append(wrong, fmt.Sprintf("too few of group %s (%s): %d, at least %d", st.group, name, n, st.min))
		case st.max >= 0 && n > st.max:
			wrong = append(wrong, fmt.Sprintf("too many of group %s (%s): %d, at most %d", st.group, name, n, st.max))
		}
	}
	return wrong
}

// assign assigns the selections from the i-th on.
func (s *assignment) assign(i int) {
	if s.best == 0 || s.steps > maxSteps {
		return
	}
	s.steps++
	if i == len(s.options) {
		if cost := s.cost(true); s.best < 0 || cost < s.best {
			s.best, s.filled = cost, slices.Clone(s.counts)
		}
		return
	}
	cost := s.cost(false)
	key := s.key(i)
	if before, known := s.seen[key]; (known && before <= cost) || (s.best >= 0 && cost >= s.best) {
		return
	}
	s.seen[key] = cost
	s.split(i, 0, s.amounts[i])
}

// split tries every number of the i-th selection for its k-th option, and assigns the rest to the options after it.
func (s *assignment) split(i, k, left int) {
	if k == len(s.options[i])-1 {
		s.counts[s.options[i][k]] += left
		s.assign(i + 1)
		s.counts[s.options[i][k]] -= left
		return
	}
	for n := left; n >= 0 && s.best != 0 && s.steps <= maxSteps; n-- {
		s.counts[s.options[i][k]] += n
		s.split(i, k+1, left-n)
		s.counts[s.options[i][k]] -= n
	}
}

// cost is the quantity above the maxima and, at the end, below the minima.
func (s *assignment) cost(end bool) int {
	cost := 0
	for i, st := range s.slots {
		if st.max >= 0 {
			cost += max(s.counts[i]-st.max, 0)
		}
		if end {
			cost += max(st.min-s.counts[i], 0)
		}
	}
	return cost
}

// key identifies a state of the search. Excess counts share a state.
func (s *assignment) key(i int) string {
	key := binary.AppendVarint(nil, int64(i))
	for k, st := range s.slots {
		key = binary.AppendVarint(key, int64(min(s.counts[k], max(st.min, st.max))))
	}
	return string(key)
}
