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

	"larder/internal/upstream"
	"larder/ordering"
)

// order is an order as it is kept: its record, and what only the journal needs.
type order struct {
	ordering.Record

	place    location
	revision string            // "" when there is no record yet
	fields   map[string]string // the record's hash
	answers  map[int]string    // what the service answered, whole, while it is kept
}

// location is where an order is kept.
type location struct{ connection, ref string }

// member is what stands for the order in the sorted sets: it sorts by time.
func (o *order) member() string { return fmt.Sprintf("%015d/%s", epoch(o.CreatedAt), o.Ref) }

// decode reads an order from its hash and the answers kept beside it.
//
// The error is ErrCorrupt with the field's name, never its value.
func decode(at location, fields map[string]string, answers map[int]string) (*order, error) {
	o := &order{place: at, revision: fields[fieldRev], fields: fields, answers: answers}
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

// callNumbers returns the numbers of the calls, in their order.
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

// decoder reads fields and notes the first that nobody can have written.
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

// time reads a field that may be missing.
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

// latest is the last millisecond of the year 9999: what comes later, JSON
// cannot say.
const latest = 253402300799999

// exponents bound the decimals that are read: beyond, writing one out could
// take all memory.
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
		Ref: h.Ref, Connection: h.Connection, Client: h.Client, Restaurant: h.Restaurant, Adopted: h.Adopted,
		OrderID: fields[fieldOrderID], State: ordering.State(fields[fieldState]), Paid: fields[fieldPaid] == yes,
		MenuVersion: h.MenuVersion, ExpectedAt: moment(h.ExpectedAt),
		CreatedAt: d.moment(fieldCreated), UpdatedAt: d.moment(fieldUpdated),
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
		Number: n, Operation: begun.Operation, Client: begun.Client, RequestID: begun.RequestID,
		Fingerprint: begun.Fingerprint, Derived: begun.Derived, Key: begun.Key, SpecID: begun.ID,
		StartedAt: d.moment(numbered(fieldStarted, n)), EndedAt: d.time(numbered(fieldEnded, n)),
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
		t := ordering.Attempt{Duration: time.Duration(f.Duration), Status: f.Status, Outcome: d.outcome(name, f.Outcome), Code: f.Code}
		if f.At != 0 {
			t.At = time.Unix(0, f.At).UTC()
		}
		tries = append(tries, t)
	}
	return tries
}
