package ordering

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// Operation is a call that changes something at the ordering service:
// upstream.OpCreate, OpPay, OpComplete or OpReject.
type Operation = upstream.Operation

// State is where an order stands (policy O9).
type State string

// The states of an order.
const (
	// StatePlacing: it is on its way to the ordering service.
	StatePlacing State = "placing"
	// StatePlaced: the service has taken it.
	StatePlaced State = "placed"
	// StateRefused: the service said no, or a person found that it has none.
	StateRefused State = "refused"
	// StateUnknown: the service may or may not have it.
	StateUnknown State = "unknown"
	// StateNotSent: it certainly did not reach the service.
	StateNotSent State = "not_sent"
	// StateClosed: it was completed. No more changes.
	StateClosed State = "closed"
	// StateRejected: it was rejected. No more changes.
	StateRejected State = "rejected"
)

// States returns every state in the order of an order's life.
func States() []State {
	return []State{StatePlacing, StatePlaced, StateRefused, StateUnknown, StateNotSent, StateClosed, StateRejected}
}

// Outcome is what is known of a call, and of each of its attempts (policy O8).
type Outcome string

// The outcomes.
const (
	// OutcomeOpen: the call is in flight; of calls alone.
	OutcomeOpen Outcome = "open"
	// OutcomeDone: it certainly took effect.
	OutcomeDone Outcome = "done"
	// OutcomeRefused: the service said no; it certainly took no effect.
	OutcomeRefused Outcome = "refused"
	// OutcomeNotSent: it certainly did not reach the service, or was turned
	// away for now.
	OutcomeNotSent Outcome = "not_sent"
	// OutcomeUnknown: it may have taken effect.
	OutcomeUnknown Outcome = "unknown"
)

// Certain reports whether the outcome is certain: done, refused or not_sent.
func (o Outcome) Certain() bool {
	return o == OutcomeDone || o == OutcomeRefused || o == OutcomeNotSent
}

// Record is what the journal holds of one order (policy O9).
type Record struct {
	// Ref is larder's own reference, 26 characters.
	Ref string
	// Connection is whose service has the order; OrderID is scoped to it.
	Connection string
	// Client placed the order; of an adopted one, it was the first to change it.
	Client string
	// Restaurant is whose menu the order was checked against; of the
	// connection's own menu cache.DefaultMenu's id; "" of an adopted order.
	Restaurant menu.RestaurantID
	// Adopted: larder did not place the order, it only passed on a change of
	// it (policy O9a).
	Adopted bool
	// OrderID is the service's; "" until it is known.
	OrderID string
	State   State
	Paid    bool
	// Total is in the restaurant's currency, exact; not Valid of an adopted order.
	Total decimal.NullDecimal
	// MenuVersion is the catalogue's version the order was checked against
	// (policy O6); 0 of an adopted order.
	MenuVersion int64
	// CreatedAt and UpdatedAt are by the journal's clock, whole milliseconds, UTC.
	CreatedAt, UpdatedAt time.Time
	// ExpectedAt is the zero time where the order has none.
	ExpectedAt time.Time
	// Calls are the order's calls, oldest first. The creating one is always
	// there (not of an adopted order); of the changes the latest MaxCalls.
	Calls []Call
}

// MaxCalls is how many calls that change an order its record keeps.
const MaxCalls = 100

// Call is one call of the ordering service: opened once, tried one or more
// times (policy O8), ended once.
type Call struct {
	// Number is unique in the record: 1, 2, ….
	Number    int
	Operation Operation
	Outcome   Outcome
	// Client asked for it, with the request RequestID.
	Client, RequestID string
	// Fingerprint is the keyed hash of what was asked for: operation, order or
	// restaurant, and canonical body.
	Fingerprint string
	// Key is the hash of the call's key, "" for none; SpecID the ID of the
	// CallSpec that opened it.
	Key, SpecID string
	// Derived: the call's key was made from what was asked for, not sent by the
	// client. A refusal does not keep such a key.
	Derived bool
	// StartedAt and EndedAt are by the journal's clock; EndedAt is the zero
	// time while the call is open, or unknown and only swept.
	StartedAt, EndedAt time.Time
	Attempts           []Attempt
	// Payments are what a pay call pays; nil of others.
	Payments []Payment
	// Answer is the service's last answer; nil where there was none. After
	// ordering.customer_data_ttl only its Status and Code are left (policy O13).
	Answer *Answer
	// Resolved is who resolved an unknown outcome, and how; nil when nobody did.
	Resolved *ResolvedBy
	// Contradicted is the certain outcome that came to be known after a
	// person had resolved the call otherwise; "" for none (policy O12).
	Contradicted Outcome
}

// Attempt is one exchange with the ordering service (policy W14).
type Attempt struct {
	At       time.Time
	Duration time.Duration
	// Status is 0 where there was no answer.
	Status  int
	Outcome Outcome
	// Code is the service's error code, "" for none.
	Code string
}

