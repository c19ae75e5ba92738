package journal

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/ordering"
)

// The fields of an order's hash. Those that a colon ends are followed by the
// number of a call.
const (
	fieldRev     = "rev"     // revision, 1, 2, …
	fieldHeader  = "head"    // header as JSON, written once
	fieldState   = "state"   // ordering.State
	fieldPaid    = "paid"    // "1", or no such field
	fieldOrderID = "orderID" // the service's
	fieldCreated = "created" // milliseconds since the epoch, as all times here
	fieldUpdated = "updated"

	fieldCallHeader   = "c:"  // callHeader as JSON, written once
	fieldOutcome      = "o:"  // ordering.Outcome
	fieldStarted      = "b:"  // time
	fieldEnded        = "e:"  // time
	fieldAttempts     = "t:"  // []storedAttempt as JSON
	fieldAnswer       = "a:"  // ordering.Answer as JSON: status and code alone
	fieldResolved     = "s:"  // ordering.ResolvedBy as JSON
	fieldResolvedAt   = "sa:" // time
	fieldContradicted = "x:"  // ordering.Outcome

	// Of the hash with a call's guest data.
	fieldBody     = "body"   // what was sent
	fieldGuestAns = "answer" // ordering.Answer as JSON, whole
)

// callFields are all fields of one call.
func callFields() []string {
	return []string{
		fieldCallHeader, fieldOutcome, fieldStarted, fieldEnded, fieldAttempts,
		fieldAnswer, fieldResolved, fieldResolvedAt, fieldContradicted,
	}
}

func numbered(field string, call int) string { return field + strconv.Itoa(call) }

// header is what never changes of an order.
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

// callHeader is what never changes of a call.
type callHeader struct {
	ID          string             `json:"id"` // ordering.CallSpec's
	Operation   ordering.Operation `json:"operation"`
	Client      string             `json:"client"`
	RequestID   string             `json:"requestId"`
	Fingerprint string             `json:"fingerprint"`
	Derived     bool               `json:"derived,omitempty"`
	Key         string             `json:"key,omitempty"` // hash of the key
	Payments    []payment          `json:"payments,omitempty"`
}

// headerOf returns the part of a record that never changes.
func headerOf(r *ordering.Record) header {
	h := header{
		Ref: r.Ref, Connection: r.Connection, Client: r.Client, Restaurant: r.Restaurant, Adopted: r.Adopted,
		MenuVersion: r.MenuVersion, ExpectedAt: epoch(r.ExpectedAt),
	}
	if r.Total.Valid {
		h.Total = exact(r.Total.Decimal)
	}
	return h
}

// callHeaderOf returns the part of a call that never changes.
func callHeaderOf(call *ordering.Call) callHeader {
	payments := make([]payment, 0, len(call.Payments))
	for _, p := range call.Payments {
		payments = append(payments, payment{Code: p.Code, Amount: exact(p.Amount), PaidAt: p.PaidAt})
	}
	return callHeader{
		ID: call.SpecID, Operation: call.Operation, Client: call.Client, RequestID: call.RequestID, Fingerprint: call.Fingerprint,
		Derived: call.Derived, Key: call.Key, Payments: payments,
	}
}

// payment is an ordering.Payment.
type payment struct {
	Code   string `json:"code"`
	Amount string `json:"amount"` // exact decimal
	PaidAt string `json:"paidAt"`
}

// storedAttempt is an ordering.Attempt.
type storedAttempt struct {
	At       int64            `json:"at"`       // nanoseconds since the epoch
	Duration int64            `json:"duration"` // nanoseconds
	Status   int              `json:"status,omitempty"`
	Outcome  ordering.Outcome `json:"outcome"`
	Code     string           `json:"code,omitempty"`
}

// encode writes one of the forms above, which all can be written.
func encode(form any) string {
	text, _ := json.Marshal(form)
	return string(text)
}

// exact writes a decimal with all its digits, trailing zeros too.
func exact(d decimal.Decimal) string {
	return d.StringFixed(max(-d.Exponent(), 0))
}

// epoch is a time in milliseconds since the epoch, 0 for the zero time.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment is the time of epoch.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func encodeAttempts(tries []ordering.Attempt) string {
	forms := make([]storedAttempt, len(tries))
	for i, t := range tries {
		forms[i] = storedAttempt{Duration: int64(t.Duration), Status: t.Status, Outcome: t.Outcome, Code: t.Code}
		if !t.At.IsZero() {
			forms[i].At = t.At.UnixNano()
		}
	}
	return encode(forms)
}
