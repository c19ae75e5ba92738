package journal

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/shopspring/decimal"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// A record is stored as one text:
//
//	f3 REVISION COMMITTED RECORD
//
// REVISION has 26 characters and is different after each change; commit.lua compares it. COMMITTED is the time of the last
// commit, 15 digits, which commit.lua inserts. RECORD is an ordering.Record as JSON. It has neither the connection nor the ref,
// which are in the key, nor zero values. A time is in milliseconds since the epoch, or -1 for COMMITTED. An answer has only its
// status and code. Members that this version does not know are kept (policy O21).
const (
	recordFormat   = "f3 "
	revisionLength = 26
	timeDigits     = 15
	recordHead     = len(recordFormat) + revisionLength + 1
)

const (
	// latest is the last millisecond of the year 9999, the last one that JSON times support.
	latest = 253402300799999
	// exponents limits the exponents of decimals: formatting a larger one could use all memory.
	exponents = 64
	// maxDecimal limits the length of a decimal: parsing a longer one could take seconds.
	maxDecimal = 256
)

// encode returns the stored form of a record, with commitTime instead of the time of the commit. It fails for a record that
// decode would reject.
func encode(revision string, r *ordering.Record) (string, error) {
	stored := *r
	stored.Calls = slices.Clone(r.Calls)
	for i, call := range r.Calls {
		if call.Answer != nil {
			stored.Calls[i].Answer = &ordering.Answer{Status: call.Answer.Status, Code: call.Answer.Code}
		}
	}
	text, err := json.Marshal(&stored, marshalers)
	if err != nil {
		return "", corrupt(r.Ref, err)
	}
	if err := checkRecord(&stored); err != nil {
		return "", corrupt(r.Ref, err)
	}
	return recordFormat + revision + " " + commitTime + " " + string(text), nil
}

// decode decodes an order. The error is errCorrupt with the path of the value, never with the value itself. Each
// answer has only its status and code.
func decode(at location, text string) (*order, error) {
	o := new(order)
	if len(text) <= recordHead+timeDigits || !strings.HasPrefix(text, recordFormat) ||
		text[recordHead-1] != ' ' || text[recordHead+timeDigits] != ' ' {
		return nil, corrupt(at.ref, fault("format"))
	}
	o.revision = text[len(recordFormat) : recordHead-1]
	committed, err := strconv.ParseInt(text[recordHead:recordHead+timeDigits], 10, 64)
	if err != nil || committed < 1 || committed > latest {
		return nil, corrupt(at.ref, fault("committed"))
	}
	if err := json.Unmarshal([]byte(text[recordHead+timeDigits+1:]), &o.Record, unmarshalers); err != nil {
		return nil, corrupt(at.ref, err)
	}
	if err := checkRecord(&o.Record); err != nil {
		return nil, corrupt(at.ref, err)
	}
	o.Connection, o.Ref = at.connection, at.ref
	o.stamp(moment(committed))
	return o, nil
}

// wholeAnswer is the stored form of an answer.
type wholeAnswer struct {
	*ordering.Answer

	Type []byte `json:"type,omitzero"` // ContentType, which need not be UTF-8
}

// encodeAnswer returns the stored form of a whole answer.
func encodeAnswer(a *ordering.Answer) (string, error) {
	text, err := json.Marshal(wholeAnswer{a, []byte(a.ContentType)}, marshalers)
	return recordFormat + string(text), err
}

// readAnswer sets the whole answer of a call. It keeps the status and code of the record if text
// does not fit: then it was written after the record was read.
func (o *order) readAnswer(call *ordering.Call, text string) error {
	rest, ok := strings.CutPrefix(text, recordFormat)
	whole := wholeAnswer{Answer: &ordering.Answer{}}
	if !ok || json.Unmarshal([]byte(rest), &whole, unmarshalers) != nil {
		return corrupt(o.Ref, fault("answer of call "+strconv.Itoa(call.Number)))
	}
	whole.ContentType = string(whole.Type)
	if call.Answer != nil && whole.Status == call.Answer.Status && whole.Code == call.Answer.Code {
		call.Answer = whole.Answer
	}
	return nil
}

// fault is the path of a value that cannot be right.
type fault string

func (f fault) Error() string { return string(f) }

