package validate

import (
	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// Change is the body of a change of an order as the client sent it: payments
// or a rejection.
type Change struct {
	// Body is valid JSON that has at most MaxBodyDepth levels of brackets.
	Body []byte
	// V1: the v1 API. It sends on only fields that the interface has; the
	// compatible API passes unknown ones on (policy W8).
	V1 bool
	// Language is what messages are written in: "en".
	Language string
	// FieldCase is how the body for the service spells its names.
	FieldCase upstream.FieldCase
}

// newDecoder returns a decoder of the body.
func (c *Change) newDecoder() *decoder {
	return &decoder{
		Reader:     jsontext.NewReader(string(c.Body), MaxBodyDepth),
		violations: &violation.List{Language: c.Language, Limit: violation.Max + 1},
		v1:         c.V1,
	}
}

// requireValue notes a value that is missing or empty.
func (d *decoder) requireValue(v *value, base, name string, end int32) {
	if !v.blank() {
		return
	}
	d.violations.Add(v.posOr(end), member(base, v.nameOr(name)), violation.FieldRequired, violation.Params{"field": name}, "")
}
