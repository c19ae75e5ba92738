package menu

import (
	"slices"
	"strings"
)

// Query selects dishes for a list of products.
type Query struct {
	Category      string // id of a category; includes its descendants; empty for all
	Text          string // words that a dish must all have; only the first 8 distinct ones count
	AvailableOnly bool
	IDs           []string // ids of dishes; nil for all. Unknown ids find nothing
	After         Index    // the last dish of the previous page, or None
	Limit         int      // maximum number of hits; 0 or less for all
}

// Search returns the dishes that match the query in the order of the view, and the last hit if
// there are more (otherwise None), to pass as After for the next page. A dish matches a word that
// is part of its name, its description, the name of one of its categories, or the name of an
// option. A word with five or more letters that matches no dish may have one wrong letter. After
// the first search of a content: O(words × distinct words of the content + products).
func (c *Catalogue) Search(q Query) (hits []Index, next Index) {
	within := newFlags(len(c.categories))
	if root, ok := c.categoryByID(q.Category); ok {
		within.set(root)
	}
	within = c.withDescendants(within)
	words := DistinctWords(foldText(q.Text, " "))
	for i := range words {
		words[i] = trimWord(words[i])
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if len(words) == 0 && strings.TrimSpace(q.Text) != "" {
		return nil, None
	}
	var found []flags
	for _, word := range words {
		found = append(found, c.dishesWith(word))
	}
	if q.IDs != nil {
		named := newFlags(c.products.Len())
		for _, id := range q.IDs {
			if p, ok := c.products.ByID(id); ok {
				named.set(p)
			}
		}
		found = append(found, named)
	}
	for p := max(q.After+1, 0); int(p) < c.products.Len(); p++ {
		if q.Category != "" && !slices.ContainsFunc(c.CategoriesOf(p), within.has) {
			continue
		}
		if q.AvailableOnly && c.stopped.has(p) {
			continue
		}
		if slices.ContainsFunc(found, func(dishes flags) bool { return !dishes.has(p) }) {
			continue
		}
		if q.Limit > 0 && len(hits) == q.Limit {
			return hits, hits[len(hits)-1]
		}
		hits = append(hits, p)
	}
	return hits, None
}

// maxSearchWords is the maximum number of distinct words in a search (policy H7).
const maxSearchWords = 8

// DistinctWords returns the first 8 distinct words of a text.
func DistinctWords(text string) []string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if len(words) == maxSearchWords {
			break
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// withDescendants adds the descendants of the set categories.
func (c *Content) withDescendants(categories flags) flags {
	for i := range c.categories { // parents come before their children
		if parent, ok := c.categoryByID(c.categories[i].ParentID); ok && categories.has(parent) {
			categories.set(Index(i))
		}
	}
	return categories
}

// dishesWith returns the dishes that contain the word or, if there are none, a word that differs in one letter.
func (c *Content) dishesWith(word string) flags {
	index := c.searchWords()
	places := newFlags(c.products.Len() + len(c.categories) + c.ingredients.Len())
	index.contain(word, places)
	dishes, found := c.dishesAt(places)
	if found {
		return dishes
	}
	clear(places)
	index.resemble(word, places)
	dishes, _ = c.dishesAt(places)
	return dishes
}

// dishesAt returns the dishes at the given places of a searchIndex, in a category at one of them,
// or that offer an ingredient at one of them.
func (c *Content) dishesAt(places flags) (dishes flags, found bool) {
	categories := newFlags(len(c.categories))
	for i := range c.categories {
		if places.has(Index(c.products.Len() + i)) {
			categories.set(Index(i))
		}
	}
	c.withDescendants(categories)
	schemes := c.schemesOffering(func(i Index) bool {
		return places.has(Index(c.products.Len()+len(c.categories)) + i)
	})
	dishes = newFlags(c.products.Len())
	for i := range c.products.Len() {
		p := Index(i)
		s := c.productScheme[p]
		if places.has(p) || s != None && schemes.has(s) || slices.ContainsFunc(c.CategoriesOf(p), categories.has) {
			dishes.set(p)
			found = true
		}
	}
	return dishes, found
}

// schemesOffering returns the schemes in which one of the ingredients can be chosen, directly or
// nested, down to the depth limit.
func (c *Content) schemesOffering(wanted func(ingredient Index) bool) flags {
	groups, schemes := newFlags(len(c.groups)), newFlags(len(c.schemes))
	for range c.settings.MaxDepth {
		for i := range c.ingredients.Len() {
			inner := c.ingredientScheme[i]
			if !wanted(Index(i)) && (inner == None || !schemes.has(inner)) {
				continue
			}
			for _, g := range c.GroupsOf(Index(i)) {
				groups.set(g)
			}
		}
		changed := false
		for i := range c.schemes {
			s := Index(i)
			if !schemes.has(s) && slices.ContainsFunc(c.Limits(s), func(l Limit) bool { return groups.has(l.Group) }) {
				schemes.set(s)
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	return schemes
}
