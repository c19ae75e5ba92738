package sandbox

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
)

// OrderGenerator makes valid random orders for one restaurant's menu, for demos, benchmarks and
// tests. Equal seeds make equal orders. It is not safe for concurrent use.
type OrderGenerator struct {
	restaurant string
	model      *menuModel
	out        stopped
	rng        *rng
	dishes     []*item // orderable, without those found unsatisfiable
}

// OrderOptions configure an order. The zero value is a pickup of one dish in one
// hour, with menu ids.
type OrderOptions struct {
	Lines       int       // number of dishes; 0: 1
	Delivery    bool      // delivery with guest and address, else pickup
	ExternalIDs bool      // use ids of the POS, as the ordering service requires
	ExpectedAt  time.Time // zero: in one hour
}

// NewOrderGenerator reads a menu view. It returns an error if the view is not
// valid JSON or has no orderable dish.
func NewOrderGenerator(raw []byte, restaurantID string, seed int64) (*OrderGenerator, error) {
	c, out, err := readMenuModel(raw, restaurantID)
	if err != nil {
		return nil, err
	}
	draws := &rng{state: derive(uint64(seed))}
	o := &OrderGenerator{
		restaurant: restaurantID,
		model:      c,
		out:        out,
		rng:        draws,
	}
	for _, d := range c.dishes.list {
		if d.priced && !out.dishes[d.id] {
			o.dishes = append(o.dishes, d)
		}
	}
	if _, _, err := o.draw(); err != nil {
		return nil, err
	}
	return o, nil
}

type (
	orderOut struct {
		RestaurantID   string            `json:"restaurantID"`
		Comment        string            `json:"comment"`
		Persons        int               `json:"persons"`
		ExpeditionType string            `json:"expeditionType"`
		ExpectedAt     string            `json:"expectedAt"`
		PaymentTypeID  string            `json:"paymentTypeID"`
		Guest          map[string]string `json:"guest,omitempty"`
		Address        map[string]string `json:"address,omitempty"`
		DishList       []dishOut         `json:"dishList"`
	}
	dishOut struct {
		ID          string      `json:"ID"`
		Name        string      `json:"name"`
		Price       json.Number `json:"price"`
		Quantity    json.Number `json:"quantity"`
		Ingredients []partOut   `json:"ingredients"`
	}
	partOut struct {
		ID       string      `json:"ID"`
		Name     string      `json:"name"`
		Price    json.Number `json:"price"`
		Quantity int         `json:"quantity"`
	}
)

// Next returns the JSON body of the next order.
func (o *OrderGenerator) Next(opt OrderOptions) []byte {
	at := opt.ExpectedAt
	if at.IsZero() {
		at = time.Now().Add(time.Hour)
	}
	out := orderOut{
		RestaurantID:   o.restaurant,
		Comment:        "No hurry 🙂",
		Persons:        o.rng.between(1, 4),
		ExpeditionType: "pickup",
		ExpectedAt:     at.Format(time.RFC3339),
		PaymentTypeID:  pick(o.rng, []string{"cash", "card", "online"}),
		DishList:       []dishOut{},
	}
	if opt.Delivery {
		out.ExpeditionType = "delivery"
		out.Guest = map[string]string{"firstName": "Guest", "phone": "+10005550100"}
		out.Address = map[string]string{
			"cityName": "Springfield", "street": "Main Street", "houseNumber": "1", "fullAddress": "Springfield, Main Street, 1",
		}
	}
	for range max(opt.Lines, 1) {
		d, chosen, err := o.draw()
		if err != nil {
			break // cannot happen: NewOrderGenerator found a satisfiable dish
		}
		out.DishList = append(out.DishList, o.line(d, chosen, opt.ExternalIDs))
	}
	return encode(out)
}

func (o *OrderGenerator) line(d *item, chosen []selection, external bool) dishOut {
	name := func(id, ext string) string {
		if external && ext != "" {
			return ext
		}
		return id
	}
	line := dishOut{
		ID:          name(d.id, d.ext),
		Name:        d.name,
		Price:       json.Number(d.price.String()),
		Quantity:    json.Number(strconv.Itoa(o.rng.between(1, 3))),
		Ingredients: []partOut{},
	}
	if d.weighed && d.scheme == "" {
		line.Quantity = pick(o.rng, []json.Number{"0.25", "0.5", "1.5", "2"})
	}
	for _, p := range chosen {
		line.Ingredients = append(line.Ingredients, partOut{
			ID:       name(p.part.id, p.part.ext),
			Name:     p.part.name,
			Price:    json.Number(p.part.price.String()),
			Quantity: p.quantity,
		})
	}
	return line
}

// draw returns a dish and ingredients that satisfy its schemes. It removes a
// dish for which it finds none.
func (o *OrderGenerator) draw() (*item, []selection, error) {
	for len(o.dishes) > 0 {
		k := o.rng.n(len(o.dishes))
		d := o.dishes[k]
		const tries = 40
		for try := range tries {
			chosen := o.compose(d, try < tries/2)
			if chosen != nil && o.model.accepts(d, chosen) {
				return d, chosen, nil
			}
		}
		o.dishes = slices.Delete(o.dishes, k, k+1)
	}
	return nil, nil, errors.New("sandbox: the menu has no dish that could be ordered")
}

// accepts reports whether validate accepts the ingredients.
func (c *menuModel) accepts(d *item, chosen []selection) bool {
	slots := c.openGroupSlots(d, chosen)
	takesNot := func(p selection) bool { return !c.takes(slots, p.part) }
	return !slices.ContainsFunc(chosen, takesNot) && len(c.assignAll(slots, chosen)) == 0
}

// compose chooses ingredients for the minima of every open scheme, with extras if wanted, or nil if
// a group has no available ingredient. The result may violate a limit if groups share ingredients.
func (o *OrderGenerator) compose(d *item, extras bool) []selection {
	chosen := []selection{}
	if !o.fill(&chosen, d.scheme, 1, extras) {
		return nil
	}
	for i := 0; i < len(chosen); i++ { // grows while parts open their schemes
		if scheme := chosen[i].part.scheme; scheme != "" && !o.fill(&chosen, scheme, chosen[i].quantity, false) {
			return nil
		}
		if i > 200 {
			return nil
		}
	}
	return chosen
}

func (o *OrderGenerator) fill(chosen *[]selection, scheme string, times int, extras bool) bool {
	for _, l := range o.model.schemes[scheme] {
		var members []*item
		for _, id := range o.model.groupMembers[l.group] {
			if p := o.model.parts.byID[id]; p != nil && p.priced && !o.out.parts[id] {
				members = append(members, p)
			}
		}
		n := l.min * times
		if extras && (l.max < 0 || n < l.max) {
			n += o.rng.n(2)
		}
		if n > 0 && len(members) == 0 {
			if l.min > 0 {
				return false
			}
			continue
		}
		for range n {
			p := pick(o.rng, members)
			k := slices.IndexFunc(*chosen, func(q selection) bool { return q.part == p })
			if k < 0 {
				*chosen = append(*chosen, selection{part: p})
				k = len(*chosen) - 1
			}
			(*chosen)[k].quantity++
		}
	}
	return true
}
