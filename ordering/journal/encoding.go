package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
)

// The fields of an order's hash. A name that ends with a colon is followed by the number of a call.
const (
	fieldRev     = "rev"     // revision, from 1
	fieldHeader  = "head"    // header as JSON, written once
	fieldState   = "state"   // ordering.State
	fieldPaid    = "paid"    // "1" or missing
	fieldOrderID = "orderID" // of the ordering service
	fieldCreated = "created" // milliseconds since the epoch, as all times here
	fieldUpdated = "updated"

	fieldCallHeader   = "c:"  // callHeader as JSON, written once
	fieldOutcome      = "o:"  // ordering.Outcome
	fieldStarted      = "b:"  // time
	fieldEnded        = "e:"  // time
	fieldAttempts     = "t:"  // []storedAttempt as JSON
	fieldAnswer       = "a:"  // ordering.Answer as JSON: only status and code
	fieldResolved     = "s:"  // ordering.ResolvedBy as JSON
	fieldResolvedAt   = "sa:" // time
	fieldContradicted = "x:"  // ordering.Outcome

	// In the hash with a call's guest data.
	fieldBody     = "body"   // the request body
	fieldGuestAns = "answer" // the whole ordering.Answer as JSON
)

// callFields returns the names of all fields of one call.
func callFields() []string {
	return []string{
		fieldCallHeader, fieldOutcome, fieldStarted, fieldEnded, fieldAttempts,
		fieldAnswer, fieldResolved, fieldResolvedAt, fieldContradicted,
	}
}

func numbered(field string, call int) string { return field + strconv.Itoa(call) }

// header contains the immutable part of an order.
type header struct {
	Ref         string            `json:"ref"`
	Connection  string            `json:"connection"`
	Client      string            `json:"client"`
	Restaurant  menu.RestaurantID `json:"restaurant,omitempty"`
	Adopted     bool              `json:"adopted,omitempty"`
	Total       string            `json:"total,omitempty"` // exact decimal
	MenuVersion int64             `json:"menuVersion,omitempty"`
	ExpectedAt  int64             `json:"expectedAt,omitempty"` // milliseconds since the epoch
}

// callHeader contains the immutable part of a call.
type callHeader struct {
	ID          string             `json:"id"` // ID of the ordering.CallSpec
	Operation   ordering.Operation `json:"operation"`
	Client      string             `json:"client"`
	RequestID   string             `json:"requestId"`
	Fingerprint string             `json:"fingerprint"`
	Derived     bool               `json:"derived,omitempty"`
	Key         string             `json:"key,omitempty"` // hash of the key
	Payments    []payment          `json:"payments,omitempty"`
}

// headerOf returns the immutable part of a record.
func headerOf(r *ordering.Record) header {
	h := header{
		Ref:         r.Ref,
		Connection:  r.Connection,
		Client:      r.Client,
		Restaurant:  r.Restaurant,
		Adopted:     r.Adopted,
		MenuVersion: r.MenuVersion,
		ExpectedAt:  epoch(r.ExpectedAt),
	}
	if r.Total.Valid {
		h.Total = exact(r.Total.Decimal)
	}
	return h
}

// callHeaderOf returns the immutable part of a call.
func callHeaderOf(call *ordering.Call) callHeader {
	payments := make([]payment, 0, len(call.Payments))
	for _, p := range call.Payments {
		payments = append(payments, payment{Code: p.Code, Amount: exact(p.Amount), PaidAt: p.PaidAt})
	}
	return callHeader{
		ID:          call.SpecID,
		Operation:   call.Operation,
		Client:      call.Client,
		RequestID:   call.RequestID,
		Fingerprint: call.Fingerprint,
		Derived:     call.Derived,
		Key:         call.Key,
		Payments:    payments,
	}
}

// payment is the stored form of an ordering.Payment.
type payment struct {
	Code   string `json:"code"`
	Amount string `json:"amount"` // exact decimal
	PaidAt string `json:"paidAt"`
}

