package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"larder.local/internal/menu"
)

// sampleOrder is an order for /v1, with the fields that a form would send.
type sampleOrder struct {
	ExpeditionType string       `json:"expeditionType"`
	PaymentTypeID  string       `json:"paymentTypeID"`
	Soonest        bool         `json:"soonest"`
	DishList       []sampleDish `json:"dishList"`
}

type sampleDish struct {
	ID          string       `json:"ID"`
	Quantity    json.Number  `json:"quantity"`
	Ingredients []sampleDish `json:"ingredients,omitempty"`
}

// SampleOrders returns a valid order from a menu view: a dish with as few mandatory ingredients as
// possible, and one without. bad is the same order with four mistakes.
func SampleOrders(raw []byte, restaurant string) (good, bad []byte, err error) {
	view, err := menu.Decode(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("make an order: %w", err)
	}
	catalogue := menu.Compile(view, menu.RestaurantID(restaurant), menu.DefaultSettings())
	var composed, plain []sampleDish // at most one each
	for p, entry := range catalogue.Products().All() {
		ingredients, possible := mandatoryIngredients(catalogue, p)
		dish := sampleDish{ID: entry.ID(), Quantity: "1", Ingredients: ingredients}
		switch n := len(ingredients); {
		case !possible || !catalogue.Orderable(p):
		case n == 0 && plain == nil:
			plain = []sampleDish{dish}
		case n > 0 && (composed == nil || n < len(composed[0].Ingredients)):
			composed = []sampleDish{dish}
		}
	}
	order := sampleOrder{ExpeditionType: "pickup", PaymentTypeID: "card", Soonest: true, DishList: append(composed, plain...)}
	if len(order.DishList) == 0 {
		return nil, nil, errors.New("the menu has no orderable dish")
	}
	good, err = json.Marshal(order)
	order.PaymentTypeID = "cheque"
	if first := &order.DishList[0]; len(first.Ingredients) > 0 {
		first.Ingredients = first.Ingredients[1:] // a mandatory modifier is missing
	}
	order.DishList[len(order.DishList)-1].Quantity = "0"
	order.DishList = append(order.DishList, sampleDish{ID: "no-such-dish", Quantity: "1"})
	bad, badErr := json.Marshal(order)
	return good, bad, errors.Join(err, badErr)
}

// mandatoryIngredients returns an ingredient for each group of a dish that requires one. possible is
// false if a group offers only ingredients with groups of their own.
func mandatoryIngredients(catalogue *menu.Catalogue, p menu.Index) (chosen []sampleDish, possible bool) {
	scheme := catalogue.ProductScheme(p)
	if scheme == menu.None {
		return nil, true
	}
	for _, limit := range catalogue.Limits(scheme) {
		if limit.Min == 0 {
			continue
		}
		members := catalogue.Members(limit.Group)
		at := slices.IndexFunc(members, func(i menu.Index) bool {
			return catalogue.IngredientOrderable(i) && catalogue.IngredientScheme(i) == menu.None
		})
		if at < 0 {
			return nil, false
		}
		id := catalogue.Ingredients().At(members[at]).ID()
		chosen = append(chosen, sampleDish{ID: id, Quantity: json.Number(strconv.Itoa(limit.Min))})
	}
	return chosen, true
}
