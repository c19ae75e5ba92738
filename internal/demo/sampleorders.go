package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"larder/internal/menu"
	"larder/internal/sandbox"
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

// SampleOrders returns a valid order with a few dishes from a menu view. If possible,
// its first dish has mandatory modifiers. bad is the same order with four mistakes.
func SampleOrders(raw []byte, restaurant string) (good, bad []byte, err error) {
	generator, err := sandbox.NewOrderGenerator(raw, restaurant, 1)
	if err != nil {
		return nil, nil, fmt.Errorf("make an order: %w", err)
	}
	view, err := menu.Decode(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("make an order: %w", err)
	}
	catalogue := menu.Compile(view, menu.RestaurantID(restaurant), menu.DefaultSettings())
	var best sampleOrder
	for most, attempts := -1, 400; attempts > 0; attempts-- {
		var order sampleOrder
		body := generator.Next(sandbox.OrderOptions{Lines: 2, ExpectedAt: time.Now().Add(time.Hour)})
		if err := json.Unmarshal(body, &order); err != nil {
			return nil, nil, fmt.Errorf("make an order: %w", err)
		}
		if worth := order.worth(catalogue); worth > most {
			best, most = order, worth
		}
	}
	if best.DishList == nil {
		return nil, nil, errors.New("the menu has no orderable dish")
	}
	best.ExpeditionType, best.PaymentTypeID, best.Soonest = "pickup", "card", true
	good, err = json.Marshal(best)
	best.PaymentTypeID = "cheque"
	best.DishList[0].Ingredients = nil // mandatory modifiers are missing
	best.DishList[len(best.DishList)-1].Quantity = "0"
	best.DishList = append(best.DishList, sampleDish{ID: "no-such-dish", Quantity: "1"})
	bad, badErr := json.Marshal(best)
	return good, bad, errors.Join(err, badErr)
}

// worth rates an order as an example. It prefers short orders whose first dish has
// mandatory modifiers and whose last dish is another one without modifiers.
func (o *sampleOrder) worth(catalogue *menu.Catalogue) int {
	const much = 1000
	if len(o.DishList) == 0 {
		return -1
	}
	first, last := o.DishList[0], o.DishList[len(o.DishList)-1]
	worth := much - len(o.DishList) - len(first.Ingredients) - len(last.Ingredients)
	p, known := catalogue.Products().ByID(first.ID)
	if scheme := catalogue.ProductScheme(p); known && scheme != menu.None &&
		slices.ContainsFunc(catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 }) {
		worth += 2 * much
	}
	if last.ID != first.ID && len(last.Ingredients) == 0 {
		worth += much
	}
	return worth
}
