package validate

import (
	"strings"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// typeText is the type of a reason that needs a text.
const typeText = "text"

// Rejection is the body of a reject call as the client sent it
// (docs/ordering-service.md, section 4.5).
type Rejection struct {
	decoder   *decoder
	object    object
	broken    bool
	found     int // how many violations reading it found
	fieldCase upstream.FieldCase
}

// ReadRejection reads a rejection. Violations returns what is wrong with it.
func ReadRejection(c Change) *Rejection {
	d := c.newDecoder()
	r := &Rejection{decoder: d, fieldCase: c.FieldCase, object: object{fields: rejectionFields, values: make([]value, rejectionFieldCount)}}
	if kind := d.Kind(); kind != jsontext.KindObject {
		d.mismatch(d.nextPos(), "", wantObject, kind)
		r.broken = true
	} else {
		d.readMembers(&r.object, "")
		checkTextsOf(d.violations, &r.object, "")
	}
	r.found = d.violations.Len()
	return r
}

// Check checks the rejection by the reasons that the service lists (policy O11),
// and reports whether they allow it. It replaces the violations of an earlier
// Check.
func (r *Rejection) Check(reasons []upstream.Reason) bool {
	r.decoder.violations.Truncate(r.found)
	r.checkReason(reasons)
	return r.decoder.violations.Len() == r.found
}

func (r *Rejection) checkReason(reasons []upstream.Reason) {
	d := r.decoder
	reason, text := &r.object.values[rejectionReason], &r.object.values[rejectionText]
	if r.broken || reason.state == refused {
		return
	}
	if len(reasons) == 0 {
		for _, v := range []*value{reason, text} {
			if !v.blank() && v.state == readable {
				d.violations.Add(v.pos, member("", v.name), violation.ValueNotAllowed, violation.Params{"allowed": []string{""}}, "")
			}
		}
		return
	}
	if reason.blank() {
		d.requireValue(reason, "", rejectionFields.known[rejectionReason].name, r.object.end)
		return
	}
	ids := make([]string, len(reasons))
	for i, listed := range reasons {
		if ids[i] = listed.ID; listed.ID != reason.text {
			continue
		}
		if strings.EqualFold(listed.Type, typeText) {
			d.requireValue(text, "", rejectionFields.known[rejectionText].name, r.object.end)
		}
		return
	}
	d.violations.Add(reason.pos, member("", reason.name), violation.ValueNotAllowed, violation.Params{"allowed": ids}, "")
}

// Upstream returns the body for the ordering service; what the client left out is
// empty.
func (r *Rejection) Upstream() []byte {
	out := upstream.Rejection{
		ReasonID: r.object.values[rejectionReason].text, ReasonText: r.object.values[rejectionText].text,
		Extra: unknownFields(r.decoder.v1, r.object.extra),
	}
	return out.AppendJSON(nil, r.fieldCase)
}

// Violations returns what is wrong with the rejection, in the order of the body,
// and whether there is more.
func (r *Rejection) Violations() (list []violation.Violation, more bool) {
	return r.decoder.violations.Sorted()
}
