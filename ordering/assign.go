package ordering

import (
	"cmp"
	"math"
	"slices"
)

// demand is one group and its limits: how many items of it are to be counted,
// for one unit of the dish.
type demand struct {
	min, max int64 // max is noMaximum or at least 0
	count    int64 // the answer of assign
}

// noMaximum is a demand's max without an upper limit.
const noMaximum = -1

// off is how far the count is outside the limits: missing + excess.
func (d *demand) off() int64 { return d.offAt(d.count) }

func (d *demand) offAt(count int64) int64 {
	off := max(d.min-count, 0)
	if d.max != noMaximum {
		off += max(count-d.max, 0)
	}
	return off
}

// leaving and entering are by how much off changes when the count falls, or
// rises, by one.
func (d *demand) leaving() int64  { return d.offAt(d.count-1) - d.off() }
func (d *demand) entering() int64 { return d.offAt(d.count+1) - d.off() }

// fall and rise are how many units can leave, or enter, at the same gain: up to
// the next of the limits, where off begins to change otherwise.
func (d *demand) fall() int64 {
	units := d.count
	for _, limit := range [...]int64{d.min, d.max} {
		if limit != noMaximum && limit < d.count {
			units = min(units, d.count-limit)
		}
	}
	return units
}

func (d *demand) rise() int64 {
	units := int64(math.MaxInt64)
	for _, limit := range [...]int64{d.min, d.max} {
		if limit > d.count {
			units = min(units, limit-d.count)
		}
	}
	return units
}

// supply is a quantity of one ingredient and the demands that it may count
// for, in order, at least one.
type supply struct {
	units int64
	may   []int32
}

// assignmentWork bounds the assignments of one order, in steps of their search
// and of looking for each list's ingredients in its groups.
// 100 ingredients that each stand in ten groups take about a tenth of it.
const assignmentWork = 2_000_000

// assign counts each supply for the demands that it may count for, so that as
// many limits as possible are met (policy M4): the sum of what is missing and
// what is in excess is the least there is, and among equals an earlier demand
// is nearer to its limits than a later one. That makes the counts of the
// demands that are not met the same every time. It takes its steps off work;
// false when they were not enough, and the counts mean nothing then.
//
// The counts that assignments can give form an M-convex set and the distance
// from the limits is convex in each of them, so an assignment that no single
// shift between two demands makes better is the best of all. A shift moves
// units from one demand to another, by way of others where need be.
func (f *flow) assign(demands []demand, supplies []supply, work *int) bool {
	return straight(demands, supplies) || f.solve(demands, supplies, work)
}

// solve is assign without its fast path.
func (f *flow) solve(demands []demand, supplies []supply, work *int) bool {
	f.begin(demands, supplies, *work)
	for better := f.anyOff(); better; {
		better = false
		for from := range demands {
			for f.improve(from) {
				better = true
			}
		}
	}
	*work = f.work
	return f.work > 0
}

// straight is the plain count where every supply may count for one demand alone
// (policies M1 and M3); false, with nothing counted, where one may not.
func straight(demands []demand, supplies []supply) bool {
	for i := range supplies {
		if len(supplies[i].may) != 1 {
			return false
		}
	}
	for i := range supplies {
		demands[supplies[i].may[0]].count += supplies[i].units
	}
	return true
}

// flow is an assignment being made better. Its room is used for one assignment
// after the other.
type flow struct {
	demands  []demand
	supplies []supply
	starts   []int32 // by supply: where its part of given begins
	given    []int64 // of each supply, beside its may: units counted for that demand
	lenders  []int32 // by demand, and one more: where its part of loans begins
	loans    []loan  // of each demand: the supplies that may count for it
	order    []int32 // supplies, those with the least choice first
	by       []hop   // by demand: how the search came to it
	spread   []bool  // by supply: the search has been through it
	queue    []int32
	work     int
}

// loan is a supply that may count for a demand, whose place in given is at.
type loan struct{ supply, at int32 }

// hop is one step of a search: units of a supply go from one demand on to
// another.
type hop struct {
	from, supply int32
	seen         bool
}

// cleared gives n empty elements, in the room of before where it has it.
func cleared[T any](before []T, n int) []T {
	all := slices.Grow(before[:0], n)[:n]
	clear(all)
	return all
}

