package menu

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// searchIndex contains every distinct folded word of a content's names and descriptions, with its places. The first
// search builds it. A query word is compared with each distinct word once, independent of the length of the texts.
type searchIndex struct {
	once  sync.Once
	words []searchWord
}

// searchWord is one distinct word with its places: dishes, then categories, then ingredients.
type searchWord struct {
	text   string
	places []Index
}

// searchWords returns the index and builds it on the first call: O(texts).
func (c *Content) searchWords() *searchIndex {
	x := &c.search
	x.once.Do(func() {
		known, place := map[string]int{}, Index(0) // known has the position of each word
		add := func(text string) {
			for word := range strings.FieldsSeq(foldText(text, "")) {
				if word = trimWord(word); word == "" {
					continue
				}
				at, again := known[word]
				if !again {
					word, at = strings.Clone(word), len(x.words)
					known[word], x.words = at, append(x.words, searchWord{text: word})
				}
				if w := &x.words[at]; len(w.places) == 0 || w.places[len(w.places)-1] != place {
					w.places = append(w.places, place)
				}
			}
			place++
		}
		for _, p := range c.products.All() {
			v := p.values()
			add(v.name + "\n" + v.description)
		}
		for i := range c.categories {
			add(c.categories[i].Name)
		}
		for _, in := range c.ingredients.All() {
			add(in.Name())
		}
		for i := range x.words {
			x.words[i].places = slices.Clone(x.words[i].places) // without unused memory
		}
	})
	return x
}

// contain marks the places of the words that contain word.
func (x *searchIndex) contain(word string, places flags) {
	x.mark(places, func(text string) bool { return strings.Contains(text, word) })
}

// resemble marks the places of the words that differ from word in one letter. It ignores numbers,
// because another digit is not a typing error.
func (x *searchIndex) resemble(word string, places flags) {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return
	}
	letters := []rune(word)
	x.mark(places, func(text string) bool {
		longer := utf8.RuneCountInString(text) - len(letters)
		return longer >= -1 && longer <= 1 && max(len(letters)+longer, len(letters)) >= leastTolerated && oneEdit(letters, []rune(text))
	})
}

func (x *searchIndex) mark(places flags, fits func(word string) bool) {
	for _, w := range x.words {
		if fits(w.text) {
			for _, place := range w.places {
				places.set(place)
			}
		}
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
