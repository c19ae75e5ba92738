package validate

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// Result is the result of validating an order. It shares no memory with the body.
type Result struct {
	Valid   bool  // true if the order may be placed in the form of Order
	Version int64 // version of the catalogue that the order was checked against (policy O6)
	// Total is the sum of the lines. An invalid order has one too, if all its lines have prices.
	Total      decimal.NullDecimal
	Violations []violation.Violation // all violations in the order of the body, up to 200 (policy H7)
	// More is true if there are more violations than those 200. The check stopped there.
	More       bool
	Order      json.RawMessage // exact body for the ordering service; nil for an invalid order
	ExpectedAt time.Time       // expected time; zero if it is missing or invalid
}

// valid reports whether no step has found a violation.
func (c *check) valid() bool { return len(c.all) == 0 }

// run checks the order.
func (c *check) run() *check {
	if c.order.state == readable {
		c.price(c.checkDishes())
		c.checkFields()
	}
	return c
}

func (c *check) result() *Result {
	result := &Result{Valid: c.valid(), Version: c.Version, ExpectedAt: c.expectedAt}
	if c.total.known {
		result.Total = decimal.NewNullDecimal(c.total.Decimal())
	}
	if c.valid() {
		room := make([]byte, 0, len(c.Body)+len(c.Body)/2)
		result.Order = c.appendOrder(room)
	}
	result.Violations, result.More = c.Violations()
	return result
}

// appendJSON appends the response of the validate route. Amounts are exact decimals; unknown values are null.
func (c *check) appendJSON(dst []byte) ([]byte, error) {
	w := jsontext.Writer{Buf: dst}
	w.Open('{')
	w.Name("valid")
	w.Bool(c.valid())
	w.Name("version")
	w.Int(c.Version)
	writeAmount(&w, "total", c.total)
	w.Name("lines")
	w.Open('[')
	for i := range c.dishes {
		c.writeLine(&w, &c.dishes[i], c.totals[i])
	}
	w.Close(']')
	w.Name("violations")
	if violations, more := c.Violations(); len(violations) == 0 {
		w.Raw("[]")
	} else {
		text, err := json.Marshal(violations)
		if err != nil {
			return dst, err
		}
		w.Buf = append(w.Buf, text...)
		if more {
			w.Name("more")
			w.Bool(true)
		}
	}
	w.Name("order")
	if c.valid() {
		w.Buf = c.appendOrder(w.Buf)
	} else {
		w.Raw("null")
	}
	w.Close('}')
	return w.Buf, nil
}

func (c *check) writeLine(w *jsontext.Writer, dish *Line, total amount) {
	id := cmp.Or(dish.id.text, dish.externalID.text)
	if dish.index != menu.None {
		id = dish.entry().ID()
	}
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text("/" + c.order.dishList + "/" + strconv.Itoa(dish.number))
	w.Name("id")
	w.Text(id)
	w.Name("name")
	w.Text(dish.title())
	writeAmount(w, "quantity", amount{dish.quantity.number, dish.quantity.state == readable})
	writeAmount(w, "price", dish.current())
	writeAmount(w, "total", total)
	w.Close('}')
}

func writeAmount(w *jsontext.Writer, name string, a amount) {
	w.Name(name)
	if a.known {
		w.Number(a.Number)
	} else {
		w.Raw("null")
	}
}
