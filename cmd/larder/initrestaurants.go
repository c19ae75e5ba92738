package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"larder/configs"
	"larder/internal/menu"
)

// mostOffered is how many restaurants are offered to pick from.
const mostOffered = 20

// pick asks whose menus are kept, and tries each.
func (s *conversation) pick(ctx context.Context) error {
	var offered []string
	own := true
	if !s.flag("offline") {
		var view *menu.View
		if view, own = s.menuOf(ctx, ""); own {
			offered = stopsOf(view)
		} else {
			s.connection.DefaultMenu = new(false) // it may be that each restaurant has one
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	ids, _ := s.flags.GetStringArray("restaurant")
	ask := len(ids) == 0
	for range triesOfPeople {
		if ask {
			typed, err := s.askIDs(ctx, offered)
			if err != nil {
				return err
			}
			ids = typed
		}
		again, err := s.tryRestaurants(ctx, ids)
		if err != nil {
			return err
		}
		if !again && !own && len(s.picked) == 0 { // there would be nothing to serve
			if err := s.unattended(); err != nil {
				return err
			}
			s.ask.say("There is no menu without a restaurant: name one.")
			again = true
		}
		if !again {
			return nil
		}
		ask = true
	}
	return &steppedError{errors.New("no restaurants to keep: nothing was written"), "larder init with the ids of your restaurants"}
}

// stopsOf are the restaurants that the menu's stop lists name: the service has
// no list of them, so they are what can be offered.
func stopsOf(view *menu.View) []string {
	known := map[string]bool{}
	for i := range view.Products {
		for _, id := range view.Products[i].Stop.IDs {
			known[id] = true
		}
	}
	ids := make([]string, 0, len(known))
	for id := range known {
		if configs.IsRestaurantID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// askIDs asks for ids, or for numbers of those that are offered.
func (s *conversation) askIDs(ctx context.Context, offered []string) ([]string, error) {
	question := "Restaurants whose menus are kept (ids, with spaces between)"
	if len(offered) > 0 {
		s.ask.say("The menu's stop lists name these restaurants:")
		for i, id := range offered[:min(len(offered), mostOffered)] {
			s.ask.say("  %2d  %s", i+1, id)
		}
		question = "Restaurants whose menus are kept (ids or these numbers, with spaces between)"
	}
	answer, err := s.ask.optional(ctx, question+"; Enter for none now", "", "--restaurant")
	if err != nil {
		return nil, err
	}
	ids := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '\t' })
	for i, id := range ids {
		if n, err := strconv.Atoi(id); err == nil && n >= 1 && n <= min(len(offered), mostOffered) && !slices.Contains(offered, id) {
			ids[i] = offered[n-1]
		}
	}
	return ids, nil
}

// tryRestaurants pulls the menu of each and asks for its name. It tells whether
// the ids are to be asked for again.
func (s *conversation) tryRestaurants(ctx context.Context, ids []string) (again bool, err error) {
	s.picked = nil
	failed := 0
	for _, id := range ids {
		switch {
		case slices.ContainsFunc(s.picked, func(p pick) bool { return p.id == id }):
			continue
		case !configs.IsRestaurantID(id):
			s.note(finding{What: "restaurant", Msg: fmt.Sprintf("%q is no restaurant id: 1 to 64 of A-Z a-z 0-9 . _ : -", id)})
			failed++
			continue
		}
		if !s.flag("offline") {
			if _, good := s.menuOf(ctx, id); !good {
				failed++
			}
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.picked = append(s.picked, pick{id: id, name: id})
	}
	if failed > 0 {
		if err := s.unattended(); err != nil {
			return false, err
		}
		keep, err := s.ask.sure(ctx, "Not every restaurant has a menu. Keep them all the same? (No asks again)")
		if err != nil || !keep {
			return true, err
		}
		s.picked = slices.DeleteFunc(s.picked, func(p pick) bool { return !configs.IsRestaurantID(p.id) })
	}
	for i := range s.picked {
		p := &s.picked[i]
		if p.name, err = s.ask.optional(ctx, "Name of "+p.id+", as people read it", p.id, "--yes"); err != nil {
			return false, err
		}
	}
	return false, nil
}
