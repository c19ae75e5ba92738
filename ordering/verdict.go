package ordering

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
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
	w := verdictWriter{jsontext.Writer{Buf: dst}}
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
		w.Raw("null")
	} else {
		w.Raw(string(v.Order))
	}
	w.Close('}')
	return w.Buf, nil
}

// verdictWriter writes a Verdict.
type verdictWriter struct{ jsontext.Writer }

// verdict begins the JSON of a verdict, up to its lines.
func (w *verdictWriter) verdict(valid bool, version int64, total amount) {
	w.Open('{')
	w.Name("valid")
	w.Bool(valid)
	w.Name("version")
	w.Int(version)
	w.Name("total")
	w.amount(total)
	w.Name("lines")
	w.Open('[')
}

// line writes one of the lines.
func (w *verdictWriter) line(l *priced) {
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text(l.path)
	w.Name("id")
	w.Text(l.id)
	w.Name("name")
	w.Text(l.name)
	w.Name("quantity")
	w.amount(l.quantity)
	w.Name("price")
	w.amount(l.price)
	w.Name("total")
	w.amount(l.total)
	w.Close('}')
}

// violations ends the lines, and stops where the order's value belongs.
func (w *verdictWriter) violations(all []Violation, more bool) error {
	w.Close(']')
	w.Name("violations")
	if len(all) == 0 {
		w.Raw("[]")
	} else {
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		w.Buf = append(w.Buf, text...)
	}
	if more {
		w.Name("more")
		w.Bool(true)
	}
	w.Name("order")
	return nil
}

func (w *verdictWriter) amount(a amount) {
	if !a.known {
		w.Raw("null")
		return
	}
	w.Number(a.Number)
}

// amountIn is what a Verdict's number says.
func amountIn(d decimal.NullDecimal) amount {
	if !d.Valid {
		return amount{}
	}
	return amountOf(jsontext.NumberOf(d.Decimal))
}

func some(d decimal.Decimal) decimal.NullDecimal { return decimal.NewNullDecimal(d) }
