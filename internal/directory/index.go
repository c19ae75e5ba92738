package directory

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"larder/internal/menu"
)

// Index is the restaurants as lists page and search them, sorted by id. It
// never changes: after a reload Directory.Index returns another one.
type Index struct{ entries []Entry }

// Entry is a restaurant with the text that a search looks into.
type Entry struct {
	*Restaurant
	text string // id and name, in lower case
}

func newIndex(restaurants []Restaurant) *Index {
	x := &Index{entries: make([]Entry, len(restaurants))}
	for i := range restaurants {
		one := &restaurants[i]
		x.entries[i] = Entry{one, strings.ToLower(string(one.ID) + " " + one.Name)}
	}
	slices.SortFunc(x.entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	return x
}

// Entries returns all entries, sorted by id. The slice is shared: it must not
// be changed.
func (x *Index) Entries() []Entry { return x.entries }

// Matches reports whether every word occurs in the restaurant's id or name. The
// words are those of SearchWords.
func (e Entry) Matches(words []string) bool {
	for _, word := range words {
		if !strings.Contains(e.text, word) {
			return false
		}
	}
	return true
}

// SearchWords returns the first distinct words of a search.
func SearchWords(text string) []string { return menu.DistinctWords(strings.ToLower(text)) }

// Query asks for one page of a list.
type Query struct {
	Words string // that occur in the id or the name
	After string // the last id of the page before
	Limit int
}

// Page returns the page of the viewer's restaurants that is asked for; next is
// the last id of the page if more follow. If chosen is not nil, it decides which
// of the restaurants that have the words are taken, by their places in Entries.
func (x *Index) Page(who Viewer, want Query, chosen func(at int) bool) (restaurants []Restaurant, next string) {
	words := SearchWords(want.Words)
	start := sort.Search(len(x.entries), func(at int) bool { return string(x.entries[at].ID) > want.After })
	for at := start; at < len(x.entries); at++ {
		one := x.entries[at]
		if !who.Sees(one.Connection) || !one.Matches(words) || chosen != nil && !chosen(at) {
			continue
		}
		if len(restaurants) == want.Limit {
			return restaurants, string(restaurants[want.Limit-1].ID)
		}
		restaurants = append(restaurants, *one.Restaurant)
	}
	return restaurants, ""
}
