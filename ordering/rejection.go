package ordering

import (
	"context"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// typeText is the type of a reason that needs a text.
const typeText = "text"

// rejection is the body of a reject call as the client sent it
// (docs/ordering-service.md, section 4.5).
type rejection struct {
	*decoder
	object
	broken bool
}

// readRejection reads a rejection; what is wrong stands in notes.
func readRejection(c *ChangeRequest, notes *violation.List) *rejection {
	r := &rejection{decoder: changeReader(c, notes), object: object{fields: rejectionFields, values: make([]value, rejectionFieldCount)}}
	if kind := r.Kind(); kind != jsontext.KindObject {
		r.mismatch(r.nextPos(), "", wantObject, kind)
		r.broken = true
		return r
	}
	r.readMembers(&r.object, "")
	checkTextsOf(r.violations, &r.object, "")
	return r
}

// checkReason checks the rejection by the reasons that the service lists.
// Where it contradicts those that are cached, they are refreshed first; if that
// fails the cached ones apply (policy S5a).
func (o *Orders) checkReason(ctx context.Context, connection string, r *rejection) {
	if o.deps.Reasons == nil {
		return
	}
	reasons, err := o.deps.Reasons(ctx, connection)
	if err != nil {
		return // none is known
	}
	before := r.violations.Len()
	r.check(reasons)
	if r.violations.Len() == before || !o.refreshReasons(ctx, connection) {
		return
	}
	if reasons, err = o.deps.Reasons(ctx, connection); err == nil {
		r.violations.Truncate(before)
		r.check(reasons)
	}
}

func (o *Orders) refreshReasons(ctx context.Context, connection string) bool {
	return o.deps.RefreshReasons != nil && o.deps.RefreshReasons(ctx, connection)
}

// check checks the rejection by the reasons that the service lists (policy O11).
func (r *rejection) check(reasons []upstream.Reason) {
	reason, text := &r.values[rejectionReason], &r.values[rejectionText]
	if r.broken || reason.state == refused {
		return
	}
	if len(reasons) == 0 {
		for _, v := range []*value{reason, text} {
			if !v.blank() && v.state == readable {
				r.violations.Add(v.pos, member("", v.name), violation.ValueNotAllowed, violation.Params{"allowed": []string{""}}, "")
			}
		}
		return
	}
	if reason.blank() {
		r.require(reason, "", rejectionFields.known[rejectionReason].name, r.end)
		return
	}
	ids := make([]string, len(reasons))
	for i, listed := range reasons {
		if ids[i] = listed.ID; listed.ID != reason.text {
			continue
		}
		if strings.EqualFold(listed.Type, typeText) {
			r.require(text, "", rejectionFields.known[rejectionText].name, r.end)
		}
		return
	}
	r.violations.Add(reason.pos, member("", reason.name), violation.ValueNotAllowed, violation.Params{"allowed": ids}, "")
}

// upstreamBody returns what is sent; what the client left out is empty.
func (r *rejection) upstreamBody(spelling upstream.FieldCase) []byte {
	out := upstream.Rejection{
		ReasonID: r.values[rejectionReason].text, ReasonText: r.values[rejectionText].text, Extra: unknownFields(r.v1, r.extra),
	}
	return out.AppendJSON(nil, spelling)
}
