package menutest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// OrderGenerator makes valid random orders for one restaurant's menu. It reads the menu with its own
// code and composes each dish so that its groups are satisfied. So an order that larder or the sandbox
// rejects reveals a bug. Equal seeds make equal orders. It is not safe for concurrent use.
type OrderGenerator struct {
	restaurant string
	rng        *rand.Rand
	dishes     []orderItem // with a price, not stopped, without those found unsatisfiable
	parts      map[string]orderItem
	members    map[string][]string // by group
	schemes    map[string][]orderLimit
}

type (
	orderItem struct {
		ID         string      `json:"id"`
		ExternalID string      `json:"externalId"`
		Name       string      `json:"name"`
		Price      json.Number `json:"price"`
		SchemeID   string      `json:"schemeId"`
		Stopped    []string    `json:"isContainInStopList"`
		Measure    struct {
			Unit string `json:"unit"`
		} `json:"measure"`
	}
	orderLimit struct {
		ID  string `json:"id"`
		Min int    `json:"minCount"`
		Max int    `json:"maxCount"` // 0: no limit
	}
	orderMenu struct {
		Products    []orderItem `json:"products"`
		Ingredients []orderItem `json:"ingredients"`
		Schemes     []struct {
			ID     string       `json:"id"`
			Groups []orderLimit `json:"ingredientsGroups"`
		} `json:"ingredientsSchemes"`
		Groups []struct {
			ID          string   `json:"id"`
			Ingredients []string `json:"ingredients"`
		} `json:"ingredientsGroups"`
	}
)

// OrderOptions configure an order. The zero value is a pickup of one dish in one
// hour, with menu ids.
type OrderOptions struct {
	Lines       int       // number of dishes; 0: 1
	Delivery    bool      // delivery with guest and address, else pickup
	ExternalIDs bool      // use ids of the POS, as the ordering service requires
	ExpectedAt  time.Time // zero: in one hour
}

// NewOrderGenerator reads a menu view in the documented form. It returns an error if the view is not
// valid or has no dish that can be ordered.
func NewOrderGenerator(raw []byte, restaurant string, seed uint64) (*OrderGenerator, error) {
	var view orderMenu
	if err := json.Unmarshal(raw, &view); err != nil {
		return nil, fmt.Errorf("the menu of %s: %w", restaurant, err)
	}
	g := &OrderGenerator{
		restaurant: restaurant,
		rng:        rand.New(rand.NewPCG(seed, 0)),
		parts:      map[string]orderItem{},
		members:    map[string][]string{},
		schemes:    map[string][]orderLimit{},
	}
	g.dishes = slices.DeleteFunc(view.Products, g.unavailable)
	for _, part := range slices.DeleteFunc(view.Ingredients, g.unavailable) {
		g.parts[part.ID] = part
	}
	for _, group := range view.Groups {
		g.members[group.ID] = slices.DeleteFunc(group.Ingredients, func(id string) bool { return g.parts[id].ID == "" })
	}
	for _, scheme := range view.Schemes {
		g.schemes[scheme.ID] = scheme.Groups
	}
	_, _, err := g.draw()
	return g, err
}

func (g *OrderGenerator) unavailable(item orderItem) bool {
	return item.Price == "" || slices.Contains(item.Stopped, g.restaurant)
}

type orderLine struct {
	ID          string      `json:"ID"`
	Name        string      `json:"name"`
	Price       json.Number `json:"price"`
	Quantity    json.Number `json:"quantity"`
	Ingredients []orderLine `json:"ingredients,omitempty"`
}

// Next returns the JSON body of the next order.
func (g *OrderGenerator) Next(o OrderOptions) []byte {
	if o.ExpectedAt.IsZero() {
		o.ExpectedAt = time.Now().Add(2 * time.Hour)
	}
	order := map[string]any{
		"restaurantID":   g.restaurant,
		"comment":        "No hurry 🙂",
		"persons":        1 + g.rng.IntN(4),
		"expeditionType": "pickup",
		"expectedAt":     o.ExpectedAt.Format(time.RFC3339),
		"paymentTypeID":  pick(g, []string{"cash", "card", "online"}),
	}
	if o.Delivery {
		order["expeditionType"] = "delivery"
		order["guest"] = map[string]string{"firstName": "Guest", "phone": "+10005550100"}
		order["address"] = map[string]string{
			"cityName": "Springfield", "street": "Main Street", "houseNumber": "1", "fullAddress": "Springfield, Main Street, 1",
		}
	}
	var lines []orderLine
	for range max(o.Lines, 1) {
		dish, chosen, err := g.draw()
		if err != nil {
			panic(err) // NewOrderGenerator has found a dish
		}
		line := g.line(dish, 1+g.rng.IntN(3), o.ExternalIDs)
		if (dish.Measure.Unit == "kg" || dish.Measure.Unit == "liter") && dish.SchemeID == "" {
			line.Quantity = pick(g, []json.Number{"0.25", "0.5", "1.5", "2"})
		}
		for _, c := range chosen {
			line.Ingredients = append(line.Ingredients, g.line(c.part, c.quantity, o.ExternalIDs))
		}
		lines = append(lines, line)
	}
	order["dishList"] = lines
	body, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	return body
}

func (g *OrderGenerator) line(item orderItem, quantity int, external bool) orderLine {
	id := item.ID
	if external && item.ExternalID != "" {
		id = item.ExternalID
	}
	return orderLine{ID: id, Name: item.Name, Price: item.Price, Quantity: json.Number(strconv.Itoa(quantity))}
}

// chosen is an ingredient of a dish.
type chosen struct {
	part     orderItem
	quantity int
}

// draw returns a dish with ingredients. It removes dishes whose groups have too few ingredients.
func (g *OrderGenerator) draw() (orderItem, []chosen, error) {
	for len(g.dishes) > 0 {
		k := g.rng.IntN(len(g.dishes))
		dish := g.dishes[k]
		if all, ok := g.fill(nil, dish.SchemeID, 1, true); ok {
			for _, part := range all { // the schemes of ingredients are open too
				if all, ok = g.fill(all, part.part.SchemeID, part.quantity, false); !ok {
					break
				}
			}
			if ok {
				return dish, all, nil
			}
		}
		g.dishes = slices.Delete(g.dishes, k, k+1)
	}
	return orderItem{}, nil, errors.New("the menu has no dish that can be ordered")
}

// fill adds ingredients for each group of a scheme that is open times times: at least the minimum, at
// most the maximum. Only the dish's own groups may add ingredients that open schemes.
func (g *OrderGenerator) fill(all []chosen, scheme string, times int, own bool) ([]chosen, bool) {
	for _, limit := range g.schemes[scheme] {
		members := slices.Clone(g.members[limit.ID])
		if !own {
			members = slices.DeleteFunc(members, func(id string) bool { return g.parts[id].SchemeID != "" })
		}
		n := limit.Min * times
		if own && len(members) > 0 && (limit.Max == 0 || n < limit.Max) {
			n += g.rng.IntN(2)
		}
		if n > 0 && len(members) == 0 {
			return nil, false
		}
		for range n {
			id := pick(g, members)
			at := slices.IndexFunc(all, func(c chosen) bool { return c.part.ID == id })
			if at < 0 {
				at, all = len(all), append(all, chosen{part: g.parts[id]})
			}
			all[at].quantity++
		}
	}
	return all, true
}

func pick[T any](g *OrderGenerator, from []T) T { return from[g.rng.IntN(len(from))] }
