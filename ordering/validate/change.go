package validate

import (
	"strings"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
	"larder.local/ordering/violation"
)

// maxPayments is the maximum number of payments in one body.
const maxPayments = 100

// Payments is the body of a pay call as the client sent it (docs/ordering-service.md, section 2.2).
type Payments struct {
	body

	all   []payment
	count int // of elements in the body, with those that are not in all
}

type payment struct {
	object

	code, amount, paidAt, name value
}

// ReadPayments decodes and validates payments (policy O10). Violations returns their violations.
// The error is a *jsontext.SyntaxError.
func ReadPayments(in Input) (*Payments, error) {
	d, p := newDecoder(in), &Payments{}
	if where := at(d.offset()); d.is(jsontext.KindArray, wantArray) {
		for range d.Elements() {
			switch p.count++; {
			case p.count <= maxPayments:
				p.readPayment(d)
			case p.count == maxPayments+1:
				d.add(where, violation.LimitExceeded, violation.Params{"limit": maxPayments}, violation.LimitOfPayments)
			}
		}
		if p.count == 0 {
			d.missing(where, "payments")
		}
	}
	p.body = d.body
	return p, d.Err()
}

func (p *Payments) readPayment(d *decoder) {
	paid := payment{}
	if d.is(jsontext.KindObject, wantObject) {
		readMembers(d, paymentFields, &paid, &paid.object, nil)
		paid.check(&d.notes)
		p.all = append(p.all, paid)
	}
}

func (p *payment) check(n *notes) {
	for _, f := range paymentFields.fields[:3] { // all but the name
		n.requireValue(&p.object, f.of(p), f.name)
	}
	checkTexts(n, paymentFields, p)
	if p.amount.state == readable && !p.hasAmount() {
		n.refuseChoice(&p.amount, "≥ 0")
	}
	if v := &p.paidAt; v.state == readable && !v.blank() {
		readTime(n, v)
	}
}

// hasAmount reports whether the amount is known and valid.
func (p *payment) hasAmount() bool { return p.amount.state == readable && p.amount.number.Sign() >= 0 }

// requireValue adds a violation if a value is missing or empty.
func (n *notes) requireValue(of *object, v *value, name string) {
	if v.blank() {
		n.missing(of.placeOf(v.pos, name), name)
	}
}

// Cover adds a violation to the last amount if the payments are less than total, unless one of them is not known.
func (p *Payments) Cover(total decimal.NullDecimal) {
	if len(p.all) == 0 || len(p.all) < p.count || !total.Valid {
		return
	}
	var sum jsontext.Number
	for i := range p.all {
		if !p.all[i].hasAmount() {
			return
		}
		sum = sum.Add(p.all[i].amount.number)
	}
	if wanted := jsontext.NumberOf(total.Decimal); sum.Cmp(wanted) < 0 {
		last := &p.all[len(p.all)-1]
		p.add(at(last.amount.pos), violation.AmountInsufficient, violation.Params{"total": number(wanted)}, "")
	}
}

// Payment is a payment for the record of the order.
type Payment struct {
	Code   string
	Amount decimal.Decimal // exact, in the restaurant's currency
	PaidAt string          // RFC 3339 with offset, as it is sent
}

// List returns the payments that could be decoded.
func (p *Payments) List() []Payment {
	out := make([]Payment, len(p.all))
	for i := range p.all {
		paid := &p.all[i]
		out[i] = Payment{Code: paid.code.text, Amount: paid.amount.number.Decimal(), PaidAt: paid.paidAt.text}
	}
	return out
}

// Upstream returns the body for the ordering service. Values that the client omitted are empty.
func (p *Payments) Upstream() []byte {
	w := bodyWriter{fieldCase: p.FieldCase}
	w.Open('[')
	for i := range p.all {
		paid := &p.all[i]
		w.Next()
		w.Open('{')
		w.text("code", paid.code.text)
		w.number("amount", paid.amount.number)
		w.text("paidAt", paid.paidAt.text)
		w.text("name", paid.name.text)
		w.end(paid.extra)
	}
	w.Close(']')
	return w.Buf
}

// typeText is the type of a reason that requires a text.
const typeText = "text"

// Rejection is the body of a reject call as the client sent it (docs/ordering-service.md, section 4.5).
type Rejection struct {
	body
	object

	reason, text value
	found        int // number of violations found by decoding
}

// ReadRejection decodes and validates a rejection. Violations returns its violations. The error is
// a *jsontext.SyntaxError.
func ReadRejection(in Input) (*Rejection, error) {
	d, r := newDecoder(in), &Rejection{}
	if d.is(jsontext.KindObject, wantObject) {
		readMembers(d, rejectionFields, r, &r.object, nil)
		checkTexts(&d.notes, rejectionFields, r)
	}
	r.found, r.body = len(d.all), d.body
	return r, d.Err()
}

// Check checks the rejection against the reasons that the service lists (policy O11), and reports
// whether it is valid. It replaces the violations of an earlier Check.
func (r *Rejection) Check(reasons []upstream.Reason) bool {
	r.all = r.all[:r.found]
	r.checkReason(reasons)
	return len(r.all) == r.found
}

func (r *Rejection) checkReason(reasons []upstream.Reason) {
	reason, text := &r.reason, &r.text
	if r.state != readable || reason.state == refused {
		return
	}
	if len(reasons) == 0 {
		for _, v := range []*value{reason, text} {
			if !v.blank() && v.state == readable {
				r.refuseChoice(v, "")
			}
		}
		return
	}
	if reason.blank() {
		r.requireValue(&r.object, reason, "rejectionReasonID")
		return
	}
	ids := make([]string, len(reasons))
	for i, listed := range reasons {
		if ids[i] = listed.ID; listed.ID != reason.text {
			continue
		}
		if strings.EqualFold(listed.Type, typeText) {
			r.requireValue(&r.object, text, "rejectionReasonText")
		}
		return
	}
	r.refuseChoice(reason, ids...)
}

// Upstream returns the body for the ordering service. Values that the client omitted are empty.
func (r *Rejection) Upstream() []byte {
	w := bodyWriter{fieldCase: r.FieldCase}
	w.Open('{')
	w.text("rejectionReasonID", r.reason.text)
	w.text("rejectionReasonText", r.text.text)
	w.end(r.extra)
	return w.Buf
}
