package ordertest

import (
	"encoding/json"
	"errors"
	"time"

	"larder.local/internal/menu"
)

// SharedGroups returns an order like FiveLines, in which each modifier is in two groups. The first
// line has three modifiers: taking the first free group for each of them fails, so only a search
// finds their groups (policy M4).
func SharedGroups(expectedAt time.Time) (Order, error) {
	o, err := FiveLines(expectedAt)
	if err != nil {
		return o, err
	}
	view, err := menu.Decode(o.View)
	if err != nil {
		return o, err
	}
	share(view)
	var dishes []entry
	for _, modifiers := range [][]string{{"second", "third", "first"}, {"first"}, {"second"}, nil, nil} {
		dish, ok := give(view, len(dishes), modifiers)
		if !ok {
			return o, errors.New("ordertest: the menu has too few dishes")
		}
		dishes = append(dishes, dish)
	}
	o.View, o.Catalogue = nil, menu.Compile(view, o.Restaurant, menu.DefaultSettings())
	o.Body, err = body(dishes, expectedAt)
	return o, err
}

// share adds a scheme of three groups to the menu, and three ingredients. Each
// ingredient is in two of the groups.
func share(view *menu.View) {
	for _, id := range []string{"first", "second", "third"} {
		view.Ingredients = append(view.Ingredients, menu.Ingredient{ID: id, ExternalID: "pos-" + id, Name: "The " + id})
	}
	view.Groups = append(view.Groups,
		menu.Group{ID: "must", Name: "Must", Ingredients: []string{"first", "second"}},
		menu.Group{ID: "may", Name: "May", Ingredients: []string{"first", "third"}},
		menu.Group{ID: "also", Name: "Also", Ingredients: []string{"second", "third"}})
	view.Schemes = append(view.Schemes, menu.Scheme{ID: "shared", Groups: []menu.GroupLimit{
		{GroupID: "must", Min: 1, Max: 1}, {GroupID: "may", Max: 1}, {GroupID: "also", Max: 1},
	}})
}

// give returns the n-th orderable dish of the view as a line of an order, with the
// given modifiers of the shared scheme.
func give(view *menu.View, n int, modifiers []string) (dish entry, ok bool) {
	for i := range view.Products {
		p := &view.Products[i]
		if p.ExternalID == "" || p.PriceInvalid {
			continue
		}
		if n--; n >= 0 {
			continue
		}
		p.SchemeID, p.Stop = "", menu.StopList{}
		chosen := []entry{}
		for _, id := range modifiers {
			p.SchemeID = "shared"
			chosen = append(chosen, entry{
				"ID":       "pos-" + id,
				"name":     "The " + id,
				"price":    0,
				"quantity": 1,
			})
		}
		return entry{
			"ID":          p.ExternalID,
			"name":        p.Name,
			"price":       json.Number(p.Price.String()),
			"quantity":    1,
			"ingredients": chosen,
		}, true
	}
	return nil, false
}
