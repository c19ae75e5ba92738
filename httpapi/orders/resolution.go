package orders

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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

// read reads the field refs or calls.
func (s *severalOrders) read(field string, reader *jsontext.Reader, path string, violate func(string, violation.Code, violation.Params)) {
	if field == "refs" {
		s.refs = readRefs(reader, path, violate)
	} else {
		s.calls = readCalls(reader, path, violate)
	}
}

// readResolution reads {"operation", "outcome", "call", "orderID", "note"}, and for several orders "refs" and "calls" instead
// of "call" and "orderID". The names ignore case and underscores. Package ordering checks whether the values fit together.
func readResolution(c *gin.Context, several bool) (resolution ordering.ResolveRequest, orders severalOrders, err error) {
	body, err := respond.ReadJSON(c)
	if err != nil {
		return resolution, orders, err
	}
	var violations []violation.Violation
	var unknown error
	violate := func(path string, code violation.Code, params violation.Params) {
		violations = append(violations, violation.New(path, code, params, violation.English))
	}
	reader := jsontext.NewReader(string(body), respond.MaxDepth)
	if kind := reader.Kind(); kind != jsontext.KindObject {
		violate("", violation.TypeMismatch, violation.Params{"want": "object", "got": kind.String()})
	}
	fields := map[string]func(text string){
		"operation": func(text string) { resolution.Operation = ordering.Operation(text) },
		"outcome":   func(text string) { resolution.Resolution = ordering.Resolution(text) },
		"call":      func(text string) { resolution.Call = callNumber(text, "/call", violate) },
		"orderid":   func(text string) { resolution.OrderID = text },
		"note":      func(text string) { resolution.Note = text },
	}
	names := "operation, outcome, call, orderID and note"
	if several {
		maps.DeleteFunc(fields, func(name string, _ func(string)) bool { return name == "call" || name == "orderid" })
		names = "refs, calls, operation, outcome and note"
	}
	for name := range reader.Members() {
		folded, kind := jsontext.FoldName(name), reader.Kind()
		if several && (folded == "refs" || folded == "calls") {
			orders.read(folded, &reader, "/"+name, violate)
			continue
		}
		set, known := fields[folded]
		if !known {
			unknown = respond.InvalidParameter(name, "is an unknown field; the fields are "+names)
			continue
		}
		read := reader.Text
		if folded == "orderid" || folded == "call" {
			read = reader.ID // a number too (policy W4)
		}
		text, ok := read()
		set(text)
		if !ok && kind != jsontext.KindNull { // null is the same as missing; the name is one of the four, so the path needs no escapes
			violate("/"+name, violation.TypeMismatch, violation.Params{"want": jsontext.KindString.String(), "got": kind.String()})
		} else if folded == "note" && utf8.RuneCountInString(text) > maxNote {
			violate("/"+name, violation.LimitExceeded, violation.Params{"limit": maxNote})
		}
	}
	switch err := reader.Err(); {
	case err != nil:
		return ordering.ResolveRequest{}, severalOrders{}, err
	case several && len(orders.refs) == 0 && violations == nil:
		violate("/refs", violation.FieldRequired, violation.Params{"field": "refs"})
	}
	if violations != nil {
		return resolution, severalOrders{}, notResolvable(violations, nil)
	}
	return resolution, orders, cmp.Or(checkOrderID(&resolution), unknown)
}

// callNumber returns the number of a call, or 0 without a text.
func callNumber(text, path string, violate func(string, violation.Code, violation.Params)) int {
	number, err := strconv.Atoi(text)
	if text != "" && (err != nil || number < 1) {
		violate(path, violation.ValueNotAllowed, violation.Params{"allowed": []string{"the number of a call of the order"}})
	}
	return number
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

// readRefs reads the list of orders, each of them once.
func readRefs(reader *jsontext.Reader, path string, violate func(string, violation.Code, violation.Params)) (refs []string) {
	if kind := reader.Kind(); kind != jsontext.KindArray { // Elements skips it
		violate(path, violation.TypeMismatch, violation.Params{"want": jsontext.KindArray.String(), "got": kind.String()})
	}
	for i := range reader.Elements() {
		kind := reader.Kind()
		ref, ok := reader.Text()
		switch {
		case i == maxRefs:
			violate(path, violation.LimitExceeded, violation.Params{"limit": maxRefs})
		case i > maxRefs:
		case !ok:
			wrong := violation.Params{"want": jsontext.KindString.String(), "got": kind.String()}
			violate(path+"/"+strconv.Itoa(i), violation.TypeMismatch, wrong)
		case !slices.Contains(refs, ref):
			refs = append(refs, ref)
		}
	}
	return refs
}

// readCalls reads the numbers of calls by the refs of their orders.
func readCalls(reader *jsontext.Reader, path string, violate func(string, violation.Code, violation.Params)) map[string]int {
	if kind := reader.Kind(); kind != jsontext.KindObject && kind != jsontext.KindNull { // Members skips it
		violate(path, violation.TypeMismatch, violation.Params{"want": jsontext.KindObject.String(), "got": kind.String()})
	}
	calls := map[string]int{}
	for ref := range reader.Members() {
		text, _ := reader.ID()
		if len(calls) < maxRefs {
			calls[ref] = callNumber(cmp.Or(text, "?"), path, violate)
		}
	}
	return calls
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
	var (
		invalid *ordering.InvalidError
		state   *ordering.StateError
	)
	switch {
	case errors.As(err, &state):
		p := respond.Conflict(err)
		p.Msg = nothingToResolve(state)
		return p
	case errors.As(err, &invalid):
		return notResolvable(invalid.Violations, err)
	case !errors.Is(err, ordering.ErrNoBody):
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