// storedAttempt is the stored form of an ordering.Attempt.
type storedAttempt struct {
	At       int64            `json:"at"`       // nanoseconds since the epoch
	Duration int64            `json:"duration"` // nanoseconds
	Status   int              `json:"status,omitempty"`
	Outcome  ordering.Outcome `json:"outcome"`
	Code     string           `json:"code,omitempty"`
}

// encode encodes one of the forms above; encoding them cannot fail.
func encode(form any) string {
	text, _ := json.Marshal(form)
	return string(text)
}

// exact formats a decimal with all digits, including trailing zeros.
func exact(d decimal.Decimal) string {
	return d.StringFixed(max(-d.Exponent(), 0))
}

// epoch converts a time to milliseconds since the epoch; the zero time is 0.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment is the inverse of epoch.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func encodeAttempts(tries []ordering.Attempt) string {
	forms := make([]storedAttempt, len(tries))
	for i, t := range tries {
		forms[i] = storedAttempt{
			Duration: int64(t.Duration),
			Status:   t.Status,
			Outcome:  t.Outcome,
			Code:     t.Code,
		}
		if !t.At.IsZero() {
			forms[i].At = t.At.UnixNano()
		}
	}
	return encode(forms)
}

// order is a stored order: its record and data that only the journal needs.
type order struct {
	ordering.Record

	place    location
	revision string            // empty if there is no record yet
	fields   map[string]string // hash of the record
	answers  map[int]string    // whole answers by call number, while they are kept
}

// location identifies a stored order.
type location struct{ connection, ref string }

// member returns the order's member of the sorted sets, which sorts by creation time.
func (o *order) member() string { return fmt.Sprintf("%015d/%s", epoch(o.CreatedAt), o.Ref) }

// decode decodes an order from its hash and its answers. The error is ErrCorrupt with the name of
// the field, never with its value.
func decode(at location, fields map[string]string, answers map[int]string) (*order, error) {
	o := &order{
		place:    at,
		revision: fields[fieldRev],
		fields:   fields,
		answers:  answers,
	}
	d := decoder{order: o}
	d.readRecord()
	for _, number := range callNumbers(fields) {
		d.call(number)
	}
	if d.fault != "" {
		return nil, fmt.Errorf("order %q: %w: field %q", at.ref, ErrCorrupt, d.fault)
	}
	return o, nil
}