// corrupt returns errCorrupt with the path of the value, but without the value.
func corrupt(ref string, err error) error {
	path := "format"
	if f, ok := errors.AsType[fault](err); ok {
		path = string(f)
	} else if f, ok := errors.AsType[*json.SemanticError](err); ok {
		path = string(f.JSONPointer)
	}
	return fmt.Errorf("order %q: %w: value %q", ref, errCorrupt, path)
}

// checkRecord returns a fault if a value of a record cannot be right.
func checkRecord(r *ordering.Record) error {
	if !slices.Contains(ordering.States(), r.State) {
		return fault("/state")
	}
	if r.CreatedAt.IsZero() {
		return fault("/created")
	}
	if r.UpdatedAt.IsZero() {
		return fault("/updated")
	}
	number := 0
	for i := range r.Calls {
		if name := wrongIn(&r.Calls[i], number); name != "" {
			return fault("/calls/" + strconv.Itoa(i) + "/" + name)
		}
		number = r.Calls[i].Number
	}
	return nil
}

// wrongIn returns the name of a value of a call that cannot be right, or "". before is the number of the call before it.
func wrongIn(call *ordering.Call, before int) string {
	operations := []ordering.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject}
	resolutions := []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry}
	switch {
	case call.Number <= before:
		return "n"
	case !slices.Contains(operations, call.Operation):
		return "op"
	case !isOutcome(call.Outcome):
		return "out"
	case call.StartedAt.IsZero():
		return "from"
	case call.Recheck < 0 || call.Recheck > ordering.RecheckExplained:
		return "recheck"
	case call.Resolved != nil && !slices.Contains(resolutions, call.Resolved.Resolution):
		return "resolved"
	case call.Contradicted != "" && !isOutcome(call.Contradicted):
		return "contradicted"
	case slices.ContainsFunc(call.Attempts, func(a ordering.Attempt) bool { return !isOutcome(a.Outcome) }):
		return "tries"
	}
	return ""
}

func isOutcome(o ordering.Outcome) bool {
	return o == ordering.OutcomeOpen || o == ordering.OutcomeUnknown || o.Certain()
}

// nanoseconds is the form of durations.
//
//nolint:gochecknoglobals // constant
var nanoseconds = jsonv1.FormatDurationAsNano(true)

// marshalers are the forms of times, durations and decimals.
//
//nolint:gochecknoglobals // constant
var marshalers = json.JoinOptions(nanoseconds, jsontext.AllowInvalidUTF8(true), json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error { return to.WriteToken(jsontext.Int(epoch(t))) }),
	json.MarshalToFunc(func(to *jsontext.Encoder, d decimal.NullDecimal) error {
		if !d.Valid {
			return to.WriteToken(jsontext.Null)
		}
		return writeDecimal(to, d.Decimal)
	}),
	json.MarshalToFunc(writeDecimal),
)))

// writeDecimal writes all digits, including trailing zeros.
func writeDecimal(to *jsontext.Encoder, d decimal.Decimal) error {
	if !hasExponent(d) {
		return fault(to.StackPointer())
	}
	return to.WriteValue(jsontext.Value(d.StringFixed(max(-d.Exponent(), 0))))
}

// unmarshalers are the inverse of marshalers.
//
//nolint:gochecknoglobals // constant
var unmarshalers = json.JoinOptions(nanoseconds, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(from *jsontext.Decoder, t *time.Time) error {
		value, err := from.ReadValue()
		if err != nil {
			return err
		}
		ms, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || ms < -1 || ms > latest {
			return fault(from.StackPointer())
		}
		*t = moment(ms)
		return nil
	}),
	json.UnmarshalFromFunc(func(from *jsontext.Decoder, d *decimal.NullDecimal) error {
		if from.PeekKind() == 'n' {
			return from.SkipValue()
		}
		d.Valid = true
		return readDecimal(from, &d.Decimal)
	}),
	json.UnmarshalFromFunc(readDecimal),
)))

func readDecimal(from *jsontext.Decoder, d *decimal.Decimal) error {
	value, err := from.ReadValue()
	if err != nil {
		return err
	}
	if len(value) <= maxDecimal {
		*d, err = decimal.NewFromString(string(value))
	}
	if len(value) > maxDecimal || err != nil || !hasExponent(*d) {
		return fault(from.StackPointer())
	}
	return nil
}

// hasExponent reports whether the exponent of a decimal is within the limits.
func hasExponent(d decimal.Decimal) bool {
	return d.Exponent() <= exponents && d.Exponent() >= -exponents
}
