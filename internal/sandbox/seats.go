package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	maxDepth = 6       // of schemes within schemes (policy W15)
	maxSteps = 1 << 17 // of trying assignments for one dish
)

// seat is one group of one opened scheme: a place that ordered ingredients
// count for. max < 0: no upper limit.
type seat struct {
	group    string
	min, max int
	path     []string // schemes from the dish down to this one
}

// portion is an ingredient of one dish with its whole quantity.
type portion struct {
	part     *item
	quantity int
}

// openSeats lists the groups that count for a dish: those of its own scheme,
// and those of every chosen ingredient that has one, once and multiplied by
// its quantity (policy M5, the flat form).
func (c *carte) openSeats(d *item, chosen []portion) []seat {
	var seats []seat
	open := func(scheme string, times int, path []string) {
		path = append(slices.Clone(path), scheme)
		for _, l := range c.schemes[scheme] {
			seats = append(seats, seat{group: l.group, min: l.min * times, max: l.max * times, path: path})
		}
	}
	open(d.scheme, 1, nil)
	opened := make([]bool, len(chosen))
	for i := 0; i < len(seats); i++ { // seats grows while we walk
		for k, p := range chosen {
			if opened[k] || p.part.scheme == "" || !slices.Contains(c.groupMembers[seats[i].group], p.part.id) {
				continue
			}
			if slices.Contains(seats[i].path, p.part.scheme) || len(seats[i].path) >= maxDepth {
				continue // a circle of schemes is cut where it closes (policy W10)
			}
			opened[k] = true
			open(p.part.scheme, p.quantity, seats[i].path)
		}
	}
	return seats
}

// seating tries every way of counting portions for seats.
type seating struct {
	seats   []seat
	options [][]int // of each portion: indexes of seats that take it
	amounts []int
	counts  []int
	best    int // least Σ (missing + excess) so far, -1 = none yet
	filled  []int
	seen    map[string]int
	steps   int
}

// seatAll says what is wrong with the quantities: nothing when some way of
// counting meets every minimum and maximum, otherwise the groups of the way
// that comes closest. The portions must each have a seat.
func (c *carte) seatAll(seats []seat, chosen []portion) []string {
	s := &seating{seats: seats, counts: make([]int, len(seats)), best: -1, seen: map[string]int{}}
	for _, p := range chosen {
		var options []int
		for i, st := range seats {
			if slices.Contains(c.groupMembers[st.group], p.part.id) {
				options = append(options, i)
			}
		}
		s.options = append(s.options, options)
		s.amounts = append(s.amounts, p.quantity)
	}
	s.portion(0)
	if s.best == 0 {
		return nil
	}
	if s.steps > maxSteps {
		return []string{"too many ways to assign the ingredients to groups"}
	}
	var wrong []string
	for i, st := range seats {
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

// portion places the i-th portion and all after it.
func (s *seating) portion(i int) {
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

// split tries every number of the i-th portion for its k-th option, and what
// is left for the options after it.
func (s *seating) split(i, k, left int) {
	if k == len(s.options[i])-1 {
		s.counts[s.options[i][k]] += left
		s.portion(i + 1)
		s.counts[s.options[i][k]] -= left
		return
	}
	for n := left; n >= 0 && s.best != 0 && s.steps <= maxSteps; n-- {
		s.counts[s.options[i][k]] += n
		s.split(i, k+1, left-n)
		s.counts[s.options[i][k]] -= n
	}
}

// cost is what stands above the maxima and, at the end, below the minima.
func (s *seating) cost(end bool) int {
	cost := 0
	for i, st := range s.seats {
		if st.max >= 0 {
			cost += max(s.counts[i]-st.max, 0)
		}
		if end {
			cost += max(st.min-s.counts[i], 0)
		}
	}
	return cost
}

// key names a state of the search: counts beyond what matters are alike.
func (s *seating) key(i int) string {
	key := binary.AppendVarint(nil, int64(i))
	for k, st := range s.seats {
		key = binary.AppendVarint(key, int64(min(s.counts[k], max(st.min, st.max))))
	}
	return string(key)
}
