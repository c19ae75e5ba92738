package validate

import (
	"cmp"
	"math"
	"slices"

	"larder.local/internal/menu"
)

// groupSlot is one group that applies to a list of ingredients, with its limits. assign counts the items for it, for
// one unit of the dish.
type groupSlot struct {
	min, max int64 // max is noMaximum or at least 0
	count    int64 // the result of assign

	group   menu.Index
	scheme  int  // index in groupTable.schemes
	unknown bool // a quantity in it is not known, so it is not checked
}

// noMaximum is the max of a slot without an upper limit.
const noMaximum = -1

// distance returns how far the count is outside the limits: missing + excess.
func (d *groupSlot) distance() int64 { return d.distanceAt(d.count) }

func (d *groupSlot) distanceAt(count int64) int64 {
	off := max(d.min-count, 0)
	if d.max != noMaximum {
		off += max(count-d.max, 0)
	}
	return off
}

// costOfRemove and costOfAdd return the change of the distance if the count falls or rises by one.
func (d *groupSlot) costOfRemove() int64 { return d.distanceAt(d.count-1) - d.distance() }
func (d *groupSlot) costOfAdd() int64    { return d.distanceAt(d.count+1) - d.distance() }

// removable and addable return how many units can leave or enter at the same cost each, that is, up to the next limit.
func (d *groupSlot) removable() int64 {
	units := d.count
	for _, limit := range [...]int64{d.min, d.max} {
		if limit != noMaximum && limit < d.count {
			units = min(units, d.count-limit)
		}
	}
	return units
}

func (d *groupSlot) addable() int64 {
	units := int64(math.MaxInt64)
	for _, limit := range [...]int64{d.min, d.max} {
		if limit > d.count {
			units = min(units, limit-d.count)
		}
	}
	return units
}

// selection is a quantity of one ingredient with its eligible slots in menu order, at least one.
type selection struct {
	units    int64
	eligible []int32
}

// workLimit limits what one order costs. It counts the steps of the search, of finding each ingredient's groups, and of
// finding which of several items with one identifier is meant. 100 ingredients that are each in ten groups take about a
// tenth of it.
const workLimit = 2_000_000

// lookup is how many steps of the search cost as much as the look-up of one item in one group.
const lookup = 4

// assign counts each selection for its eligible slots so that as many limits as possible are met
// (policy M4): the sum of missing and excess units is minimal. Among equal sums, an earlier slot is
// nearer to its limits than a later one, which makes the result deterministic. Each step reduces
// work. If work is used up, assign returns false and the counts are undefined.
//
// The counts of all assignments form an M-convex set, and the distance from the limits is convex in
// each count. Therefore an assignment that no single shift between two slots improves is optimal. A
// shift moves units from one slot to another, possibly through other slots.
func assign(slots []groupSlot, selections []selection, work *int) bool {
	return assignUnambiguous(slots, selections) || search(slots, selections, work)
}

// search is assign without its fast path.
func search(slots []groupSlot, selections []selection, work *int) bool {
	f := newAssigner(slots, selections, *work)
	for better := f.hasUnmet(); better; {
		better = false
		for from := range slots {
			for f.improve(from) {
				better = true
			}
		}
	}
	*work = f.work
	return f.work > 0
}

// assignUnambiguous counts selections that each have only one eligible slot (policies M1 and M3).
// If a selection has more, it counts nothing and returns false.
func assignUnambiguous(slots []groupSlot, selections []selection) bool {
	for i := range selections {
		if len(selections[i].eligible) != 1 {
			return false
		}
	}
	for i := range selections {
		slots[selections[i].eligible[0]].count += selections[i].units
	}
	return true
}

// assigner improves an assignment step by step.
type assigner struct {
	slots      []groupSlot
	selections []selection
	counts     [][]int64 // by selection and eligible slot: units counted for the slot
	edges      [][]edge  // by slot: its eligible selections
	by         []hop     // by slot: the hop that reached it
	work       int
}

// edge connects a slot with a selection, which has it at an index of its eligible slots.
type edge struct{ selection, at int32 }

// hop is one step of a search: it moves units of a selection from one slot to another.
type hop struct {
	from, selection int32
	seen            bool
}

