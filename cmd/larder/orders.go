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

// orders makes orders for one menu.
type orders struct {
	good *sampleOrder
}

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

// triedOrders is how many orders newOrders looks at: the one that shows most is taken.
const triedOrders = 400

// newOrders makes a small order from a menu view: one dish with modifiers that
// it cannot do without, where the menu has such a dish, and another dish.
func newOrders(raw []byte, restaurant string) (*orders, error) {
	maker, err := sandbox.NewOrderer(raw, restaurant, 1)
	if err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	view, err := menu.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	catalogue := menu.Compile(view, menu.RestaurantID(restaurant), menu.DefaultSettings())
	o, best := &orders{}, 0
	for range triedOrders {
		var order sampleOrder
		made := maker.Next(sandbox.OrderOptions{Lines: 2, ExpectedAt: time.Now().Add(time.Hour)})
		if err := json.Unmarshal(made, &order); err != nil {
			return nil, fmt.Errorf("make an order: %w", err)
		}
		if worth := order.worth(catalogue); len(order.DishList) > 0 && (o.good == nil || worth > best) {
			order.ExpeditionType, order.PaymentTypeID, order.Soonest = "pickup", "card", true
			o.good, best = &order, worth
		}
	}
	if o.good == nil {
		return nil, errors.New("the menu has no dish that can be ordered")
	}
	return o, nil
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

// goodOrder is one that larder accepts.
func (k *walk) goodOrder() ([]byte, error) { return json.Marshal(k.orders.good) }

// badOrder is the same with four mistakes.
func (k *walk) badOrder() ([]byte, error) {
	bad := *k.orders.good
	bad.PaymentTypeID = "cheque"
	bad.DishList = slices.Clone(bad.DishList)
	bad.DishList[0].Ingredients = nil // what its groups demand is missing
	bad.DishList[len(bad.DishList)-1].Quantity = "0"
	bad.DishList = append(bad.DishList, sampleDish{ID: "no-such-dish", Quantity: "1"})
	return json.Marshal(bad)
}
