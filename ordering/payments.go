package ordering

import (
	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/upstream"
)

// maxPayments is how many payments one body may have.
const maxPayments = 100

// payments are the body of a pay call as the client sent it
// (docs/ordering-service.md, section 2.2).
type payments struct {
	*decoder
	all    []payment
	broken bool // no sum can be told
}

// payment is one element of it.
type payment struct {
	base                       string // its JSON Pointer
	code, amount, paidAt, name value
	extra                      []upstream.Field
	end                        int32 // the place behind its last member
}

// readPayments reads and judges the payments (policy O10); what is wrong
// stands in notes.
func readPayments(c *Changing, notes *findings) *payments {
	p := &payments{decoder: changeReader(c, notes)}
	at := p.place()
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
			p.add(at, "", LimitExceeded, Params{"limit": maxPayments}, limitPayments)
		}
	}
	if count == 0 {
		p.add(at, "", FieldRequired, Params{"field": "payments"}, "")
	}
	p.broken = p.broken || count == 0 || count > maxPayments
	return p
}

// read reads one payment.
func (p *payments) read(base string) {
	at := p.place()
	if kind := p.Kind(); kind != jsontext.KindObject {
		p.mismatch(at, base, wantObject, kind)
		p.broken = true
		p.Skip()
		return
	}
	paid := payment{base: base}
	for name := range p.Members() {
		s := spot{name: name, at: p.place()}
		switch jsontext.FoldName(name) {
		case "code":
			p.readValue(&paid.code, base, s, wantID)
		case "amount":
			p.readValue(&paid.amount, base, s, wantNumber)
		case "paidat":
			p.readValue(&paid.paidAt, base, s, wantText)
		case "name":
			p.readValue(&paid.name, base, s, wantText)
		default:
			raw := p.Raw()
			if !p.native { // policy W8
				paid.extra = append(paid.extra, extraField(name, raw))
			}
		}
	}
	paid.end = p.place()
	p.check(&paid)
	p.all = append(p.all, paid)
}

// check judges one payment.
func (p *payments) check(paid *payment) {
	p.require(&paid.code, paid.base, "code", paid.end)
	p.require(&paid.amount, paid.base, "amount", paid.end)
	p.require(&paid.paidAt, paid.base, "paidAt", paid.end)
	p.checkText(&paid.code, paid.base, maxName)
	p.checkText(&paid.name, paid.base, maxName)
	if v := &paid.amount; v.state != readable {
		p.broken = true
	} else if v.number.Sign() < 0 {
		p.broken = true
		p.add(v.at, member(paid.base, v.name), ValueNotAllowed, Params{"allowed": []string{"≥ 0"}}, "")
	}
	if v := &paid.paidAt; v.state == readable && !v.blank() {
		p.readTime(v, paid.base)
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
		sum = sum.Add(p.all[i].amount.number)
	}
	if wanted := jsontext.NumberOf(total.Decimal); sum.Cmp(wanted) < 0 {
		last := &p.all[len(p.all)-1]
		p.add(last.amount.at, member(last.base, last.amount.name), AmountInsufficient, Params{"total": number(wanted)}, "")
	}
}

// kept gives the payments as the record keeps them.
func (p *payments) kept() []Payment {
	out := make([]Payment, len(p.all))
	for i := range p.all {
		paid := &p.all[i]
		out[i] = Payment{Code: paid.code.text, Amount: paid.amount.number.Decimal(), PaidAt: paid.paidAt.text}
	}
	return out
}

// wire gives what is sent.
func (p *payments) wire(spelling upstream.FieldCase) []byte {
	out := make([]upstream.Payment, len(p.all))
	for i := range p.all {
		paid := &p.all[i]
		out[i] = upstream.Payment{
			Code: paid.code.text, Amount: paid.amount.number.Decimal(), PaidAt: paid.paidAt.text, Name: paid.name.text, Extra: paid.extra,
		}
	}
	return upstream.AppendPaymentsJSON(nil, out, spelling)
}
