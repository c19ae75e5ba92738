package menu

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
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
	var found []flags
	for _, word := range DistinctWords(foldText(q.Text, " ")) {
		if word = trimWord(word); word != "" {
			found = append(found, c.dishesWith(word))
		}
	}
	if len(found) == 0 && strings.TrimSpace(q.Text) != "" {
		return nil, None
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
	dishes, found := c.dishesAt(func(text string) bool { return strings.Contains(text, word) })
	if !found {
		dishes, _ = c.dishesAt(resembles(word))
	}
	return dishes
}

// dishesAt returns the dishes with a fitting word, in a category with one, or that offer an ingredient with one.
func (c *Content) dishesAt(fits func(word string) bool) (dishes flags, found bool) {
	places := newFlags(c.products.Len() + len(c.categories) + c.ingredients.Len())
	for _, w := range c.searchWords() {
		if fits(w.text) {
			for _, place := range w.places {
				places.set(place)
			}
		}
	}
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
	for p := range Index(c.products.Len()) {
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
		for i := range Index(c.ingredients.Len()) {
			inner := c.ingredientScheme[i]
			if !wanted(i) && (inner == None || !schemes.has(inner)) {
				continue
			}
			for _, g := range c.GroupsOf(i) {
				groups.set(g)
			}
		}
		changed := false
		for s := range Index(len(c.schemes)) {
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

// searchWord is a distinct folded word of a content's names and descriptions, with its places: numbers of dishes, then of
// categories, then of ingredients. A query word is compared with each of them once, independent of the length of the texts.
type searchWord struct {
	text   string
	places []Index
}

// The words of a menu that can be found (policy W15): the first distinct ones, in the first bytes of its texts, and in the
// first bytes of each description. Larger menus would make the first search slow, and the words large.
const (
	maxDistinctWords     = 50_000
	maxSearchBytes       = 4 << 20
	maxSearchDescription = 2_000
)

// newSearchWords returns the words of the content: O(texts). Names come before descriptions, so that a limit affects these.
func (c *Content) newSearchWords() (words []searchWord) {
	known, left := map[string]int{}, maxSearchBytes // known has the position of each word
	add := func(place int, text string) {
		if left <= 0 {
			return
		}
		text = foldText(text, "")
		left -= len(text)
		for word := range strings.FieldsSeq(text) {
			if word = trimWord(word); word == "" {
				continue
			}
			at, again := known[word]
			if !again && len(words) == maxDistinctWords {
				continue
			}
			if !again {
				word, at = strings.Clone(word), len(words)
				known[word], words = at, append(words, searchWord{text: word})
			}
			if w := &words[at]; len(w.places) == 0 || w.places[len(w.places)-1] != Index(place) {
				w.places = append(w.places, Index(place))
			}
		}
	}
	for i, p := range c.products.All() {
		add(int(i), p.Name())
	}
	for i := range c.categories {
		add(c.products.Len()+i, c.categories[i].Name)
	}
	for i, in := range c.ingredients.All() {
		add(c.products.Len()+len(c.categories)+int(i), in.Name())
	}
	for i, p := range c.products.All() {
		text, _ := p.Details()
		add(int(i), strings.ToValidUTF8(text[:min(len(text), maxSearchDescription)], ""))
	}
	for i := range words {
		words[i].places = slices.Clone(words[i].places) // without unused memory
	}
	return words
}

// resembles returns what reports whether a word differs from the given one in one letter. It ignores numbers, because
// another digit is not a typing error.
func resembles(word string) func(text string) bool {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return func(string) bool { return false }
	}
	letters := []rune(word)
	return func(text string) bool {
		longer := utf8.RuneCountInString(text) - len(letters)
		return longer >= -1 && longer <= 1 && max(len(letters)+longer, len(letters)) >= leastTolerated && oneEdit(letters, []rune(text))
	}
}

// leastTolerated is the minimum length of a word, in the query or in the menu, that may have one wrong letter.
const leastTolerated = 5

// oneEdit reports whether two different words differ by one edit: a replaced, additional, missing
// letter, or two swapped neighbours.
func oneEdit(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 2 && len(b) == 2 {
		return a[0] == b[1] && a[1] == b[0]
	}
	return len(a) <= 1 && len(b) <= 1
}

func trimWord(word string) string { return strings.TrimFunc(word, unicode.IsPunct) }

// foldText makes texts of any script comparable. It ignores case, width, diacritics, hyphens, the
// kind of apostrophe, differences between the Arabic letters ة and ه and between the Turkish I, ı,
// İ and i, and treats œ and æ as two letters. hyphen replaces hyphens: by nothing in a menu, and by
// a space in a query, so that the parts of a hyphenated query word match separately.
func foldText(text, hyphen string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r < unicode.MaxASCII && r != '-' && r != '`':
			b.WriteByte(byte(r))
		case r == '’' || r == '‘' || r == 'ʼ' || r == '`':
			b.WriteByte('\'')
		case r == 'ة':
			b.WriteRune('ه')
		case r == 'ı':
			b.WriteByte('i')
		case r == 'œ' || r == 'Œ':
			b.WriteString("oe")
		case r == 'æ' || r == 'Æ':
			b.WriteString("ae")
		case r == '\u2212' || unicode.Is(unicode.Pd, r):
			b.WriteString(hyphen)
		case r == '\u00ad': // soft hyphen
		case !unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return cases.Fold().String(b.String())
}
