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
	// Lines are the dishes in the order of the body.
	Lines []Line
	// Violations are all that is wrong, in the order of the body.
	Violations []Violation
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
	w.open('{')
	w.name("valid")
	w.bool(v.Valid)
	w.name("version")
	w.int(v.Version)
	w.name("total")
	w.null(v.Total)
	w.name("lines")
	w.open('[')
	for i := range v.Lines {
		w.comma()
		w.line(&v.Lines[i])
	}
	w.close(']')
	w.name("violations")
	if len(v.Violations) == 0 {
		w.raw("[]")
	} else {
		violations, err := json.Marshal(v.Violations)
		if err != nil {
			return nil, err
		}
		w.raw(string(violations))
	}
	w.name("order")
	if v.Order == nil {
		w.raw("null")
	} else {
		w.raw(string(v.Order))
	}
	w.close('}')
	return w.buf, nil
}

func (w *jsonWriter) line(l *Line) {
	w.open('{')
	w.name("path")
	w.text(l.Path)
	w.name("id")
	w.text(l.ID)
	w.name("name")
	w.text(l.Name)
	w.name("quantity")
	w.null(l.Quantity)
	w.name("price")
	w.null(l.Price)
	w.name("total")
	w.null(l.Total)
	w.close('}')
}

func (w *jsonWriter) null(d decimal.NullDecimal) {
	if !d.Valid {
		w.raw("null")
		return
	}
	w.buf = menu.AppendDecimal(w.buf, d.Decimal)
}

func some(d decimal.Decimal) decimal.NullDecimal { return decimal.NewNullDecimal(d) }
