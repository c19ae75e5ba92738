package directory

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"larder.local/internal/menu"
)

// Index holds the restaurants for paging and searching, sorted by id. It never
// changes: after a reload Directory.Index returns another one.
type Index struct{ entries []Entry }

// Entry is a restaurant with its search text.
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

// Entries returns all entries, sorted by id. The slice is shared and must not be changed.
func (x *Index) Entries() []Entry { return x.entries }

// Matches reports whether the restaurant's id or name contains every word. The words must come from SearchWords.
func (e Entry) Matches(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(e.text, word) })
}

// SearchWords returns the first distinct words of a search.
func SearchWords(text string) []string { return menu.DistinctWords(strings.ToLower(text)) }

// Query requests one page of a list.
type Query struct {
	Words string // searched in id and name
	After string // the last id of the previous page
	Limit int
}

// Page returns one page of the viewer's restaurants; next is the last id of the page if more follow. If
// chosen is not nil, it filters the restaurants that match, by their positions in Entries.
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
