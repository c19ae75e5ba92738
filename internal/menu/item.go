package menu

import (
	"cmp"
	"sync/atomic"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// Item contains what every order of one dish or ingredient repeats (policies O2, P3). It is created for the first order
// and kept with the content, so that names, prices and measures are encoded only once. It is immutable.
type Item struct {
	Price jsontext.Number // exact price in the restaurant's currency; 0 if it is not known
	// JSON is the part of an order after the name ID: its value, then the members name, price and,
	// if there is one, measure.
	JSON string
	// HasMeasure reports whether there is a measure.
	HasMeasure bool
}

// NewItem returns an Item. id is the id that the ordering service knows.
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

// Item returns the item at i for an order: with its externalId, or its id if it has none (policy O2). The
// Item and its table are created by the first call, because most menus get no orders in this process.
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
