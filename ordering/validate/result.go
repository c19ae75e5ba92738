package validate

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/ordering/violation"
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

	lines []priced // the dishes
	total amount
}

// appendJSON appends the response of the validate route. Amounts are exact decimals; unknown values are null.
func (r *Result) appendJSON(dst []byte) ([]byte, error) {
	w := jsontext.Writer{Buf: dst}
	w.Open('{')
	w.Name("valid")
	w.Bool(r.Valid)
	w.Name("version")
	w.Int(r.Version)
	writeAmount(&w, "total", r.total)
	w.Name("lines")
	w.Open('[')
	for i := range r.lines {
		r.lines[i].write(&w)
	}
	w.Close(']')
	w.Name("violations")
	if len(r.Violations) == 0 {
		w.Raw("[]")
	} else {
		text, err := json.Marshal(r.Violations)
		if err != nil {
			return dst, err
		}
		w.Buf = append(w.Buf, text...)
		if r.More {
			w.Name("more")
			w.Bool(true)
		}
	}
	w.Name("order")
	if r.Valid {
		w.Buf = append(w.Buf, r.Order...)
	} else {
		w.Raw("null")
	}
	w.Close('}')
	return w.Buf, nil
}

func (l *priced) write(w *jsontext.Writer) {
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text(l.path)
	w.Name("id")
	w.Text(l.id)
	w.Name("name")
	w.Text(l.name)
	writeAmount(w, "quantity", l.quantity)
	writeAmount(w, "price", l.price)
	writeAmount(w, "total", l.total)
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
