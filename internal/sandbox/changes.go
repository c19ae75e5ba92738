package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

const (
	codePayment  = "ERR_EXTERNAL_ERROR_WS"
	codeNotPaid  = "pos_close_order"
	codeReason   = "rejection_reason_invalid"
	codePayments = "payment_validation"
)

// done is the empty response of a successful change.
func done() answer { return result(http.StatusOK, struct{}{}) }

// ended refuses a change to an order in a final state.
func (c *call) ended(o *order) answer {
	return c.refuse(http.StatusConflict, "order_"+string(o.State), "the order is "+string(o.State))
}

// payOrder handles PUT …/pay (docs/ordering-service.md, section 4.2). The
// payments of one request must cover the order's total.
func (s *Sandbox) payOrder(c *call) answer {
	set := s.settings.get()
	payments, sum, wrong := readPayments(c.body, set.tolerant())
	return s.withOrder(c, func(o *order) answer {
		switch {
		case o.State.ended():
			return c.ended(o)
		case wrong != "":
			return c.refuse(http.StatusBadRequest, codePayments, wrong)
		case o.Paid:
			return c.refuse(http.StatusConflict, "order_already_paid", "the order is paid already")
		case sum.LessThan(o.total):
			return c.refuse(set.PaymentRefusedStatus, codePayment, "not enough money to pay the order in full: "+
				sum.String()+" of "+o.total.String())
		case slices.ContainsFunc(payments, func(p payment) bool { return !set.acceptsCurrency(p.code) }):
			return c.refuse(set.PaymentRefusedStatus, codePayment,
				"payment settings are wrong: a payment has no code of an accepted currency")
		default:
			o.Paid = true
			for _, p := range payments {
				o.Payments = append(o.Payments, p.raw)
			}
			return done()
		}
	})
}

type payment struct {
	code string
	raw  json.RawMessage
}

// readPayments reads the body of a pay request; wrong is the error, or empty.
func readPayments(body []byte, tolerant bool) (payments []payment, sum decimal.Decimal, wrong string) {
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil || len(list) == 0 {
		return nil, sum, "the body must be a list of payments"
	}
	for _, raw := range list {
		v, err := readJSON(raw)
		item, ok := v.(map[string]any)
		if err != nil || !ok {
			return nil, sum, "a payment is an object"
		}
		code, _ := member(item, "code").(string)
		paid, ok := amount(member(item, "amount"), tolerant)
		if !ok || paid.IsNegative() {
			return nil, sum, "amount: a number, not negative, is required"
		}
		at, _ := member(item, "paidAt").(string)
		if _, err := parseTime(at); err != nil {
			return nil, sum, "paidAt: a time with a time zone offset is required"
		}
		payments = append(payments, payment{code, raw})
		sum = sum.Add(paid)
	}
	return payments, sum, ""
}

// completeOrder handles PUT …/complete (docs/ordering-service.md, section 4.3).
func (s *Sandbox) completeOrder(c *call) answer {
	return s.withOrder(c, func(o *order) answer {
		switch {
		case o.State.ended():
			return c.ended(o)
		case !o.Paid:
			return c.refuse(http.StatusInternalServerError, codeNotPaid, "the order is not fully paid")
		default:
			o.State = stateClosed
			return done()
		}
	})
}

// reason is a rejection reason (docs/ordering-service.md, section 2.3).
type reason struct {
	id, text, kind string
	deletable      bool
}

func reasons() []reason {
	return []reason{
		{"5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01", "The guest changed their mind", "simple", false},
		{"5f0c8a52-0002-4b6e-9a51-1c6f0a7d2e02", "The guest cannot be reached", "simple", false},
		{"5f0c8a52-0003-4b6e-9a51-1c6f0a7d2e03", "Out of the delivery area", "simple", true},
		{"5f0c8a52-0004-4b6e-9a51-1c6f0a7d2e04", "Кухня закрыта", "simple", true},
		{"5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "Another reason", "text", false},
	}
}

// rejectionReasons handles GET …/rejectionReasons (docs/ordering-service.md,
// section 4.4). The list is empty if reasons are disabled.
func (s *Sandbox) rejectionReasons(*call) answer {
	set := s.settings.get()
	list := []map[string]any{}
	if *set.RejectionReasons {
		for _, r := range reasons() {
			list = append(list, map[string]any{
				set.spell("ID"): r.id, "reason": r.text, "type": r.kind, "isPossibleDelete": r.deletable,
			})
		}
	}
	return result(http.StatusOK, list)
}

// rejectOrder handles PUT …/reject (docs/ordering-service.md, section 4.5).
func (s *Sandbox) rejectOrder(c *call) answer {
	v, err := readJSON(c.body)
	body, ok := v.(map[string]any)
	if err != nil || !ok {
		return c.refuse(http.StatusBadRequest, "malformed_json", "the body must be a JSON object")
	}
	wrong := rejectionWrong(body, *s.settings.get().RejectionReasons)
	return s.withOrder(c, func(o *order) answer {
		switch {
		case o.State.ended():
			return c.ended(o)
		case wrong != "":
			return c.refuse(http.StatusBadRequest, codeReason, wrong)
		default:
			o.State = stateRejected
			return done()
		}
	})
}

func rejectionWrong(body map[string]any, listed bool) string {
	id, _ := member(body, "rejectionReasonID").(string)
	text, _ := member(body, "rejectionReasonText").(string)
	if !listed {
		if id != "" || text != "" {
			return "rejection reasons are turned off: both fields must be empty"
		}
		return ""
	}
	i := slices.IndexFunc(reasons(), func(r reason) bool { return r.id == id })
	switch {
	case i < 0:
		return "rejectionReasonID: not one of the listed reasons"
	case reasons()[i].kind == "text" && strings.TrimSpace(text) == "":
		return "rejectionReasonText: this reason needs a text"
	}
	return ""
}
