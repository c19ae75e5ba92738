package menu

import "slices"

// unsatisfiable returns the schemes with groups that no choice can satisfy (policy M9), and these
// groups: the minimum is positive and no member can be chosen, or the maximum is below the minimum.
// The excluded ingredients cannot be chosen. A member with its own scheme counts if that scheme can
// be satisfied; beyond the depth limit, and therefore in a cycle, it always counts.
func (c *Content) unsatisfiable(excluded flags) map[Index][]Index {
	var failing map[Index][]Index
	satisfied := make([]bool, len(c.schemes)) // of the level below
	for s := range satisfied {
		satisfied[s] = true
	}
	next := make([]bool, len(c.schemes))
	for range c.settings.MaxDepth {
		changed := false
		failing = map[Index][]Index{}
		for s := range c.schemes {
			var groups []Index
			for _, limit := range c.Limits(Index(s)) {
				if !c.satisfiable(limit, excluded, satisfied) {
					groups = append(groups, limit.Group)
				}
			}
			if len(groups) > 0 {
				failing[Index(s)] = groups
			}
			next[s] = len(groups) == 0
			changed = changed || next[s] != satisfied[s]
		}
		if !changed {
			break
		}
		satisfied, next = next, satisfied
	}
	return failing
}

// schemesTooDeep returns the schemes that a dish cannot have, because their required groups need more levels of modifiers
// than the depth limit (policy M12). A scheme that can only be completed by containing itself is not one of them: an
// order ends there (policy M5).
func (c *Content) schemesTooDeep(excluded flags) map[Index]bool {
	if !slices.ContainsFunc(c.ingredientScheme, func(s Index) bool { return s != None }) {
		return nil
	}
	deep, fits := map[Index]bool{}, make([]bool, len(c.schemes)) // fits: within the level
	const maxPasses = 100                                        // limits the work
	for level, changed := 0, true; changed && level <= maxPasses; level++ {
		below := fits // beyond the depth limit, one pass in each direction may find many levels
		if level <= c.settings.MaxDepth {
			below = slices.Clone(fits)
		}
		changed = level == 0
		for s := range fits {
			if level%2 == 1 {
				s = len(fits) - 1 - s
			}
			if fits[s] || slices.ContainsFunc(c.Limits(Index(s)), func(limit Limit) bool {
				return limit.Min > 0 && (level == 0 || !c.satisfiable(limit, excluded, below))
			}) {
				continue
			}
			if fits[s], changed = true, true; level > c.settings.MaxDepth {
				deep[Index(s)] = true
			}
		}
	}
	return deep
}

func (c *Content) satisfiable(limit Limit, excluded flags, satisfied []bool) bool {
	if limit.Min == 0 {
		return true
	}
	if limit.Max != Unlimited && limit.Max < limit.Min {
		return false
	}
	for _, member := range c.Members(limit.Group) {
		if excluded.has(member) {
			continue
		}
		if s := c.ingredientScheme[member]; s == None || satisfied[s] {
			return true
		}
	}
	return false
}
