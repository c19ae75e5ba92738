package orders

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/violation"
)

const (
	maxNote = 1000 // characters of an operator's note
	maxRefs = 100  // orders that one request resolves
)

// severalOrders are the orders of one resolution.
type severalOrders struct {
	refs  []string
	calls map[string]int // the numbers of their calls; may be empty
}

// resolutionBody reads the body of a resolution and collects its violations.
type resolutionBody struct {
	jsontext.Reader
	violations []violation.Violation
}

// readResolution reads {"operation", "outcome", "call", "orderID", "note"}, and for several orders "refs" and "calls" instead
// of "call" and "orderID". The names ignore case and underscores. Package ordering checks whether the values fit together.
func readResolution(c *gin.Context, several bool) (resolution ordering.ResolveRequest, orders severalOrders, err error) {
	text, err := respond.ReadJSON(c)
	if err != nil {
		return resolution, orders, err
	}
	body := &resolutionBody{Reader: jsontext.NewReader(string(text), respond.MaxDepth)}
	if kind := body.Kind(); kind != jsontext.KindObject {
		body.mistyped("", jsontext.KindObject, kind)
	}
	names := "operation, outcome, call, orderID and note"
	fields := map[string]func(path string){
		"operation": func(path string) { resolution.Operation = ordering.Operation(body.text(path, body.Text)) },
		"outcome":   func(path string) { resolution.Resolution = ordering.Resolution(body.text(path, body.Text)) },
		"note":      func(path string) { resolution.Note = body.note(path) },
	}
	if several {
		names = "refs, calls, operation, outcome and note"
		fields["refs"] = func(path string) { orders.refs = body.refs(path) }
		fields["calls"] = func(path string) { orders.calls = body.calls(path) }
	} else { // a number is an id too (policy W4)
		fields["call"] = func(path string) { resolution.Call = body.callNumber(body.text(path, body.ID), "/call") }
		fields["orderid"] = func(path string) { resolution.OrderID = body.text(path, body.ID) }
	}
	var unknown error
	for name := range body.Members() {
		if read, known := fields[jsontext.FoldName(name)]; known {
			read("/" + name) // a known name needs no escapes
		} else {
			unknown = respond.InvalidParameter(name, "is an unknown field; the fields are "+names)
		}
	}
	switch err := body.Err(); {
	case err != nil:
		return resolution, orders, err
	case several && len(orders.refs) == 0 && body.violations == nil:
		body.violate("/refs", violation.FieldRequired, violation.Params{"field": "refs"})
	}
	if body.violations != nil {
		return resolution, orders, notResolvable(body.violations, nil)
	}
	return resolution, orders, cmp.Or(checkOrderID(&resolution), unknown)
}

func (b *resolutionBody) violate(path string, code violation.Code, params violation.Params) {
	b.violations = append(b.violations, violation.New(path, code, params, violation.English))
}

// mistyped reports a value of another kind.
func (b *resolutionBody) mistyped(path string, want, got jsontext.Kind) {
	b.violate(path, violation.TypeMismatch, violation.Params{"want": want.String(), "got": got.String()})
}

// text reads a text; null is the same as missing.
func (b *resolutionBody) text(path string, read func() (text string, ok bool)) string {
	kind := b.Kind()
	text, ok := read()
	if !ok && kind != jsontext.KindNull {
		b.mistyped(path, jsontext.KindString, kind)
	}
	return text
}

// note reads the operator's note.
func (b *resolutionBody) note(path string) string {
	text := b.text(path, b.Text)
	if utf8.RuneCountInString(text) > maxNote {
		b.violate(path, violation.LimitExceeded, violation.Params{"limit": maxNote})
	}
	return text
}

// callNumber returns the number of a call, or 0 without a text.
func (b *resolutionBody) callNumber(text, path string) int {
	number, err := strconv.Atoi(text)
	if text != "" && (err != nil || number < 1) {
		b.violate(path, violation.ValueNotAllowed, violation.Params{"allowed": []string{"the number of a call of the order"}})
	}
	return number
}

// refs reads the list of orders, each of them once.
func (b *resolutionBody) refs(path string) (refs []string) {
	if kind := b.Kind(); kind != jsontext.KindArray { // Elements skips it
		b.mistyped(path, jsontext.KindArray, kind)
	}
	for i := range b.Elements() {
		kind := b.Kind()
		ref, ok := b.Text()
		switch {
		case i == maxRefs:
			b.violate(path, violation.LimitExceeded, violation.Params{"limit": maxRefs})
		case i > maxRefs:
		case !ok:
			b.mistyped(path+"/"+strconv.Itoa(i), jsontext.KindString, kind)
		case !slices.Contains(refs, ref):
			refs = append(refs, ref)
		}
	}
	return refs
}

