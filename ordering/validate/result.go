package validate

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/ordering/violation"
)

// Result is what a Validator found.
type Result struct {
	// Valid: the order may be placed as Order has it.
	Valid bool
	// Version is the catalogue's version the order was checked against (policy O6).
	Version int64
	// Total is the sum of the lines; Valid also for an invalid order where
	// every line could be priced.
	Total decimal.NullDecimal
	// Violations are all that is wrong, in the order of the body: the first 200
	// (policy H7).
	Violations []violation.Violation
	// More: there are more violations than those 200. Checking ended there.
	More bool
	// Order is the exact body for the ordering service; nil when not valid.
	Order json.RawMessage
	// ExpectedAt is when the order is expected; zero where the body has no
	// such time or it could not be read.
	ExpectedAt time.Time
}

// resultWriter writes the JSON of the validate route.
type resultWriter struct{ jsontext.Writer }

// writeResult checks the order and appends the JSON of what was found: money as exact
// decimals, null for what is not known.
func (c *validation) writeResult(dst []byte) ([]byte, error) {
	w := resultWriter{jsontext.Writer{Buf: dst}}
	valid := c.checkOrder()
	w.Open('{')
	w.Name("valid")
	w.Bool(valid)
	w.Name("version")
	w.Int(c.Version)
	w.amount("total", c.total)
	w.Name("lines")
	w.Open('[')
	for i := range c.lines {
		w.line(&c.lines[i])
	}
	w.Close(']')
	w.Name("violations")
	if violations, more := c.violations.Sorted(); len(violations) == 0 {
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
	if valid {
		w.Buf = c.mapped.mapOrder(c).AppendJSON(w.Buf, c.FieldCase)
	} else {
		w.Raw("null")
	}
	w.Close('}')
	return w.Buf, nil
}

func (w *resultWriter) line(l *priced) {
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text(l.path)
	w.Name("id")
	w.Text(l.id)
	w.Name("name")
	w.Text(l.name)
	w.amount("quantity", l.quantity)
	w.amount("price", l.price)
	w.amount("total", l.total)
	w.Close('}')
}

func (w *resultWriter) amount(name string, a amount) {
	w.Name(name)
	if a.known {
		w.Number(a.Number)
	} else {
		w.Raw("null")
	}
}