// newAssigner builds an initial assignment: each selection first fills slots below their minimum, in
// order, then slots below their maximum. Selections with the fewest eligible slots come first.
func newAssigner(slots []groupSlot, selections []selection, work int) *assigner {
	f := &assigner{slots: slots, selections: selections, work: work, edges: make([][]edge, len(slots))}
	order := make([]int, len(selections))
	for s := range selections {
		order[s] = s
		f.counts = append(f.counts, make([]int64, len(selections[s].eligible)))
		for k, d := range selections[s].eligible {
			f.edges[d] = append(f.edges[d], edge{selection: int32(s), at: int32(k)})
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(selections[a].eligible), len(selections[b].eligible))
	})
	for _, s := range order {
		may, left := selections[s].eligible, selections[s].units
		give := func(k int, units int64) {
			units = min(units, left)
			f.counts[s][k] += units
			slots[may[k]].count += units
			left -= units
		}
		for k, d := range may {
			give(k, max(slots[d].min-slots[d].count, 0))
		}
		for k, d := range may {
			if slots[d].max == noMaximum {
				give(k, left)
			} else {
				give(k, max(slots[d].max-slots[d].count, 0))
			}
		}
		give(0, left)
	}
	return f
}

func (f *assigner) hasUnmet() bool {
	return slices.ContainsFunc(f.slots, func(d groupSlot) bool { return d.distance() != 0 })
}

// countFor returns the count of a selection for an eligible slot.
func (f *assigner) countFor(s, d int32) *int64 {
	return &f.counts[s][slices.Index(f.selections[s].eligible, d)]
}

// improve shifts units from one slot to another if that improves the assignment. It returns false
// if no such shift starts here or the work is used up.
func (f *assigner) improve(from int) bool {
	if f.work <= 0 || f.slots[from].count == 0 || !f.mayGain(from) {
		return false
	}
	f.findPaths(int32(from))
	best, gain := -1, int64(0)
	for to := range f.slots {
		if to == from || !f.by[to].seen {
			continue
		}
		if g := f.gain(from, to); g > gain {
			best, gain = to, g
		}
	}
	if best < 0 || f.work <= 0 {
		return false
	}
	f.shift(int32(from), int32(best))
	return true
}

// mayGain reports whether any shift from here could improve the assignment, regardless of paths.
func (f *assigner) mayGain(from int) bool {
	f.work -= len(f.slots)
	for to := range f.slots {
		if to != from && f.gain(from, to) > 0 {
			return true
		}
	}
	return false
}

// gain returns how much a shift of one unit improves the assignment: 2 or 4 for each unit of
// distance less, 1 for the same distance with an earlier slot nearer to its limits, otherwise 0.
func (f *assigner) gain(from, to int) int64 {
	leave, enter := f.slots[from].costOfRemove(), f.slots[to].costOfAdd()
	switch sum := leave + enter; {
	case sum < 0:
		return -2 * sum
	case sum > 0 || leave == 0:
		return 0
	case leave < 0 && from < to, enter < 0 && to < from:
		return 1
	default:
		return 0
	}
}

// findPaths finds all slots that units can be shifted to, with the fewest hops.
func (f *assigner) findPaths(from int32) {
	f.by = make([]hop, len(f.slots))
	f.by[from].seen = true
	visited := make([]bool, len(f.selections))
	queue := []int32{from}
	for head := 0; head < len(queue) && f.work > 0; head++ {
		d := queue[head]
		f.work -= len(f.edges[d])
		for _, e := range f.edges[d] {
			if visited[e.selection] || f.counts[e.selection][e.at] == 0 {
				continue
			}
			visited[e.selection] = true
			may := f.selections[e.selection].eligible
			f.work -= len(may)
			for _, to := range may {
				if !f.by[to].seen {
					f.by[to] = hop{from: d, selection: e.selection, seen: true}
					queue = append(queue, to)
				}
			}
		}
	}
}

// shift moves as many units as the path allows with equal gain for each unit.
func (f *assigner) shift(from, to int32) {
	units := min(f.slots[from].removable(), f.slots[to].addable())
	for at := to; at != from; at = f.by[at].from {
		h := f.by[at]
		units = min(units, *f.countFor(h.selection, h.from))
	}
	for at := to; at != from; at = f.by[at].from {
		h := f.by[at]
		*f.countFor(h.selection, h.from) -= units
		*f.countFor(h.selection, at) += units
	}
	f.slots[from].count -= units
	f.slots[to].count += units
}
