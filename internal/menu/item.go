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

// Item returns the item at i as an order has it: by its externalId, or its id
// where it has none (policy O2). It and the table of the Items are made on the
// first call: most menus in memory get no orders in this process.
func (t *ItemTable) Item(i Index) *Item {
	all := t.made.Load()
	if all == nil {
		made := make([]atomic.Pointer[Item], t.Len())
		if t.made.CompareAndSwap(nil, &made) {
			all = &made
		} else {
			all = t.made.Load()
		}
	}
	if item := (*all)[i].Load(); item != nil {
		return item
	}
	e := t.At(i)
	item := NewItem(cmp.Or(e.ExternalID(), e.ID()), e.Name(), e.Price(), e.Measure())
	(*all)[i].Store(item)
	return item
}
