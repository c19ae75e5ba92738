package menu

import (
	"cmp"
	"sync/atomic"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
)

// Item is what every order says alike of one dish or ingredient (policies O2,
// P3), made on its first order and kept with the content: an order is then
// written without writing names, prices and measures again. It never changes.
type Item struct {
	// Price is the exact price, in the restaurant's currency; 0 where it is
	// not known.
	Price jsontext.Number
	// JSON is what stands behind the name ID in an order: its value, then the
	// members name, price and, where there is one, measure.
	JSON string
	// HasMeasure: there is a measure.
	HasMeasure bool
}

// NewItem makes an Item. id is the one that the ordering service knows it by.
func NewItem(id, name string, price decimal.Decimal, measure *Measure) *Item {
	text := jsontext.AppendString(make([]byte, 0, 128), id)
	text = jsontext.AppendString(append(text, `,"name":`...), name)
	text = jsontext.NumberOf(price).Append(append(text, `,"price":`...))
	if measure != nil {
		text = jsontext.NumberOf(measure.Value).Append(append(text, `,"measure":{"value":`...))
		text = append(jsontext.AppendString(append(text, `,"unit":`...), measure.Unit), '}')
	}
	return &Item{Price: jsontext.NumberOf(price), JSON: string(text), HasMeasure: measure != nil}
}

// items are the Items of one register, each made when it is first asked for. So
// is the table of them: most menus that are held are not ordered from here.
type items struct {
	all atomic.Pointer[[]atomic.Pointer[Item]]
}

// get returns the item at i.
func (t *items) get(i Index, of *itemTable) *Item {
	all := t.all.Load()
	if all == nil {
		made := make([]atomic.Pointer[Item], of.len())
		if t.all.CompareAndSwap(nil, &made) {
			all = &made
		} else {
			all = t.all.Load()
		}
	}
	if item := (*all)[i].Load(); item != nil {
		return item
	}
	e := of.at(i)
	item := NewItem(cmp.Or(e.ExternalID(), e.ID()), e.Name(), e.Price(), e.Measure())
	(*all)[i].Store(item)
	return item
}

// ProductItem returns the dish at i as an order has it: by its externalId, or its
// id where it has none (policy O2).
func (c *Content) ProductItem(i Index) *Item {
	return c.productItems.get(i, &c.products)
}

// IngredientItem is ProductItem for an ingredient.
func (c *Content) IngredientItem(i Index) *Item {
	return c.ingredientItems.get(i, &c.ingredients)
}
