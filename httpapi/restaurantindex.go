package httpapi

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"larder/internal/menu"
	menusync "larder/sync"
)

// restaurantIndex is the restaurants as pages list and search them, by id. It never
// changes: other restaurants have another one.
type restaurantIndex struct {
	of  []menusync.Restaurant // as the runner gave them
	all []indexEntry
}

// indexEntry is a restaurant with the text that a search looks into.
type indexEntry struct {
	*menusync.Restaurant
	text string // id and name, in lower case
}

// restaurantIndex returns that of the restaurants that are configured now. It is made
// when they have changed, and not for each request.
func (s *Server) restaurantIndex() *restaurantIndex {
	of := s.runner.Restaurants()
	kept := s.indexed.Load()
	if kept != nil && len(kept.of) == len(of) && (len(of) == 0 || &kept.of[0] == &of[0]) { // the same slice
		return kept
	}
	made := &restaurantIndex{of: of, all: make([]indexEntry, len(of))}
	for i := range of {
		made.all[i] = indexEntry{&of[i], strings.ToLower(string(of[i].ID) + " " + of[i].Name)}
	}
	slices.SortFunc(made.all, func(a, b indexEntry) int { return cmp.Compare(a.ID, b.ID) })
	s.indexed.Store(made)
	return made
}

// matches reports whether every word occurs in the restaurant's id or name.
func (e indexEntry) matches(words []string) bool {
	for _, word := range words {
		if !strings.Contains(e.text, word) {
			return false
		}
	}
	return true
}

// searchWords returns the first distinct words of a search.
func searchWords(text string) []string { return menu.DistinctWords(strings.ToLower(text)) }

// page returns the page of the caller's restaurants that is wanted; next is the
// last id of the page where more follow. takes, where it is not nil, chooses
// beside the words; at is the restaurant's place in the index.
func (x *restaurantIndex) page(who caller, want wantedRestaurants, takes func(at int) bool) (chosen []menusync.Restaurant, next string) {
	words := searchWords(want.words)
	start := sort.Search(len(x.all), func(at int) bool { return string(x.all[at].ID) > want.after })
	for at := start; at < len(x.all); at++ {
		one := x.all[at]
		if !who.sees(one.Connection) || !one.matches(words) || takes != nil && !takes(at) {
			continue
		}
		if len(chosen) == want.limit {
			return chosen, string(chosen[want.limit-1].ID)
		}
		chosen = append(chosen, *one.Restaurant)
	}
	return chosen, ""
}