// callNumbers returns the sorted numbers of the calls.
func callNumbers(fields map[string]string) []int {
	var numbers []int
	for field := range fields {
		digits, ok := strings.CutPrefix(field, fieldCallHeader)
		if n, _ := strconv.Atoi(digits); ok && n > 0 && strconv.Itoa(n) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// decoder decodes fields and keeps the first error.
type decoder struct {
	order *order
	fault string
}

func (d *decoder) corrupt(field string) {
	d.fault = cmp.Or(d.fault, field)
}

func (d *decoder) json(field, text string, into any) {
	if json.Unmarshal([]byte(text), into) != nil {
		d.corrupt(field)
	}
}

// time decodes a field that may be missing.
func (d *decoder) time(field string) time.Time {
	if _, ok := d.order.fields[field]; !ok {
		return time.Time{}
	}
	return d.moment(field)
}

func (d *decoder) moment(field string) time.Time {
	ms, err := strconv.ParseInt(d.order.fields[field], 10, 64)
	if err != nil || ms < 1 || ms > latest {
		d.corrupt(field)
		return time.Time{}
	}
	return moment(ms)
}

// latest is the last millisecond of the year 9999, the last one that JSON times support.
const latest = 253402300799999

// exponents limits the exponents of decimals: formatting a larger one could use all memory.
const exponents = 64

func (d *decoder) decimal(field, text string) decimal.Decimal {
	number, err := decimal.NewFromString(text)
	if err != nil || number.Exponent() > exponents || number.Exponent() < -exponents {
		d.corrupt(field)
		return decimal.Decimal{}
	}
	return number
}

func (d *decoder) outcome(field string, outcome ordering.Outcome) ordering.Outcome {
	if outcome != ordering.OutcomeOpen && outcome != ordering.OutcomeUnknown && !outcome.Certain() {
		d.corrupt(field)
	}
	return outcome
}

func (d *decoder) readRecord() {
	o, fields := d.order, d.order.fields
	if revision, err := strconv.ParseInt(o.revision, 10, 64); err != nil || revision < 1 {
		d.corrupt(fieldRev)
	}
	var h header
	d.json(fieldHeader, fields[fieldHeader], &h)
	if h.Ref != o.place.ref || h.Connection != o.place.connection || h.ExpectedAt < 0 || h.ExpectedAt > latest {
		d.corrupt(fieldHeader)
	}
	o.Record = ordering.Record{
		Ref:         h.Ref,
		Connection:  h.Connection,
		Client:      h.Client,
		Restaurant:  h.Restaurant,
		Adopted:     h.Adopted,
		OrderID:     fields[fieldOrderID],
		State:       ordering.State(fields[fieldState]),
		Paid:        fields[fieldPaid] == yes,
		MenuVersion: h.MenuVersion,
		ExpectedAt:  moment(h.ExpectedAt),
		CreatedAt:   d.moment(fieldCreated),
		UpdatedAt:   d.moment(fieldUpdated),
	}
	if h.Total != "" {
		o.Total = decimal.NewNullDecimal(d.decimal(fieldHeader, h.Total))
	}
	if !slices.Contains(ordering.States(), o.State) {
		d.corrupt(fieldState)
	}
}

func (d *decoder) call(n int) {
	fields := d.order.fields
	at := func(field string) (name, text string) { name = numbered(field, n); return name, fields[name] }

	name, text := at(fieldCallHeader)
	var begun callHeader
	d.json(name, text, &begun)
	operations := []ordering.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject}
	if !slices.Contains(operations, begun.Operation) {
		d.corrupt(name)
	}
	call := ordering.Call{
		Number:      n,
		Operation:   begun.Operation,
		Client:      begun.Client,
		RequestID:   begun.RequestID,
		Fingerprint: begun.Fingerprint,
		Derived:     begun.Derived,
		Key:         begun.Key,
		SpecID:      begun.ID,
		StartedAt:   d.moment(numbered(fieldStarted, n)),
		EndedAt:     d.time(numbered(fieldEnded, n)),
	}
	for _, p := range begun.Payments {
		call.Payments = append(call.Payments, ordering.Payment{Code: p.Code, Amount: d.decimal(name, p.Amount), PaidAt: p.PaidAt})
	}
	name, text = at(fieldOutcome)
	call.Outcome = d.outcome(name, ordering.Outcome(text))
	if name, text = at(fieldContradicted); text != "" {
		call.Contradicted = d.outcome(name, ordering.Outcome(text))
	}
	if name, text = at(fieldAttempts); text != "" {
		call.Attempts = d.attempts(name, text)
	}
	if name, text = at(fieldAnswer); text != "" {
		if whole := d.order.answers[n]; whole != "" {
			text = whole
		}
		call.Answer = &ordering.Answer{}
		d.json(name, text, call.Answer)
	}
	if name, text = at(fieldResolved); text != "" {
		call.Resolved = &ordering.ResolvedBy{}
		d.json(name, text, call.Resolved)
		call.Resolved.At = d.time(numbered(fieldResolvedAt, n))
		resolutions := []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry}
		if !slices.Contains(resolutions, call.Resolved.Resolution) {
			d.corrupt(name)
		}
	}
	d.order.Calls = append(d.order.Calls, call)
}

func (d *decoder) attempts(name, text string) []ordering.Attempt {
	var forms []storedAttempt
	d.json(name, text, &forms)
	var tries []ordering.Attempt
	for _, f := range forms {
		t := ordering.Attempt{
			Duration: time.Duration(f.Duration),
			Status:   f.Status,
			Outcome:  d.outcome(name, f.Outcome),
			Code:     f.Code,
		}
		if f.At != 0 {
			t.At = time.Unix(0, f.At).UTC()
		}
		tries = append(tries, t)
	}
	return tries
}
