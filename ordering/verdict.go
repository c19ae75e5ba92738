package ordering

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// Line is one dish of an order as it was priced.
type Line struct {
	// Path is the dish's JSON Pointer in the client's body.
	Path string
	// ID is the menu's id of the dish; what the client sent where the menu has
	// no such dish.
	ID string
	// Name is the menu's; empty where the menu has no such dish.
	Name string
	// Quantity is as the client sent it: portions, or kilograms and litres of
	// a weighed dish. Not Valid where it could not be read.
	Quantity decimal.NullDecimal
	// Price is of one unit of the dish alone, without its ingredients, in the
	// restaurant's currency. Not Valid for an unknown dish.
	Price decimal.NullDecimal
	// Total is of the whole line with its ingredients, rounded (policy P1).
	// Not Valid where it cannot be computed.
	Total decimal.NullDecimal
}

// Verdict is what a Validator found.
type Verdict struct {
	// Valid: the order may be placed as Order has it.
	Valid bool
	// Version is the catalogue's version the order was checked against (policy O6).
	Version int64
	// Total is the sum of the lines; Valid also for an invalid order where
	// every line could be priced.
	Total decimal.NullDecimal
	// Lines are the dishes in the order of the body; where there are More
	// violations, those that were checked.
	Lines []Line
	// Violations are all that is wrong, in the order of the body: the first 200
	// (policy H7).
	Violations []Violation
	// More: there are more violations than those 200. Checking ended there.
	More bool
	// Order is the exact body for the ordering service; nil when not valid.
	Order json.RawMessage
	// ExpectedAt is when the order is expected; zero where the body has no
	// such time or it could not be read.
	ExpectedAt time.Time
}

// MarshalJSON gives the verdict as the validate route answers it (without the
// envelope): money as exact decimals, null for what is not known.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	return v.AppendJSON(make([]byte, 0, 512+len(v.Order)))
}

// AppendJSON appends what MarshalJSON gives to dst.
func (v *Verdict) AppendJSON(dst []byte) ([]byte, error) {
	w := jsonWriter{buf: dst}
	w.verdict(v.Valid, v.Version, amountIn(v.Total))
	for i := range v.Lines {
		l := &v.Lines[i]
		w.line(&priced{
			path: l.Path, id: l.ID, name: l.Name,
			quantity: amountIn(l.Quantity), price: amountIn(l.Price), total: amountIn(l.Total),
		})
	}
	if err := w.violations(v.Violations, v.More); err != nil {
		return nil, err
	}
	if v.Order == nil {
		w.raw("null")
	} else {
		w.raw(string(v.Order))
	}
	w.close('}')
	return w.buf, nil
}

// verdict begins the JSON of a verdict, up to its lines.
func (w *jsonWriter) verdict(valid bool, version int64, total amount) {
	w.open('{')
	w.name("valid")
	w.bool(valid)
	w.name("version")
	w.int(version)
	w.name("total")
	w.amount(total)
	w.name("lines")
	w.open('[')
}

// line writes one of the lines.
func (w *jsonWriter) line(l *priced) {
	w.comma()
	w.raw(`{"path":`)
	w.text(l.path)
	w.raw(`,"id":`)
	w.text(l.id)
	w.raw(`,"name":`)
	w.text(l.name)
	w.raw(`,"quantity":`)
	w.amount(l.quantity)
	w.raw(`,"price":`)
	w.amount(l.price)
	w.raw(`,"total":`)
	w.amount(l.total)
	w.raw("}")
}

// violations ends the lines, and stops where the order's value belongs.
func (w *jsonWriter) violations(all []Violation, more bool) error {
	w.close(']')
	w.name("violations")
	if len(all) == 0 {
		w.raw("[]")
	} else {
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		w.buf = append(w.buf, text...)
	}
	if more {
		w.name("more")
		w.bool(true)
	}
	w.name("order")
	return nil
}

func (w *jsonWriter) amount(a amount) {
	if !a.known {
		w.raw("null")
		return
	}
	w.buf = a.Append(w.buf)
}

// amountIn is what a Verdict's number says.
func amountIn(d decimal.NullDecimal) amount {
	if !d.Valid {
		return amount{}
	}
	return amountOf(menu.NumberOf(d.Decimal))
}

func some(d decimal.Decimal) decimal.NullDecimal { return decimal.NewNullDecimal(d) }