// begin counts each supply where something is missing, first demands first, and
// the rest where there is room.
func (f *flow) begin(demands []demand, supplies []supply, work int) {
	f.demands, f.supplies, f.work = demands, supplies, work
	f.by, f.spread = cleared(f.by, len(demands)), cleared(f.spread, len(supplies))
	f.lay()
	slices.SortStableFunc(f.order, func(a, b int32) int { return cmp.Compare(len(supplies[a].may), len(supplies[b].may)) })
	for _, s := range f.order {
		given, may, left := f.given[f.starts[s]:], supplies[s].may, supplies[s].units
		give := func(k int, units int64) {
			units = min(units, left)
			given[k] += units
			demands[may[k]].count += units
			left -= units
		}
		for k, d := range may {
			give(k, max(demands[d].min-demands[d].count, 0))
		}
		for k, d := range may {
			if demands[d].max == noMaximum {
				give(k, left)
			} else {
				give(k, max(demands[d].max-demands[d].count, 0))
			}
		}
		give(0, left)
	}
}

// lay lays out the tables of supplies and of demands.
func (f *flow) lay() {
	f.starts, f.order = f.starts[:0], f.order[:0]
	f.lenders = cleared(f.lenders, len(f.demands)+1)
	total := int32(0)
	for s := range f.supplies {
		f.starts, f.order = append(f.starts, total), append(f.order, int32(s))
		total += int32(len(f.supplies[s].may)) //nolint:gosec // bounded by the menu's schemes
		for _, d := range f.supplies[s].may {
			f.lenders[d]++
		}
	}
	f.given, f.loans = cleared(f.given, int(total)), cleared(f.loans, int(total))
	end := int32(0)
	for d := range f.lenders { // counts become ends, and filling from behind makes them beginnings
		end += f.lenders[d]
		f.lenders[d] = end
	}
	for s, offered := range slices.Backward(f.supplies) {
		for k, d := range offered.may {
			f.lenders[d]--
			f.loans[f.lenders[d]] = loan{supply: int32(s), at: f.starts[s] + int32(k)} //nolint:gosec // bounded by the menu's schemes
		}
	}
}

// anyOff tells whether a limit is not met.
func (f *flow) anyOff() bool {
	return slices.ContainsFunc(f.demands, func(d demand) bool { return d.off() != 0 })
}

// lending are the supplies that may count for a demand.
func (f *flow) lending(d int32) []loan { return f.loans[f.lenders[d]:f.lenders[d+1]] }

// share gives what a supply counts for a demand that it may count for.
func (f *flow) share(s, d int32) *int64 {
	return &f.given[int(f.starts[s])+slices.Index(f.supplies[s].may, d)]
}

// improve shifts units from one demand to another so that the counts come
// nearer to the limits; false when no such shift begins here, or no work is
// left.
func (f *flow) improve(from int) bool {
	if f.work <= 0 || f.demands[from].count == 0 || !f.mayGain(from) {
		return false
	}
	f.search(int32(from)) //nolint:gosec // bounded by the menu's schemes
	best, gain := -1, int64(0)
	for to := range f.demands {
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
	f.shift(int32(from), int32(best)) //nolint:gosec // bounded by the menu's schemes
	return true
}

// mayGain tells whether a shift from here could better anything, were there a
// way.
func (f *flow) mayGain(from int) bool {
	f.work -= len(f.demands)
	for to := range f.demands {
		if to != from && f.gain(from, to) > 0 {
			return true
		}
	}
	return false
}

// gain tells how much a shift of one unit betters the assignment: 2 or 4 for
// each unit nearer to the limits in sum, 1 for the same sum with an earlier
// demand nearer and a later one farther, 0 for none.
func (f *flow) gain(from, to int) int64 {
	leave, enter := f.demands[from].leaving(), f.demands[to].entering()
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

// search finds every demand that units can be shifted to, by the fewest hops.
func (f *flow) search(from int32) {
	clear(f.by)
	clear(f.spread)
	f.by[from].seen = true
	f.queue = append(f.queue[:0], from)
	for head := 0; head < len(f.queue) && f.work > 0; head++ {
		d := f.queue[head]
		lending := f.lending(d)
		f.work -= len(lending)
		for _, l := range lending {
			if f.spread[l.supply] || f.given[l.at] == 0 {
				continue
			}
			f.spread[l.supply] = true
			may := f.supplies[l.supply].may
			f.work -= len(may)
			for _, to := range may {
				if !f.by[to].seen {
					f.by[to] = hop{from: d, supply: l.supply, seen: true}
					f.queue = append(f.queue, to)
				}
			}
		}
	}
}

// shift moves as many units as the way allows and as each of them gains the
// same.
func (f *flow) shift(from, to int32) {
	units := min(f.demands[from].fall(), f.demands[to].rise())
	for at := to; at != from; at = f.by[at].from {
		h := f.by[at]
		units = min(units, *f.share(h.supply, h.from))
	}
	for at := to; at != from; at = f.by[at].from {
		h := f.by[at]
		*f.share(h.supply, h.from) -= units
		*f.share(h.supply, at) += units
	}
	f.demands[from].count -= units
	f.demands[to].count += units
}
