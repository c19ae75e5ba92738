package directory

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"larder.local/internal/menu"
)

// Index holds the restaurants for paging and searching, sorted by name as people count: "Restaurant 2" comes
// before "Restaurant 10". Equal names are sorted by id. It never changes: after a reload Directory.Index
// returns another one.
type Index struct{ entries []Entry }

// Entry is a restaurant with its search text and its place in the order.
type Entry struct {
	*Restaurant
	text  string // name and address, in lower case
	id    string // in lower case
	key   int64  // of SortedBy
	order []byte // of the name
}

func newIndex(restaurants []Restaurant) *Index {
	x := &Index{entries: make([]Entry, len(restaurants))}
	order := OrderOfNames()
	for i := range restaurants {
		one := &restaurants[i]
		x.entries[i] = Entry{
			Restaurant: one,
			text:       strings.ToLower(one.Name + " " + one.Address),
			id:         strings.ToLower(string(one.ID)),
			order:      order(one.label()),
		}
	}
	slices.SortFunc(x.entries, func(a, b Entry) int { return cmp.Or(bytes.Compare(a.order, b.order), cmp.Compare(a.ID, b.ID)) })
	return x
}

// label is the configured name, or the id.
func (r *Restaurant) label() string { return cmp.Or(r.Name, string(r.ID)) }

// OrderOfNames returns a function whose results sort like names: letters in the order of the alphabet, digits as
// numbers. It is for one goroutine.
func OrderOfNames() func(name string) []byte {
	names := collate.New(language.Und, collate.Numeric)
	return func(name string) []byte {
		var buffer collate.Buffer
		return names.KeyFromString(&buffer, name)
	}
}

// SortedBy returns the index sorted by a key, and then by name.
func (x *Index) SortedBy(key func(id menu.RestaurantID) int64) *Index {
	sorted := &Index{entries: slices.Clone(x.entries)}
	for i := range sorted.entries {
		sorted.entries[i].key = key(sorted.entries[i].ID)
	}
	slices.SortStableFunc(sorted.entries, func(a, b Entry) int { return cmp.Compare(a.key, b.key) })
	return sorted
}

// Entries returns all entries in their order. The slice is shared and must not be changed.
func (x *Index) Entries() []Entry { return x.entries }

// leastOfID is the shortest beginning of an id that a search finds. Most ids are UUIDs, which contain nearly
// every short number.
const leastOfID = 8

// Matches reports whether every word is in the restaurant's name or address, or begins its id: with at least
// eight characters, or the whole id. The words must come from SearchWords.
func (e Entry) Matches(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		ofID := strings.HasPrefix(e.id, word) && len(word) >= min(leastOfID, len(e.id))
		return !ofID && !strings.Contains(e.text, word)
	})
}

// SearchWords returns the first distinct words of a search.
func SearchWords(text string) []string { return menu.DistinctWords(strings.ToLower(text)) }

// Query requests one page of a list.
type Query struct {
	Words string // searched in name, address and id
	After string // the position that the previous page returned, or empty
	Limit int
}

// Page returns one page of the viewer's restaurants; next is the position of the next page if more follow. If
// chosen is not nil, it filters the restaurants that match, by their positions in Entries.
func (x *Index) Page(who Viewer, want Query, chosen func(at int) bool) (restaurants []Restaurant, next string) {
	words, last := SearchWords(want.Words), Entry{}
	for at := x.after(want.After); at < len(x.entries); at++ {
		one := x.entries[at]
		if !who.Sees(one.Connection) || !one.Matches(words) || chosen != nil && !chosen(at) {
			continue
		}
		if len(restaurants) == want.Limit {
			return restaurants, string(last.ID) + "\n" + strconv.FormatInt(last.key, 10) + "\n" + last.label()
		}
		last, restaurants = one, append(restaurants, *one.Restaurant)
	}
	return restaurants, ""
}

// after returns the first entry after a position: the id, the key and the name of a restaurant. It may have gone, or have
// another key, since.
func (x *Index) after(position string) int {
	if position == "" {
		return 0
	}
	id, rest, _ := strings.Cut(position, "\n")
	text, name, _ := strings.Cut(rest, "\n")
	key, _ := strconv.ParseInt(text, 10, 64) // what is no position of larder's is before all
	order := OrderOfNames()(name)
	return sort.Search(len(x.entries), func(at int) bool {
		one := x.entries[at]
		return cmp.Or(cmp.Compare(one.key, key), bytes.Compare(one.order, order), cmp.Compare(string(one.ID), id)) > 0
	})
}
