package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"larder/internal/menu"
	"larder/internal/sandbox"
)

// sampleOrder is an order for the native face: no more than a form would send.
type sampleOrder struct {
	ExpeditionType string       `json:"expeditionType"`
	PaymentTypeID  string       `json:"paymentTypeID"`
	Soonest        bool         `json:"soonest"`
	DishList       []sampleDish `json:"dishList"`
}

type sampleDish struct {
	ID          string             `json:"ID"`
	Quantity    json.Number        `json:"quantity"`
	Ingredients []sampleIngredient `json:"ingredients,omitempty"`
}

type sampleIngredient struct {
	ID       string      `json:"ID"`
	Quantity json.Number `json:"quantity"`
}

// triedOrders is how many orders sampleOrders looks at: the one that shows most is taken.
const triedOrders = 400

// sampleOrders makes a small order from a menu view, which larder accepts: one dish
// with modifiers that it cannot do without, where the menu has such a dish, and
// another dish. bad is the same with four mistakes.
func sampleOrders(raw []byte, restaurant string) (good, bad []byte, err error) {
	maker, err := sandbox.NewOrderer(raw, restaurant, 1)
	if err != nil {
		return nil, nil, fmt.Errorf("make an order: %w", err)
	}
	view, err := menu.Decode(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("make an order: %w", err)
	}
	catalogue := menu.Compile(view, menu.RestaurantID(restaurant), menu.DefaultSettings())
	var (
		best  sampleOrder
		worth int
	)
	for range triedOrders {
		var order sampleOrder
		if err := json.Unmarshal(maker.Next(sandbox.OrderOptions{Lines: 2, ExpectedAt: time.Now().Add(time.Hour)}), &order); err != nil {
			return nil, nil, fmt.Errorf("make an order: %w", err)
		}
		if len(order.DishList) > 0 && (best.DishList == nil || order.worth(catalogue) > worth) {
			best, worth = order, order.worth(catalogue)
		}
	}
	if best.DishList == nil {
		return nil, nil, errors.New("the menu has no dish that can be ordered")
	}
	best.ExpeditionType, best.PaymentTypeID, best.Soonest = "pickup", "card", true
	if good, err = json.Marshal(best); err != nil {
		return nil, nil, err
	}
	best.PaymentTypeID = "cheque"
	best.DishList[0].Ingredients = nil // what its groups demand is missing
	best.DishList[len(best.DishList)-1].Quantity = "0"
	best.DishList = append(best.DishList, sampleDish{ID: "no-such-dish", Quantity: "1"})
	bad, err = json.Marshal(best)
	return good, bad, err
}

// worth says how well an order shows what larder does: its first dish needs
// modifiers, its second is another one, and it is short.
func (o *sampleOrder) worth(catalogue *menu.Catalogue) int {
	const much = 1000
	worth := 0
	if needsModifiers(catalogue, o.DishList[0].ID) {
		worth += 2 * much
	}
	if last := o.DishList[len(o.DishList)-1]; last.ID != o.DishList[0].ID && len(last.Ingredients) == 0 {
		worth += much
	}
	for _, dish := range o.DishList {
		worth -= 1 + len(dish.Ingredients)
	}
	return worth
}

// needsModifiers says whether some group of the dish has a minimum.
func needsModifiers(catalogue *menu.Catalogue, id string) bool {
	p, ok := catalogue.ProductByID(id)
	if !ok || catalogue.ProductScheme(p) == menu.None {
		return false
	}
	return slices.ContainsFunc(catalogue.Limits(catalogue.ProductScheme(p)), func(l menu.Limit) bool { return l.Min > 0 })
}
