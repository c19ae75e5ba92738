package menu

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// searchIndex contains every distinct folded word of a content's names and descriptions, with its places. The first
// search builds it. A query word is compared with each distinct word once, independent of the length of the texts.
type searchIndex struct {
	once   sync.Once
	words  []searchWord
	places []Index // of all words, one after the other
}

// searchWord is one distinct word. Its places end at end and start at the end of the word before:
// dishes, then categories, then ingredients.
type searchWord struct {
	text    string
	letters uint64 // a bit per letter; several letters share a bit
	length  int32  // in letters
	end     int32
}

// searchWords returns the index and builds it on the first call: O(texts).
func (c *Content) searchWords() *searchIndex {
	c.search.once.Do(func() {
		b := indexBuilder{ids: make(map[string]int)}
		place := Index(0)
		add := func(text string) {
			b.add(text, place)
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
		c.search.words, c.search.places = b.words, make([]Index, 0, b.total)
		for i := range b.words {
			c.search.places = append(c.search.places, b.places[i]...)
			b.words[i].end = int32(len(c.search.places))
		}
	})
	return &c.search
}

type indexBuilder struct {
	ids    map[string]int
	words  []searchWord
	places [][]Index // by word
	total  int
}

func (b *indexBuilder) add(text string, place Index) {
	for word := range strings.FieldsSeq(foldText(text, "")) {
		if word = trimWord(word); word == "" {
			continue
		}
		i, known := b.ids[word]
		if !known {
			i = len(b.words)
			word = strings.Clone(word)
			letters := []rune(word)
			b.ids[word] = i
			length := int32(len(letters))
			b.words = append(b.words, searchWord{text: word, letters: letterBits(letters), length: length})
			b.places = append(b.places, nil)
		}
		if had := b.places[i]; len(had) == 0 || had[len(had)-1] != place {
			b.places[i] = append(had, place)
			b.total++
		}
	}
}

// contain marks the places of the words that contain word.
func (x *searchIndex) contain(word string, places flags) {
	set := letterBits([]rune(word))
	x.mark(places, func(w *searchWord) bool { return set&^w.letters == 0 && strings.Contains(w.text, word) })
}

// resemble marks the places of the words that differ from word in one letter. It ignores numbers,
// because another digit is not a typing error.
func (x *searchIndex) resemble(word string, places flags) {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return
	}
	letters := []rune(word)
	set := letterBits(letters)
	x.mark(places, func(w *searchWord) bool {
		longer := int(w.length) - len(letters)
		return longer >= -1 && longer <= 1 && max(int(w.length), len(letters)) >= leastTolerated &&
			bits.OnesCount64(w.letters^set) <= 2 && oneEdit(letters, []rune(w.text))
	})
}

func (x *searchIndex) mark(places flags, fits func(*searchWord) bool) {
	start := int32(0)
	for i := range x.words {
		w := &x.words[i]
		if fits(w) {
			for _, place := range x.places[start:w.end] {
				places.set(place)
			}
		}
		start = w.end
	}
}

// leastTolerated is the minimum length of a word, in the query or in the menu, that may have one wrong letter.
const leastTolerated = 5

// letterBits returns a set with a bit for each letter. Words that differ in one letter differ in at
// most two bits, so most words need no closer comparison.
func letterBits(letters []rune) (set uint64) {
	for _, r := range letters {
		set |= 1 << (uint32(r) % 64)
	}
	return set
}

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
