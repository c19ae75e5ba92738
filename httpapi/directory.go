package httpapi

import (
	"cmp"
	"slices"
	"strings"

	"larder/internal/menu"
	menusync "larder/sync"
)

// directory is the restaurants as pages list and search them, by id. It never
// changes: other restaurants have another directory.
type directory struct {
	of  []menusync.Restaurant // as the runner gave them
	all []entry
}

// entry is a restaurant with the text that a search looks into.
type entry struct {
	*menusync.Restaurant
	text string // id and name, in lower case
}

// directory returns that of the restaurants that are configured now. It is made
// when they have changed, and not for each request.
func (s *Server) directory() *directory {
	of := s.runner.Restaurants()
	kept := s.listed.Load()
	if kept != nil && len(kept.of) == len(of) && (len(of) == 0 || &kept.of[0] == &of[0]) { // the same slice
		return kept
	}
	made := &directory{of: of, all: make([]entry, len(of))}
	for i := range of {
		made.all[i] = entry{&of[i], strings.ToLower(string(of[i].ID) + " " + of[i].Name)}
	}
	slices.SortFunc(made.all, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	s.listed.Store(made)
	return made
}

// after gives where the restaurants after an id begin; "" is before all.
func (d *directory) after(id string) int {
	at, found := slices.BinarySearchFunc(d.all, id, func(one entry, id string) int { return cmp.Compare(string(one.ID), id) })
	if found {
		at++
	}
	return at
}

// named tells whether every word occurs in the restaurant's id or name.
func (e entry) named(words []string) bool {
	for _, word := range words {
		if !strings.Contains(e.text, word) {
			return false
		}
	}
	return true
}

// searchWords returns the first distinct words of a search.
func searchWords(text string) []string { return menu.DistinctWords(strings.ToLower(text)) }

// page gives the page of the caller's restaurants that is wanted; next is the
// last id of the page where more follow. takes, where it is not nil, chooses
// beside the words; at is the restaurant's place in the directory.
func (d *directory) page(who caller, want wantedRestaurants, takes func(at int) bool) (chosen []menusync.Restaurant, next string) {
	words := searchWords(want.words)
	for at := d.after(want.after); at < len(d.all); at++ {
		one := d.all[at]
		if !who.sees(one.Connection) || !one.named(words) || takes != nil && !takes(at) {
			continue
		}
		if len(chosen) == want.limit {
			return chosen, string(chosen[want.limit-1].ID)
		}
		chosen = append(chosen, *one.Restaurant)
	}
	return chosen, ""
}
