package ordering

import (
	"context"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/upstream"
)

// The fields of a rejection (docs/ordering-service.md, section 4.5).
const (
	fieldReasonID   = "rejectionReasonID"
	fieldReasonText = "rejectionReasonText"
)

// typeText is the type of a reason that needs a text.
const typeText = "text"

// rejection is the body of a reject call as the client sent it.
type rejection struct {
	*decoder
	reason, text value
	extra        []upstream.Field
	end          int32 // the place behind its last member
	broken       bool
}

// readRejection reads a rejection; what is wrong stands in notes. A
// restaurantID is accepted and not sent (policy O11).
func readRejection(c *Changing, notes *findings) *rejection {
	r := &rejection{decoder: changeReader(c, notes)}
	if kind := r.Kind(); kind != jsontext.KindObject {
		r.mismatch(r.place(), "", wantObject, kind)
		r.broken = true
		return r
	}
	for name := range r.Members() {
		s := spot{name: name, at: r.place()}
		switch jsontext.FoldName(name) {
		case "rejectionreasonid":
			r.readValue(&r.reason, "", s, wantID)
		case "rejectionreasontext":
			r.readValue(&r.text, "", s, wantText)
		case "restaurantid":
			r.Skip()
		default:
			raw := r.Raw()
			if !r.native { // policy W8
				r.extra = append(r.extra, extraField(name, raw))
			}
		}
	}
	r.end = r.place()
	r.checkText(&r.reason, "", maxName)
	r.checkText(&r.text, "", maxText)
	return r
}

// checkReason holds the rejection against the reasons that the service lists.
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
	before := len(r.all)
	r.check(reasons)
	if len(r.all) == before || !o.refreshReasons(ctx, connection) {
		return
	}
	if reasons, err = o.deps.Reasons(ctx, connection); err == nil {
		r.all = r.all[:before]
		r.check(reasons)
	}
}

func (o *Orders) refreshReasons(ctx context.Context, connection string) bool {
	return o.deps.RefreshReasons != nil && o.deps.RefreshReasons(ctx, connection)
}

// check judges the rejection by the reasons that the service lists (policy O11).
func (r *rejection) check(reasons []upstream.Reason) {
	if r.broken || r.reason.state == refused {
		return
	}
	if len(reasons) == 0 {
		for _, v := range []*value{&r.reason, &r.text} {
			if !v.blank() && v.state == readable {
				r.add(v.at, member("", v.name), ValueNotAllowed, Params{"allowed": []string{""}}, "")
			}
		}
		return
	}
	if r.reason.blank() {
		r.require(&r.reason, "", fieldReasonID, r.end)
		return
	}
	ids := make([]string, len(reasons))
	for i, reason := range reasons {
		if ids[i] = reason.ID; reason.ID != r.reason.text {
			continue
		}
		if strings.EqualFold(reason.Type, typeText) {
			r.require(&r.text, "", fieldReasonText, r.end)
		}
		return
	}
	r.add(r.reason.at, member("", r.reason.name), ValueNotAllowed, Params{"allowed": ids}, "")
}

// wire gives what is sent; what the client left out is empty.
func (r *rejection) wire(spelling upstream.FieldCase) []byte {
	out := upstream.Rejection{ReasonID: r.reason.text, ReasonText: r.text.text, Extra: r.extra}
	return out.AppendJSON(nil, spelling)
}