// calls reads the numbers of calls by the refs of their orders.
func (b *resolutionBody) calls(path string) map[string]int {
	if kind := b.Kind(); kind != jsontext.KindObject && kind != jsontext.KindNull { // Members skips it
		b.mistyped(path, jsontext.KindObject, kind)
	}
	calls := map[string]int{}
	for ref := range b.Members() {
		text, _ := b.ID()
		if len(calls) < maxRefs {
			calls[ref] = b.callNumber(cmp.Or(text, "?"), path)
		}
	}
	return calls
}

// checkOrderID rejects the orderID of an order that was not created. This mistake could not be undone: an operator who
// knows the orderID has found the order.
func checkOrderID(resolution *ordering.ResolveRequest) error {
	notCreated := resolution.Resolution == ordering.ResolvedNotDone || resolution.Resolution == ordering.ResolvedRetry
	if resolution.Operation == upstream.OpCreate && resolution.OrderID != "" && notCreated {
		return respond.InvalidParameter("orderID", "is only allowed with the outcome done: an order that was not created has no orderID")
	}
	return nil
}

// onlyOneByOne returns the problem of a resolution that is not possible for several orders, or nil.
func onlyOneByOne(r *ordering.ResolveRequest) error {
	creates := r.Operation == upstream.OpCreate
	if r.Resolution != ordering.ResolvedRetry && (r.Resolution != ordering.ResolvedDone || !creates) {
		return nil
	}
	allowed := []string{string(ordering.ResolvedNotDone), string(ordering.ResolvedDone)}
	if creates {
		allowed = allowed[:1]
	}
	wrong := violation.New("/outcome", violation.ValueNotAllowed, violation.Params{"allowed": allowed}, violation.English)
	return respond.Invalid("several orders can be resolved at once as not_done, or as done for pay, complete and reject; a created order "+
		"that is done needs its own orderID, and an order needs a look before it is sent again: use POST /v1/ops/orders/{ref}/resolve",
		[]violation.Violation{wrong}, false, nil)
}

func notResolvable(violations []violation.Violation, cause error) error {
	return respond.Invalid("the resolution is not valid; see errors", violations, false, cause)
}

// resolutionProblem returns the problem of a rejected resolution. Certain outcomes cannot be
// resolved, and orders whose data has expired cannot be sent again (policy O13).
func resolutionProblem(err error) error {
	if state, ok := errors.AsType[*ordering.StateError](err); ok {
		p := respond.Conflict(err)
		p.Msg = nothingToResolve(state)
		return p
	}
	if invalid, ok := errors.AsType[*ordering.InvalidError](err); ok {
		return notResolvable(invalid.Violations, err)
	}
	if !errors.Is(err, ordering.ErrNoBody) {
		return err
	}
	allowed := []string{string(ordering.ResolvedDone), string(ordering.ResolvedNotDone)}
	expired := violation.New("/outcome", violation.ValueNotAllowed, violation.Params{"allowed": allowed}, violation.English)
	const msg = "the data of the request has expired, so it cannot be sent again; use the outcome done or not_done"
	return respond.Invalid(msg, []violation.Violation{expired}, false, nil)
}

// nothingToResolve returns why an operation cannot be resolved, and which operation can.
func nothingToResolve(state *ordering.StateError) string {
	record, operation := state.Record, string(state.Operation)
	if busy, is := record.Busy(); is && busy.Outcome == ordering.OutcomeUnknown {
		return fmt.Sprintf("the unknown outcome is that of %s, not of %s; the order is %s", busy.Operation, operation, respond.StateText(record))
	}
	text := "there is nothing to resolve: "
	switch call, made := record.Last(state.Operation); {
	case !made:
		text += operation + " was never requested"
	case call.Resolved != nil:
		text += call.Resolved.By + " has already resolved " + operation + " as " + string(call.Resolved.Resolution)
	case call.Outcome == ordering.OutcomeOpen:
		text += operation + " is in progress"
	default:
		text += "the outcome of " + operation + " is " + string(call.Outcome)
	}
	return text + "; the order is " + respond.StateText(record)
}
