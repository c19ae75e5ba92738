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

// directory gives that of the restaurants that are configured now. It is made
// when they have changed, and not for each request.
func (s *Server) directory() *directory {
	now := s.runner.Restaurants()
	if made := s.listed.Load(); made != nil && made.isOf(now) {
		return made
	}
	made := newDirectory(now)
	s.listed.Store(made)
	return made
}

func newDirectory(of []menusync.Restaurant) *directory {
	d := &directory{of: of, all: make([]entry, len(of))}
	for i := range of {
		d.all[i] = entry{&of[i], strings.ToLower(string(of[i].ID) + " " + of[i].Name)}
	}
	slices.SortFunc(d.all, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	return d
}

// isOf tells whether the directory is of these: the very same slice.
func (d *directory) isOf(now []menusync.Restaurant) bool {
	return len(d.of) == len(now) && (len(now) == 0 || &d.of[0] == &now[0])
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
