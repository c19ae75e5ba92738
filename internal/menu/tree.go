package menu

import (
	"slices"
	"strings"
)

// compileCategories keeps the first definition of each category, makes those with an unknown parent
// roots, cuts each cycle at its first member in the order of the view (policy W10), and puts
// parents before children: roots in the order of the view, each followed by its descendants.
func (c *Content) compileCategories(all []Category) {
	kept, ids := unique(all, func(c *Category) string { return c.ID })
	parents := make([]Index, len(kept))
	for i := range kept {
		parent, ok := ids[kept[i].ParentID]
		if !ok || int(parent) == i {
			parent = None
		}
		parents[i] = parent
	}
	cutCycles(parents)

	children := make([][]int, len(kept))
	var roots []int
	for i, parent := range parents {
		if parent == None {
			roots = append(roots, i)
			continue
		}
		children[parent] = append(children[parent], i)
	}
	places := make([]Index, len(kept))
	c.categories = make([]Category, 0, len(kept))
	c.categoryIDs = newIndex(len(kept))
	stack := make([]int, 0, len(kept))
	for _, root := range slices.Backward(roots) {
		stack = append(stack, root)
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		places[i] = Index(len(c.categories))
		category := Category{ID: strings.Clone(kept[i].ID), Name: strings.Clone(kept[i].Name)}
		if parents[i] != None { // it comes before its children
			category.ParentID = c.categories[places[parents[i]]].ID
		}
		c.categoryIDs.put(category.ID, places[i])
		c.categories = append(c.categories, category)
		for _, child := range slices.Backward(children[i]) {
			stack = append(stack, child)
		}
	}
}

// The states of a category in the search for cycles.
const (
	unseen = iota
	open
	done
)

// cutCycles makes the first member of each cycle a root and returns these members.
func cutCycles(parents []Index) []Index {
	var cut []Index
	state := make([]uint8, len(parents))
	for start := range parents {
		var path []Index
		i := Index(start)
		for i != None && state[i] == unseen {
			state[i] = open
			path = append(path, i)
			i = parents[i]
		}
		if i != None && state[i] == open {
			first := i
			for k := parents[i]; k != i; k = parents[k] {
				first = min(first, k)
			}
			parents[first] = None
			cut = append(cut, first)
		}
		for _, k := range path {
			state[k] = done
		}
	}
	return cut
}
