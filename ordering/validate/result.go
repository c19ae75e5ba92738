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

// checked is a checked order.
type checked struct {
	*check

	dishes     []Line
	totals     []amount // of the dishes
	total      amount
	expectedAt time.Time
}

// valid reports whether no step has found a violation.
func (c *check) valid() bool { return len(c.all) == 0 }

// run checks the order.
func (c *check) run() *checked {
	r := &checked{check: c}
	if c.order.state == readable {
		var complete bool
		r.dishes, complete = c.checkDishes()
		r.totals, r.total = c.price(r.dishes, complete)
		r.expectedAt = c.checkFields(r.total)
	}
	return r
}

func (r *checked) result() *Result {
	result := &Result{Valid: r.valid(), Version: r.Version, ExpectedAt: r.expectedAt}
	if r.total.known {
		result.Total = decimal.NewNullDecimal(r.total.Decimal())
	}
	if r.valid() {
		room := make([]byte, 0, len(r.Body)+len(r.Body)/2)
		result.Order = r.appendOrder(room)
	}
	result.Violations, result.More = r.notes.Violations()
	return result
}

// appendJSON appends the response of the validate route. Amounts are exact decimals; unknown values are null.
func (r *checked) appendJSON(dst []byte) ([]byte, error) {
	w := jsontext.Writer{Buf: dst}
	w.Open('{')
	w.Name("valid")
	w.Bool(r.valid())
	w.Name("version")
	w.Int(r.Version)
	writeAmount(&w, "total", r.total)
	w.Name("lines")
	w.Open('[')
	for i := range r.dishes {
		r.writeLine(&w, &r.dishes[i], r.totals[i])
	}
	w.Close(']')
	w.Name("violations")
	if violations, more := r.notes.Violations(); len(violations) == 0 {
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
	if r.valid() {
		w.Buf = r.appendOrder(w.Buf)
	} else {
		w.Raw("null")
	}
	w.Close('}')
	return w.Buf, nil
}

func (r *checked) writeLine(w *jsontext.Writer, dish *Line, total amount) {
	id := cmp.Or(dish.id.text, dish.externalID.text)
	if dish.index != menu.None {
		id = dish.entry().ID()
	}
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text("/" + r.order.dishList + "/" + strconv.Itoa(dish.number))
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
