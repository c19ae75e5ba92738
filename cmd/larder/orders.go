package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// newOrders makes a small order with modifiers from a menu view.
func newOrders(view []byte, restaurant string) (*orders, error) {
	maker, err := sandbox.NewOrderer(view, restaurant, 1)
	if err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	o := &orders{}
	for range 200 {
		var order sampleOrder
		raw := maker.Next(sandbox.OrderOptions{Lines: 2, ExpectedAt: time.Now().Add(time.Hour)})
		if err := json.Unmarshal(raw, &order); err != nil {
			return nil, fmt.Errorf("make an order: %w", err)
		}
		if len(order.DishList) == 0 {
			continue
		}
		order.ExpeditionType, order.PaymentTypeID, order.Soonest = "pickup", "card", true
		if o.good == nil || better(&order, o.good) {
			o.good = &order
		}
	}
	if o.good == nil {
		return nil, errors.New("the menu has no dish that can be ordered")
	}
	return o, nil
}

// better prefers orders that show modifiers, and of those short ones.
func better(a, b *sampleOrder) bool {
	m, n := ingredients(a), ingredients(b)
	if (m > 0) != (n > 0) {
		return m > 0
	}
	return m > 0 && m < n
}

func ingredients(o *sampleOrder) int {
	n := 0
	for _, dish := range o.DishList {
		n += len(dish.Ingredients)
	}
	return n
}

// goodOrder is one that larder accepts.
func (k *walk) goodOrder() ([]byte, error) { return json.Marshal(k.orders.good) }

// badOrder is the same with four mistakes.
func (k *walk) badOrder() ([]byte, error) {
	bad := *k.orders.good
	bad.PaymentTypeID = "cheque"
	bad.DishList = nil
	for _, dish := range k.orders.good.DishList {
		dish.Ingredients = nil // what its groups demand is missing
		bad.DishList = append(bad.DishList, dish)
	}
	bad.DishList[0].Quantity = "0"
	bad.DishList = append(bad.DishList, sampleDish{ID: "no-such-dish", Quantity: "1"})
	return json.Marshal(bad)
}
