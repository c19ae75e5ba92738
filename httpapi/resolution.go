package httpapi

import (
	"errors"
	"unicode/utf8"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering"
)

// maxNote is how many characters an operator's note may have.
const maxNote = 1000

// readResolution reads {"operation", "outcome", "orderID", "note"}, names in
// any spelling. Whether the values go together is ordering's to say.
func readResolution(body []byte) (ordering.Resolving, error) {
	var (
		word       ordering.Resolving
		violations []ordering.Violation
	)
	reader := jsontext.NewReader(string(body), maxDepth)
	kind := reader.Kind()
	var unknown error
	for name := range reader.Members() {
		switch violation, known := resolutionField(&reader, name, &word); {
		case !known:
			unknown = invalid(name, "is not known here; there are operation, outcome, orderID and note")
		case violation != nil:
			violations = append(violations, *violation)
		}
	}
	if err := reader.Err(); err != nil {
		return ordering.Resolving{}, err
	}
	if kind != jsontext.KindObject {
		violations = append(violations, ordering.NewViolation("", ordering.TypeMismatch, ordering.Params{"want": "object", "got": kind.String()}, ordering.English))
	}
	if word.Operation == upstream.OpCreate && word.OrderID != "" && (word.How == ordering.SettledNotDone || word.How == ordering.SettledSendAgain) {
		// A slip that cannot be taken back: whoever knows the orderID has found the order.
		unknown = invalid("orderID", "goes with the outcome done: an order that was not created has none")
	}
	if violations != nil {
		return word, &problem{code: CodeValidationFailed, msg: "the order cannot be settled like this; see errors", violations: violations}
	}
	return word, unknown
}

// resolutionField reads one member into the word: what is wrong with it, and
// whether there is such a member at all.
func resolutionField(reader *jsontext.Reader, name string, word *ordering.Resolving) (wrong *ordering.Violation, known bool) {
	folded, kind := jsontext.FoldName(name), reader.Kind()
	text, ok := "", true
	switch {
	case kind == jsontext.KindNull: // as if it were not there
		reader.Skip()
	case folded == "orderid":
		text, ok = reader.ID() // a number too (policy W4)
	case kind == jsontext.KindString:
		text, ok = reader.Text()
	default:
		reader.Skip()
		ok = false
	}
	switch folded {
	case "operation":
		word.Operation = ordering.Operation(text)
	case "outcome":
		word.How = ordering.Settlement(text)
	case "orderid":
		word.OrderID = text
	case "note":
		word.Note = text
	default:
		return nil, false
	}
	path := "/" + name // one of the four, in any spelling: nothing in it to escape
	switch {
	case !ok:
		v := ordering.NewViolation(path, ordering.TypeMismatch, ordering.Params{"want": jsontext.KindString.String(), "got": kind.String()}, ordering.English)
		return &v, true
	case utf8.RuneCountInString(word.Note) > maxNote:
		v := ordering.NewViolation(path, ordering.LimitExceeded, ordering.Params{"limit": maxNote}, ordering.English)
		return &v, true
	default:
		return nil, true
	}
}

// rulesOfResolution words what a resolution breaks: what is known needs no
// settling, and what is no longer kept cannot be sent again (policy O13).
func rulesOfResolution(err error) error {
	var (
		invalid *ordering.InvalidError
		state   *ordering.StateError
	)
	switch {
	case errors.As(err, &state):
		p := conflict(err)
		p.msg = nothingToSettle(state)
		return p
	case errors.As(err, &invalid):
		return &problem{
			code: CodeValidationFailed, msg: "the order cannot be settled like this; see errors",
			violations: invalid.Violations, err: err,
		}
	case !errors.Is(err, ordering.ErrNoBody):
		return err
	}
	allowed := []string{string(ordering.SettledDone), string(ordering.SettledNotDone)}
	return &problem{
		code: CodeValidationFailed, msg: "what was sent is no longer kept, so it cannot be sent again",
		violations: []ordering.Violation{ordering.NewViolation("/outcome", ordering.ValueNotAllowed, ordering.Params{"allowed": allowed}, ordering.English)},
	}
}

// nothingToSettle says why an operation cannot be settled, and which can.
func nothingToSettle(state *ordering.StateError) string {
	record := state.Record
	call, made := record.Last(state.Operation)
	text := "there is nothing to settle: " + string(state.Operation) + " was never asked for"
	switch {
	case made && call.Settled != nil:
		text = "there is nothing to settle: " + call.Settled.By + " has settled " + string(state.Operation) + " as " + string(call.Settled.How)
	case made:
		text = "there is nothing to settle: the outcome of " + string(state.Operation) + " is " + orOpen(call.Outcome)
	}
	if busy, is := record.Busy(); is && busy.Outcome == ordering.OutcomeUnknown {
		text += "; what is unknown is " + string(busy.Operation)
	}
	return text + ". The order is " + stateWords(record)
}

// orOpen names an outcome, also one that is not there yet.
func orOpen(outcome ordering.Outcome) string {
	if outcome == ordering.OutcomeOpen {
		return "still to come"
	}
	return string(outcome)
}
