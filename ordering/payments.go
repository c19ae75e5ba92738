package ordering

import (
	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// maxPayments is how many payments one body may have.
const maxPayments = 100

// payments are the body of a pay call as the client sent it
// (docs/ordering-service.md, section 2.2).
type payments struct {
	*decoder
	all    []payment
	broken bool // no sum is known
}

// payment is one element of it.
type payment struct {
	object
	base string // its JSON Pointer
}

// readPayments reads and checks the payments (policy O10); what is wrong
// stands in notes.
func readPayments(c *ChangeRequest, notes *violation.List) *payments {
	p := &payments{decoder: changeReader(c, notes)}
	at := p.nextPos()
	if kind := p.Kind(); kind != jsontext.KindArray {
		p.mismatch(at, "", wantArray, kind)
		p.broken = true
		return p
	}
	count := 0
	for i := range p.Elements() {
		count++
		switch {
		case i < maxPayments:
			p.read(element("", i))
		case i == maxPayments:
			p.violations.Add(at, "", violation.LimitExceeded, violation.Params{"limit": maxPayments}, violation.LimitOfPayments)
		}
	}
	if count == 0 {
		p.violations.Add(at, "", violation.FieldRequired, violation.Params{"field": "payments"}, "")
	}
	p.broken = p.broken || count == 0 || count > maxPayments
	return p
}

// read reads one payment.
func (p *payments) read(base string) {
	at := p.nextPos()
	if kind := p.Kind(); kind != jsontext.KindObject {
		p.mismatch(at, base, wantObject, kind)
		p.broken = true
		p.Skip()
		return
	}
	paid := payment{base: base, object: object{fields: paymentFields, values: make([]value, paymentFieldCount)}}
	p.readMembers(&paid.object, base)
	p.check(&paid)
	p.all = append(p.all, paid)
}

// check checks one payment.
func (p *payments) check(paid *payment) {
	for _, field := range []int{paymentCode, paymentAmount, paymentPaidAt} {
		p.require(&paid.values[field], paid.base, paymentFields.known[field].name, paid.end)
	}
	checkTextsOf(p.violations, &paid.object, paid.base)
	if v := &paid.values[paymentAmount]; v.state != readable {
		p.broken = true
	} else if v.number.Sign() < 0 {
		p.broken = true
		p.violations.Add(v.pos, member(paid.base, v.name), violation.ValueNotAllowed, violation.Params{"allowed": []string{"≥ 0"}}, "")
	}
	if v := &paid.values[paymentPaidAt]; v.state == readable && !v.blank() {
		readTime(p.violations, v, paid.base)
	}
}

// cover notes payments that are less than the order's total, where that is
// known; the last one's amount is what falls short.
func (p *payments) cover(total decimal.NullDecimal) {
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
		p.violations.Add(amount.pos, member(last.base, amount.name), violation.AmountInsufficient, violation.Params{"total": number(wanted)}, "")
	}
}

// records returns the payments as the record keeps them.
func (p *payments) records() []Payment {
	out := make([]Payment, len(p.all))
	for i := range p.all {
		v := p.all[i].values
		out[i] = Payment{Code: v[paymentCode].text, Amount: v[paymentAmount].number.Decimal(), PaidAt: v[paymentPaidAt].text}
	}
	return out
}

// upstreamBody returns what is sent.
func (p *payments) upstreamBody(spelling upstream.FieldCase) []byte {
	out := make([]upstream.Payment, len(p.all))
	for i, kept := range p.records() {
		paid := &p.all[i]
		out[i] = upstream.Payment{
			Code: kept.Code, Amount: kept.Amount, PaidAt: kept.PaidAt,
			Name: paid.values[paymentName].text, Extra: unknownFields(p.v1, paid.extra),
		}
	}
	return upstream.AppendPaymentsJSON(nil, out, spelling)
}
