// Package ordertest makes the orders of several packages' benchmarks: five lines
// with five modifiers, on a generated menu of 5,000 dishes.
package ordertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// Dishes is the number of dishes of the menu.
const Dishes = 5000

// Order is an order and a menu for which it is valid.
type Order struct {
	Restaurant menu.RestaurantID
	// View is the menu as the ordering service publishes it.
	View []byte
	// Catalogue is the compiled menu.
	Catalogue *menu.Catalogue
	// Body is the order as a client sends it: delivery, paid by card.
	Body []byte
}

// entry is a dish or an ingredient of an order's body.
type entry map[string]any

// FiveLines returns an order of five dishes, with one modifier each, expected at
// the given time.
func FiveLines(expectedAt time.Time) (Order, error) {
	g := sandbox.Generate{Restaurants: 1, Products: Dishes, Seed: 1}
	o := Order{Restaurant: menu.RestaurantID(g.RestaurantID(0)), View: g.Menu(0)}
	view, err := menu.Decode(o.View)
	if err != nil {
		return o, err
	}
	o.Catalogue = menu.Compile(view, o.Restaurant, menu.DefaultSettings())
	var dishes []entry
	for p := range o.Catalogue.Products().All() {
		if dish, ok := plain(o.Catalogue, p); ok {
			dishes = append(dishes, dish)
		}
		if len(dishes) == 5 {
			o.Body, err = body(dishes, expectedAt)
			return o, err
		}
	}
	return o, fmt.Errorf("ordertest: of %d dishes %d take one modifier", Dishes, len(dishes))
}

// plain returns a dish of an order that needs one modifier and no other.
func plain(c *menu.Catalogue, p menu.Index) (dish entry, ok bool) {
	s := c.ProductScheme(p)
	if s == menu.None || !c.Orderable(p) {
		return nil, false
	}
	var chosen []entry
	for _, limit := range c.Limits(s) {
		if limit.Min == 0 {
			continue
		}
		at := slices.IndexFunc(c.Members(limit.Group), func(m menu.Index) bool {
			return c.IngredientOrderable(m) && c.IngredientScheme(m) == menu.None && len(c.GroupsOf(m)) == 1
		})
		if at < 0 || limit.Min > 1 || len(chosen) > 0 {
			return nil, false
		}
		in := c.Ingredients().At(c.Members(limit.Group)[at])
		chosen = append(chosen, entry{
			"ID":       in.ExternalID(),
			"name":     in.Name(),
			"price":    json.Number(in.Price().String()),
			"quantity": 1,
		})
	}
	product := c.Products().At(p)
	return entry{
		"ID":          product.ExternalID(),
		"name":        product.Name(),
		"price":       json.Number(product.Price().String()),
		"quantity":    1,
		"ingredients": chosen,
	}, len(chosen) == 1
}

// body returns an order for delivery, paid by card.
func body(dishes []entry, expectedAt time.Time) ([]byte, error) {
	return json.Marshal(entry{
		"comment":        "no onions, please",
		"persons":        2,
		"dishList":       dishes,
		"expeditionType": "delivery",
		"expectedAt":     expectedAt,
		"paymentTypeID":  "card",
		"guest": entry{
			"email":     "guest@example.com",
			"phone":     "+10000000000",
			"firstName": "Ann",
			"lastName":  "Lee",
		},
		"address": entry{
			"street":      "Main street",
			"cityName":    "Springfield",
			"houseNumber": "12",
			"lat":         55.75,
			"lon":         37.61,
			"floor":       3,
		},
	})
}

// Bound is an order (docs/ordering-service.md, section 2.1) as a Gin handler binds
// it, for comparison with the validate route.
type Bound struct {
	Comment        string `json:"comment"`
	RestaurantID   string `json:"restaurantID"`
	Persons        int    `json:"persons"`
	ExpeditionType string `json:"expeditionType"`
	ExpectedAt     string `json:"expectedAt"`
	PaymentTypeID  string `json:"paymentTypeID"`
	DishList       []struct {
		BoundItem

		Ingredients []BoundItem `json:"ingredients"`
	} `json:"dishList"`
	Guest struct {
		Email     string `json:"email"`
		Phone     string `json:"phone"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"guest"`
	Address struct {
		Street      string  `json:"street"`
		Lat         float64 `json:"lat"`
		Lon         float64 `json:"lon"`
		CityName    string  `json:"cityName"`
		Floor       int     `json:"floor"`
		HouseNumber string  `json:"houseNumber"`
	} `json:"address"`
}

// BoundItem has the common fields of a dish and an ingredient.
type BoundItem struct {
	ID       string `json:"ID"`
	Name     string `json:"name"`
	Price    any    `json:"price"` // a number, or one in quotes
	Quantity int    `json:"quantity"`
}
