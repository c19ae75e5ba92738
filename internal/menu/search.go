package menu

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Query selects dishes for the products list.
type Query struct {
	Category      string // a category's id; its descendants count; empty = all
	Text          string // words, all of which must occur in name or description; the first 8 distinct ones count
	AvailableOnly bool
	After         Index // the last dish of the page before, None from the start
	Limit         int   // most hits a page; 0 or less = all
}

// searchIndex is the folded texts of the dishes, made at the first search.
type searchIndex struct {
	once  sync.Once
	texts []string
}

// Search gives the dishes that fit the query in the view's order, and the
// last hit when there are more (None otherwise), to be passed as After of the
// next page. O(products × text).
func (c *Catalogue) Search(q Query) (hits []Index, next Index) {
	within := c.branch(q.Category)
	words := DistinctWords(foldText(q.Text))
	var texts []string
	if len(words) > 0 {
		texts = c.searchTexts()
	}
	for p := max(q.After+1, 0); int(p) < c.products.len(); p++ {
		if q.Category != "" && !c.inside(within, p) {
			continue
		}
		if q.AvailableOnly && c.stopped.has(p) {
			continue
		}
		if len(words) > 0 && !containsAll(texts[p], words) {
			continue
		}
		if q.Limit > 0 && len(hits) == q.Limit {
			return hits, hits[len(hits)-1]
		}
		hits = append(hits, p)
	}
	return hits, None
}

// maxSearchWords is how many distinct words of a search count (policy H7).
const maxSearchWords = 8

// DistinctWords returns the distinct words of a text, the first 8 of them.
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

// branch gives the ids of a category and its descendants.
func (c *Content) branch(id string) map[string]bool {
	within := map[string]bool{}
	if _, ok := c.CategoryByID(id); id == "" || !ok {
		return within
	}
	within[id] = true
	for i := range c.categories { // parents stand before children
		if within[c.categories[i].ParentID] {
			within[c.categories[i].ID] = true
		}
	}
	return within
}

// inside reports whether the dish p is in one of the categories.
func (c *Content) inside(categories map[string]bool, p Index) bool {
	return slices.ContainsFunc(c.ProductCategories(p), func(in Index) bool { return categories[c.categories[in].ID] })
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (c *Content) searchTexts() []string {
	c.search.once.Do(func() {
		texts := make([]string, c.products.len())
		for i, p := range c.products.all() {
			texts[i] = foldText(p.Name() + "\n" + c.products.told(i).description)
		}
		c.search.texts = texts
	})
	return c.search.texts
}

// foldText makes a text blind to case, width, diacritics and the kind of
// apostrophe, in any script.
func foldText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r == '’' || r == '‘' || r == 'ʼ' || r == '`':
			b.WriteByte('\'') // one apostrophe, however it was typed
		case !unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return cases.Fold().String(b.String())
}
