package validate

import (
	"strings"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// requireValue adds a violation if a value is missing or empty.
func (d *decoder) requireValue(of *object, field int, base string) {
	if v := &of.values[field]; v.blank() {
		name := of.fields.known[field].name
		addMissing(d.violations, v.position, of.end, base, name, name)
	}
}

// change is the decoded body of a change of an order.
type change struct {
	decoder   decoder
	canonical []byte
	fieldCase upstream.FieldCase
}

// start prepares reading the body; finish must be called after it.
func (c *change) start(in Input) {
	c.fieldCase = in.FieldCase
	c.decoder.start(in, &violation.List{Language: in.Language}).record(nil, len(in.Body))
}

// finish returns a *jsontext.SyntaxError if the body is not JSON.
func (c *change) finish() error {
	c.canonical = c.decoder.Recorded()
	return c.decoder.Err()
}

// Canonical returns the canonical form of the body (policy O7).
func (c *change) Canonical() []byte { return c.canonical }

// Violations returns the violations in the order of the body, and whether there are more.
func (c *change) Violations() (list []violation.Violation, more bool) {
	return c.decoder.violations.Sorted()
}

// maxPayments is the maximum number of payments in one body.
const maxPayments = 100

// Payments is the body of a pay call as the client sent it (docs/ordering-service.md, section 2.2).
type Payments struct {
	change
	all    []payment
	broken bool // the sum is not known
}

type payment struct {
	object
	base string // its JSON Pointer
}

// ReadPayments decodes and validates payments (policy O10). Violations returns their violations.
// The error is a *jsontext.SyntaxError.
func ReadPayments(in Input) (*Payments, error) {
	p := &Payments{}
	p.start(in)
	if d := &p.decoder; d.Kind() == jsontext.KindArray {
		p.readList()
	} else {
		d.mismatch(d.nextPos(), "", wantArray, d.Kind())
		d.Skip()
		p.broken = true
	}
	return p, p.finish()
}

func (p *Payments) readList() {
	d := &p.decoder
	at, count := d.nextPos(), 0
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
}

func (p *Payments) readPayment(base string) {
	d := &p.decoder
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

func (p *Payments) checkPayment(paid *payment) {
	d := &p.decoder
	for _, field := range []int{paymentCode, paymentAmount, paymentPaidAt} {
		d.requireValue(&paid.object, field, paid.base)
	}
	checkTextsOf(d.violations, &paid.object, paid.base)
	if v := &paid.values[paymentAmount]; v.state != readable {
		p.broken = true
	} else if v.number.Sign() < 0 {
		p.broken = true
		refuseValue(d.violations, v, paid.base, violation.ValueNotAllowed, violation.Params{"allowed": []string{"≥ 0"}})
	}
	if v := &paid.values[paymentPaidAt]; v.state == readable && !v.blank() {
		readTime(d.violations, v, paid.base)
	}
}

// Cover adds a violation to the last amount if the payments are less than total, unless one of them is not known.
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
		refuseValue(p.decoder.violations, amount, last.base, violation.AmountInsufficient, violation.Params{"total": number(wanted)})
	}
}

// List returns the payments that could be decoded.
func (p *Payments) List() []upstream.Payment {
	out := make([]upstream.Payment, len(p.all))
	for i := range p.all {
		v := p.all[i].values
		out[i] = upstream.Payment{
			Code:   v[paymentCode].text,
			Amount: v[paymentAmount].number.Decimal(),
			PaidAt: v[paymentPaidAt].text,
			Name:   v[paymentName].text,
			Extra:  unknownFields(p.decoder.v1, p.all[i].extra),
		}
	}
	return out
}

// Upstream returns the body for the ordering service.
func (p *Payments) Upstream() []byte { return upstream.AppendPaymentsJSON(nil, p.List(), p.fieldCase) }

// typeText is the type of a reason that requires a text.
const typeText = "text"

// Rejection is the body of a reject call as the client sent it (docs/ordering-service.md, section 4.5).
type Rejection struct {
	change
	object object
	broken bool
	found  int // number of violations found by decoding
}

// ReadRejection decodes and validates a rejection. Violations returns its violations. The error is
// a *jsontext.SyntaxError.
func ReadRejection(in Input) (*Rejection, error) {
	r := &Rejection{object: object{fields: rejectionFields, values: make([]value, rejectionFieldCount)}}
	r.start(in)
	d := &r.decoder
	if kind := d.Kind(); kind != jsontext.KindObject {
		d.mismatch(d.nextPos(), "", wantObject, kind)
		d.Skip()
		r.broken = true
	} else {
		d.readMembers(&r.object, "")
		checkTextsOf(d.violations, &r.object, "")
	}
	r.found = d.violations.Len()
	return r, r.finish()
}

// Check checks the rejection against the reasons that the service lists (policy O11), and reports
// whether it is valid. It replaces the violations of an earlier Check.
func (r *Rejection) Check(reasons []upstream.Reason) bool {
	r.decoder.violations.Truncate(r.found)
	r.checkReason(reasons)
	return r.decoder.violations.Len() == r.found
}

func (r *Rejection) checkReason(reasons []upstream.Reason) {
	d := &r.decoder
	reason, text := &r.object.values[rejectionReason], &r.object.values[rejectionText]
	if r.broken || reason.state == refused {
		return
	}
	if len(reasons) == 0 {
		for _, v := range []*value{reason, text} {
			if !v.blank() && v.state == readable {
				refuseValue(d.violations, v, "", violation.ValueNotAllowed, violation.Params{"allowed": []string{""}})
			}
		}
		return
	}
	if reason.blank() {
		d.requireValue(&r.object, rejectionReason, "")
		return
	}
	ids := make([]string, len(reasons))
	for i, listed := range reasons {
		if ids[i] = listed.ID; listed.ID != reason.text {
			continue
		}
		if strings.EqualFold(listed.Type, typeText) {
			d.requireValue(&r.object, rejectionText, "")
		}
		return
	}
	refuseValue(d.violations, reason, "", violation.ValueNotAllowed, violation.Params{"allowed": ids})
}

// Upstream returns the body for the ordering service. Values that the client omitted are empty.
func (r *Rejection) Upstream() []byte {
	out := upstream.Rejection{
		ReasonID:   r.object.values[rejectionReason].text,
		ReasonText: r.object.values[rejectionText].text,
		Extra:      unknownFields(r.decoder.v1, r.object.extra),
	}
	return out.AppendJSON(nil, r.fieldCase)
}
