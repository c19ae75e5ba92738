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
	fieldHead    = "head"    // head as JSON, written once
	fieldState   = "state"   // ordering.State
	fieldPaid    = "paid"    // "1", or no such field
	fieldOrderID = "orderID" // the service's
	fieldCreated = "created" // milliseconds since the epoch, as all times here
	fieldUpdated = "updated"

	fieldOpening      = "c:"  // opening as JSON, written once
	fieldOutcome      = "o:"  // ordering.Outcome
	fieldStarted      = "b:"  // time
	fieldEnded        = "e:"  // time
	fieldTries        = "t:"  // []try as JSON
	fieldAnswer       = "a:"  // ordering.Answer as JSON: status and code alone
	fieldSettled      = "s:"  // ordering.ResolvedBy as JSON
	fieldSettledAt    = "sa:" // time
	fieldContradicted = "x:"  // ordering.Outcome

	// Of the hash with a call's guest data.
	fieldBody     = "body"   // what was sent
	fieldGuestAns = "answer" // ordering.Answer as JSON, whole
)

// callFields are all fields of one call.
func callFields() []string {
	return []string{
		fieldOpening, fieldOutcome, fieldStarted, fieldEnded, fieldTries, fieldAnswer, fieldSettled, fieldSettledAt, fieldContradicted,
	}
}

func numbered(field string, call int) string { return field + strconv.Itoa(call) }

// head is what never changes of an order.
type head struct {
	Ref         string            `json:"ref"`
	Connection  string            `json:"connection"`
	Client      string            `json:"client"`
	Restaurant  menu.RestaurantID `json:"restaurant,omitempty"`
	Adopted     bool              `json:"adopted,omitempty"`
	Total       string            `json:"total,omitempty"` // exact decimal
	MenuVersion int64             `json:"menuVersion,omitempty"`
	ExpectedAt  int64             `json:"expectedAt,omitempty"` // milliseconds since the epoch
}

// opening is what never changes of a call.
type opening struct {
	ID          string             `json:"id"` // ordering.CallSpec's
	Operation   ordering.Operation `json:"operation"`
	Client      string             `json:"client"`
	RequestID   string             `json:"requestId"`
	Fingerprint string             `json:"fingerprint"`
	Derived     bool               `json:"derived,omitempty"`
	Key         string             `json:"key,omitempty"` // hash of the key
	Payments    []payment          `json:"payments,omitempty"`
}

// headOf returns the part of a record that never changes.
func headOf(r *ordering.Record) head {
	h := head{
		Ref: r.Ref, Connection: r.Connection, Client: r.Client, Restaurant: r.Restaurant, Adopted: r.Adopted,
		MenuVersion: r.MenuVersion, ExpectedAt: epoch(r.ExpectedAt),
	}
	if r.Total.Valid {
		h.Total = exact(r.Total.Decimal)
	}
	return h
}

// openingOf returns the part of a call that never changes.
func openingOf(call *ordering.Call) opening {
	payments := make([]payment, 0, len(call.Payments))
	for _, p := range call.Payments {
		payments = append(payments, payment{Code: p.Code, Amount: exact(p.Amount), PaidAt: p.PaidAt})
	}
	return opening{
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

// try is an ordering.Attempt.
type try struct {
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
	if places := -d.Exponent(); places > 0 {
		return d.StringFixed(places)
	}
	return d.String()
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

func encodeTries(tries []ordering.Attempt) string {
	forms := make([]try, len(tries))
	for i, t := range tries {
		forms[i] = try{Duration: int64(t.Duration), Status: t.Status, Outcome: t.Outcome, Code: t.Code}
		if !t.At.IsZero() {
			forms[i].At = t.At.UnixNano()
		}
	}
	return encode(forms)
}
