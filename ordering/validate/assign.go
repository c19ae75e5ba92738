package validate

import (
	"cmp"
	"math"
	"slices"
)

// groupSlot is one group with its limits. assign counts the items for it, for one unit of the dish.
type groupSlot struct {
	min, max int64 // max is noMaximum or at least 0
	count    int64 // the result of assign
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

// assign counts each selection for its eligible slots so that as many limits as possible are met
// (policy M4): the sum of missing and excess units is minimal. Among equal sums, an earlier slot is
// nearer to its limits than a later one, which makes the result deterministic. Each step reduces
// work. If work is used up, assign returns false and the counts are undefined.
//
// The counts of all assignments form an M-convex set, and the distance from the limits is convex in
// each count. Therefore an assignment that no single shift between two slots improves is optimal. A
// shift moves units from one slot to another, possibly through other slots.
func (f *assigner) assign(slots []groupSlot, selections []selection, work *int) bool {
	return assignUnambiguous(slots, selections) || f.search(slots, selections, work)
}

// search is assign without its fast path.
func (f *assigner) search(slots []groupSlot, selections []selection, work *int) bool {
	f.start(slots, selections, *work)
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

// assigner improves an assignment step by step. Its buffers are reused for the next assignment.
type assigner struct {
	slots        []groupSlot
	selections   []selection
	starts       []int32 // by selection: start in counts
	counts       []int64 // by selection and eligible slot: units counted for the slot
	edgesByGroup []int32 // by slot, and one more: start in edges
	edges        []edge  // by slot: its eligible selections
	order        []int32 // selections, fewest eligible slots first
	by           []hop   // by slot: the hop that reached it
	spread       []bool  // by selection: visited by the search
	queue        []int32
	work         int
}

// edge connects a slot with an eligible selection; counts[at] is its count.
type edge struct{ selection, at int32 }

// hop is one step of a search: it moves units of a selection from one slot to another.
type hop struct {
	from, selection int32
	seen            bool
}

// cleared returns n zero elements. It reuses before if its capacity suffices.
func cleared[T any](before []T, n int) []T {
	all := slices.Grow(before[:0], n)[:n]
	clear(all)
	return all
}

// start builds an initial assignment: each selection first fills slots below their minimum, in
// order, then slots below their maximum.
func (f *assigner) start(slots []groupSlot, selections []selection, work int) {
	f.slots, f.selections, f.work = slots, selections, work
	f.by, f.spread = cleared(f.by, len(slots)), cleared(f.spread, len(selections))
	f.build()
	slices.SortStableFunc(f.order, func(a, b int32) int {
		return cmp.Compare(len(selections[a].eligible), len(selections[b].eligible))
	})
	for _, s := range f.order {
		given, may, left := f.counts[f.starts[s]:], selections[s].eligible, selections[s].units
		give := func(k int, units int64) {
			units = min(units, left)
			given[k] += units
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
}

func (f *assigner) build() {
	f.starts, f.order = f.starts[:0], f.order[:0]
	f.edgesByGroup = cleared(f.edgesByGroup, len(f.slots)+1)
	total := int32(0)
	for s := range f.selections {
		f.starts, f.order = append(f.starts, total), append(f.order, int32(s))
		total += int32(len(f.selections[s].eligible))
		for _, d := range f.selections[s].eligible {
			f.edgesByGroup[d]++
		}
	}
	f.counts, f.edges = cleared(f.counts, int(total)), cleared(f.edges, int(total))
	end := int32(0)
	for d := range f.edgesByGroup { // counts become ends; filling backwards turns them into starts
		end += f.edgesByGroup[d]
		f.edgesByGroup[d] = end
	}
	for s, offered := range slices.Backward(f.selections) {
		for k, d := range offered.eligible {
			f.edgesByGroup[d]--
			at := f.starts[s] + int32(k)
			f.edges[f.edgesByGroup[d]] = edge{selection: int32(s), at: at}
		}
	}
}

func (f *assigner) hasUnmet() bool {
	return slices.ContainsFunc(f.slots, func(d groupSlot) bool { return d.distance() != 0 })
}

func (f *assigner) edgesOf(d int32) []edge { return f.edges[f.edgesByGroup[d]:f.edgesByGroup[d+1]] }

// countFor returns the count of a selection for an eligible slot.
func (f *assigner) countFor(s, d int32) *int64 {
	return &f.counts[int(f.starts[s])+slices.Index(f.selections[s].eligible, d)]
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
	clear(f.by)
	clear(f.spread)
	f.by[from].seen = true
	f.queue = append(f.queue[:0], from)
	for head := 0; head < len(f.queue) && f.work > 0; head++ {
		d := f.queue[head]
		lending := f.edgesOf(d)
		f.work -= len(lending)
		for _, l := range lending {
			if f.spread[l.selection] || f.counts[l.at] == 0 {
				continue
			}
			f.spread[l.selection] = true
			may := f.selections[l.selection].eligible
			f.work -= len(may)
			for _, to := range may {
				if !f.by[to].seen {
					f.by[to] = hop{from: d, selection: l.selection, seen: true}
					f.queue = append(f.queue, to)
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
