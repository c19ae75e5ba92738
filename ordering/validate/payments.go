package validate

import (
	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// maxPayments is how many payments one body may have.
const maxPayments = 100

// Payments are the body of a pay call as the client sent it
// (docs/ordering-service.md, section 2.2).
type Payments struct {
	decoder   *decoder
	all       []payment
	broken    bool // no sum is known
	fieldCase upstream.FieldCase
}

// payment is one element of it.
type payment struct {
	object
	base string // its JSON Pointer
}

// ReadPayments reads and checks the payments (policy O10). Violations returns
// what is wrong with them.
func ReadPayments(c Change) *Payments {
	d := c.newDecoder()
	p := &Payments{decoder: d, fieldCase: c.FieldCase}
	at := d.nextPos()
	if kind := d.Kind(); kind != jsontext.KindArray {
		d.mismatch(at, "", wantArray, kind)
		p.broken = true
		return p
	}
	count := 0
	for i := range d.Elements() {
		count++
		switch {
		case i < maxPayments:
			p.readPayment(element("", i))
		case i == maxPayments:
			d.violations.Add(at, "", violation.LimitExceeded, violation.Params{"limit": maxPayments}, violation.LimitOfPayments)
		}
	}
	if count == 0 {
		d.violations.Add(at, "", violation.FieldRequired, violation.Params{"field": "payments"}, "")
	}
	p.broken = p.broken || count == 0 || count > maxPayments
	return p
}

// readPayment reads one payment.
func (p *Payments) readPayment(base string) {
	d := p.decoder
	at := d.nextPos()
	if kind := d.Kind(); kind != jsontext.KindObject {
		d.mismatch(at, base, wantObject, kind)
		p.broken = true
		d.Skip()
		return
	}
	paid := payment{base: base, object: object{fields: paymentFields, values: make([]value, paymentFieldCount)}}
	d.readMembers(&paid.object, base)
	p.checkPayment(&paid)
	p.all = append(p.all, paid)
}

// checkPayment checks one payment.
func (p *Payments) checkPayment(paid *payment) {
	d := p.decoder
	for _, field := range []int{paymentCode, paymentAmount, paymentPaidAt} {
		d.requireValue(&paid.values[field], paid.base, paymentFields.known[field].name, paid.end)
	}
	checkTextsOf(d.violations, &paid.object, paid.base)
	if v := &paid.values[paymentAmount]; v.state != readable {
		p.broken = true
	} else if v.number.Sign() < 0 {
		p.broken = true
		d.violations.Add(v.pos, member(paid.base, v.name), violation.ValueNotAllowed, violation.Params{"allowed": []string{"≥ 0"}}, "")
	}
	if v := &paid.values[paymentPaidAt]; v.state == readable && !v.blank() {
		readTime(d.violations, v, paid.base)
	}
}

// Cover notes payments that are less than the order's total, where that is
// known; the last one's amount is what falls short.
func (p *Payments) Cover(total decimal.NullDecimal) {
	if p.broken || !total.Valid {
		return
	}
	var sum jsontext.Number
	for i := range p.all {
		sum = sum.Add(p.all[i].values[paymentAmount].number)
	}
	if wanted := jsontext.NumberOf(total.Decimal); sum.Cmp(wanted) < 0 {
		last := &p.all[len(p.all)-1]
		amount := &last.values[paymentAmount]
		p.decoder.violations.Add(amount.pos, member(last.base, amount.name), violation.AmountInsufficient, violation.Params{"total": number(wanted)}, "")
	}
}

// List returns the payments that could be read.
func (p *Payments) List() []upstream.Payment {
	out := make([]upstream.Payment, len(p.all))
	for i := range p.all {
		v := p.all[i].values
		out[i] = upstream.Payment{
			Code: v[paymentCode].text, Amount: v[paymentAmount].number.Decimal(), PaidAt: v[paymentPaidAt].text,
			Name: v[paymentName].text, Extra: unknownFields(p.decoder.v1, p.all[i].extra),
		}
	}
	return out
}

// Upstream returns the body for the ordering service.
func (p *Payments) Upstream() []byte { return upstream.AppendPaymentsJSON(nil, p.List(), p.fieldCase) }

// Violations returns what is wrong with the payments, in the order of the body,
// and whether there is more.
func (p *Payments) Violations() (list []violation.Violation, more bool) {
	return p.decoder.violations.Sorted()
}