// Answer is what the ordering service said to a call. A Journal keeps it in the
// form that its tags give.
type Answer struct {
	Status      int    `json:"status"`
	ContentType string `json:"contentType,omitempty"`
	// Code, Msg and RequestID are the service's own where the body has the
	// document's error shape.
	Code      string `json:"code,omitempty"`
	Msg       string `json:"msg,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	// RetryAfter is how long the service asked to wait; 0 for not.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Body is the whole body up to upstream.MaxErrorBytes, secrets removed;
	// Cut: it was longer.
	Body []byte `json:"body,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
}

// ResolvedBy is how a person resolved an outcome that was unknown. A Journal keeps
// it in the form that its tags give.
type ResolvedBy struct {
	// By is the ops client.
	By string    `json:"by"`
	At time.Time `json:"-"`
	// Resolution is what the person said.
	Resolution Resolution `json:"how"`
	// Note is the person's own.
	Note string `json:"note,omitempty"`
}

// Resolution is what a person says of an unknown outcome.
type Resolution string

// The resolutions.
const (
	// ResolvedDone: it took effect.
	ResolvedDone Resolution = "done"
	// ResolvedNotDone: it did not take effect, and shall not.
	ResolvedNotDone Resolution = "not_done"
	// ResolvedRetry: it did not take effect; larder shall send it again.
	ResolvedRetry Resolution = "send_again"
)

// Payment is one payment of an order.
type Payment struct {
	// Code is the POS currency's GUID.
	Code string
	// Amount is exact, in the restaurant's currency.
	Amount decimal.Decimal
	// PaidAt is RFC 3339 with offset, as it was sent.
	PaidAt string
}

// Call returns a call by its number.
func (r *Record) Call(number int) (Call, bool) {
	for i := range r.Calls {
		if r.Calls[i].Number == number {
			return r.Calls[i], true
		}
	}
	return Call{}, false
}

// Last returns the latest call of an operation.
func (r *Record) Last(op Operation) (Call, bool) {
	for _, call := range slices.Backward(r.Calls) {
		if call.Operation == op {
			return call, true
		}
	}
	return Call{}, false
}

// Busy returns the call that keeps the order from being changed: one that is
// open, or whose outcome is unknown. There is at most one (policy O9).
func (r *Record) Busy() (Call, bool) {
	for _, call := range slices.Backward(r.Calls) {
		if call.Outcome == OutcomeOpen || call.Outcome == OutcomeUnknown {
			return call, true
		}
	}
	return Call{}, false
}

// Payments are what the order was paid with; nil while it is not paid.
func (r *Record) Payments() []Payment {
	for _, call := range slices.Backward(r.Calls) {
		if call.Operation == upstream.OpPay && call.Outcome == OutcomeDone {
			return call.Payments
		}
	}
	return nil
}

// Refs returns a source of order references (policy O9): ULIDs, 26 characters
// that sort by time to the millisecond, with 80 random bits.
func Refs(clock func() time.Time) func() string {
	return func() string {
		return ulid.MustNew(ulid.Timestamp(clock()), rand.Reader).String()
	}
}

// withResult returns the record as it will be when the journal has the result.
func (r *Record) withResult(e CallResult, at time.Time) Record {
	out := *r
	at = at.UTC().Truncate(time.Millisecond)
	out.UpdatedAt = at
	out.Calls = slices.Clone(r.Calls)
	for i := range out.Calls {
		call := &out.Calls[i]
		if call.Number != e.Call {
			continue
		}
		call.Outcome, call.Answer, call.EndedAt = e.Outcome, e.Answer, at
		call.Attempts = slices.Concat(call.Attempts, e.Attempts)
		out.State = StateAfter(out.State, call.Operation, e.Outcome)
		if call.Operation == upstream.OpCreate && e.Outcome == OutcomeDone {
			out.OrderID = e.OrderID
		}
		out.Paid = out.Paid || call.Operation == upstream.OpPay && e.Outcome == OutcomeDone
	}
	return out
}

// StateAfter returns where an order is after a call of it has ended (policy O9).
func StateAfter(state State, op Operation, outcome Outcome) State {
	switch {
	case op == upstream.OpCreate && outcome == OutcomeDone:
		return StatePlaced
	case op == upstream.OpCreate && outcome == OutcomeRefused:
		return StateRefused
	case op == upstream.OpCreate && outcome == OutcomeNotSent:
		return StateNotSent
	case op == upstream.OpCreate:
		return StateUnknown
	case op == upstream.OpComplete && outcome == OutcomeDone:
		return StateClosed
	case op == upstream.OpReject && outcome == OutcomeDone:
		return StateRejected
	}
	return state
}

func withAnswer(answer upstream.Answer, err error) (*Answer, error) { return storedAnswer(answer), err }

// storedAnswer is a success as the journal keeps it; nil for no answer.
func storedAnswer(a upstream.Answer) *Answer {
	if a.Status == 0 {
		return nil
	}
	return &Answer{Status: a.Status, ContentType: a.ContentType, Body: a.Body, Cut: a.Cut}
}

// storedAttempt is a try as the journal keeps it.
func storedAttempt(t upstream.Attempt) Attempt {
	out := Attempt{At: t.At, Duration: t.Duration, Status: t.Status, Code: t.Code, Outcome: OutcomeDone}
	if t.Effect != upstream.EffectDone {
		out.Outcome = outcomeOf(t.Effect, t.Refused)
	}
	return out
}
