package ordering

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"
	"github.com/shopspring/decimal"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

// Operation is the kind of a call that changes something at the ordering service:
// upstream.OpCreate, OpPay, OpComplete or OpReject.
type Operation = upstream.Operation

// State is the state of an order (policy O9).
type State string

// The states of an order.
const (
	StatePlacing  State = "placing"  // the order is on its way to the ordering service
	StatePlaced   State = "placed"   // the service has accepted the order
	StateRefused  State = "refused"  // the service refused the order, or does not have it according to a person
	StateUnknown  State = "unknown"  // the service may or may not have the order
	StateNotSent  State = "not_sent" // the order certainly did not reach the service
	StateClosed   State = "closed"   // the order was completed; final
	StateRejected State = "rejected" // the order was rejected; final
)

// States returns all states, in the order of an order's life.
func States() []State {
	return []State{StatePlacing, StatePlaced, StateRefused, StateUnknown, StateNotSent, StateClosed, StateRejected}
}

// Outcome is what is known about a call or an attempt (policy O8).
type Outcome string

// The outcomes of calls and attempts.
const (
	OutcomeOpen    Outcome = "open"    // the call is in progress; attempts do not have it
	OutcomeDone    Outcome = "done"    // the call certainly took effect
	OutcomeRefused Outcome = "refused" // the service refused the call; it certainly had no effect
	// OutcomeNotSent means that the call certainly did not reach the service, or that the service
	// was temporarily unavailable and did not process it.
	OutcomeNotSent Outcome = "not_sent"
	OutcomeUnknown Outcome = "unknown" // the call may have taken effect
)

// Certain reports whether the outcome is certain: done, refused or not_sent.
func (o Outcome) Certain() bool {
	return o == OutcomeDone || o == OutcomeRefused || o == OutcomeNotSent
}

// Record is the journal's record of one order (policy O9). The tags are of its stored form (ordering/journal/codec.go).
type Record struct {
	Ref string `json:"-"` // larder's own id of the order, 26 characters
	// Connection is the connection of the service that has the order. OrderID is scoped to it.
	Connection string `json:"-"`
	// Source is the service that has the order (policy O16). Foreign means that it is not the connection's service any
	// more, so the order cannot be changed or sent again; the journal sets it when it reads the record.
	Source  string `json:"src,omitzero"`
	Foreign bool   `json:"-"`
	// Client placed the order or, if Adopted, was the first to change it.
	Client string `json:"by,omitzero"`
	// Restaurant is the restaurant whose menu the order was checked against. It is
	// cache.DefaultMenu's id for the default menu, and empty for an adopted order.
	Restaurant menu.RestaurantID   `json:"at,omitzero"`
	Adopted    bool                `json:"adopted,omitzero"` // larder did not place the order, but forwarded a change of it (policy O9a)
	OrderID    string              `json:"id,omitzero"`      // the service's id; empty until it is known
	State      State               `json:"state"`
	Paid       bool                `json:"paid,omitzero"`
	Total      decimal.NullDecimal `json:"total,omitzero"` // exact total in the restaurant's currency; not Valid for an adopted order
	// MenuVersion is the version of the catalogue that the order was checked against (policy O6);
	// it is 0 for an adopted order.
	MenuVersion int64 `json:"menu,omitzero"`
	// CreatedAt and UpdatedAt are from the journal's clock, in whole milliseconds, UTC.
	CreatedAt  time.Time `json:"created"`
	UpdatedAt  time.Time `json:"updated"`
	ExpectedAt time.Time `json:"for,omitzero"` // zero if the order has no expected time
	// Calls are the order's calls, oldest first: the creating one (unless Adopted) and the latest MaxCalls changes.
	Calls []Call `json:"calls,omitzero"`
	// Unknown has the members of a newer version (policy O21).
	Unknown jsontext.Value `json:",embed"`
}

// MaxCalls is the number of changes that a record keeps.
const MaxCalls = 100

// Call is one call of the ordering service. It is opened once, has one or more attempts (policy O8), and ends once.
type Call struct {
	Number    int       `json:"n"` // unique in the record; the first one is 1
	Operation Operation `json:"op"`
	Outcome   Outcome   `json:"out"`
	// Client and RequestID identify the request that caused the call.
	Client    string `json:"by,omitzero"`
	RequestID string `json:"req,omitzero"`
	// Fingerprint is the keyed hash of the request: operation, order or restaurant, and canonical body.
	Fingerprint string `json:"hash,omitzero"`
	// Key is the hash of the call's key, if any. SpecID is the ID of the CallSpec that opened the call.
	Key    string `json:"key,omitzero"`
	SpecID string `json:"spec,omitzero"`
	// Derived means that the key was computed from the request. A refusal frees such a key.
	Derived bool `json:"derived,omitzero"`
	// Recheck is set for a refused create whose order is, or was, checked against a newer menu (policy O18).
	Recheck Recheck `json:"recheck,omitzero"`
	// StartedAt and EndedAt are from the journal's clock. EndedAt is zero while the call is open,
	// or unknown after a sweep.
	StartedAt time.Time `json:"from"`
	EndedAt   time.Time `json:"to,omitzero"`
	Attempts  []Attempt `json:"tries,omitzero"`
	Payments  []Payment `json:"pays,omitzero"` // payments of a pay call; nil for other calls
	// ForGuest means that the text of the rejection is for the guest (policy O11).
	ForGuest bool `json:"forGuest,omitzero"`
	// Answer is the service's last answer; nil without one. After ordering.customer_data_ttl it
	// contains only Status and Code (policy O13).
	Answer   *Answer     `json:"answer,omitzero"`
	Resolved *ResolvedBy `json:"resolved,omitzero"` // a person's resolution of an unknown outcome; nil without one
	// Contradicted is a certain outcome that arrived later and contradicts the resolution (policy O12), or empty.
	Contradicted Outcome `json:"contradicted,omitzero"`
	// FoundOrderID is the order that a create with Contradicted made after all, or empty.
	FoundOrderID string `json:"found,omitzero"`

	Unknown jsontext.Value `json:",embed"` // as Record.Unknown
}

// Recheck is the state of the check of a refused order against a newer menu (policy O18).
type Recheck int

// The states of a recheck.
const (
	RecheckNone Recheck = iota
	// RecheckRunning means that the key counts as in flight, until RecheckTime after EndedAt. Journal.Lookup and
	// *KeyTakenError have RecheckNone from then on.
	RecheckRunning
	RecheckExplained // the newer menu explained the refusal, and the key was freed
)

// RecheckTime is how long a recheck may last, by the journal's clock.
const RecheckTime = 3 * time.Second

// Attempt is one HTTP exchange with the ordering service (policy W14).
type Attempt struct {
	At       time.Time      `json:"at,omitzero"`
	Duration time.Duration  `json:"took,omitzero"`
	Status   int            `json:"http,omitzero"` // 0 without an answer
	Outcome  Outcome        `json:"out"`
	Code     string         `json:"code,omitzero"` // the service's error code; may be empty
	Unknown  jsontext.Value `json:",embed"`        // as Record.Unknown
}

// Same reports whether both are the same exchange.
func (a Attempt) Same(b Attempt) bool {
	return a.At.Equal(b.At) && a.Duration == b.Duration && a.Status == b.Status && a.Outcome == b.Outcome && a.Code == b.Code
}

// Answer is the ordering service's answer to a call.
type Answer struct {
	Status      int    `json:"http,omitzero"`
	ContentType string `json:"-"` // any bytes
	// Code, Msg and RequestID are set if the body is an error of the documented shape.
	Code       string        `json:"code,omitzero"`
	Msg        string        `json:"msg,omitzero"`
	RequestID  string        `json:"req,omitzero"`
	RetryAfter time.Duration `json:"retry,omitzero"` // the wait that the service requested, or 0
	// Body is the body with secrets removed, at most 64 KiB. Cut means that it was longer.
	Body    []byte         `json:"body,omitzero"`
	Cut     bool           `json:"cut,omitzero"`
	Unknown jsontext.Value `json:",embed"` // as Record.Unknown
}

// ResolvedBy is a person's resolution of an unknown outcome.
type ResolvedBy struct {
	By         string         `json:"by"` // the operator's client
	At         time.Time      `json:"at,omitzero"`
	Resolution Resolution     `json:"as"`
	Note       string         `json:"note,omitzero"`
	Unknown    jsontext.Value `json:",embed"` // as Record.Unknown
}

// Resolution is what a person found out about an unknown outcome.
type Resolution string

// The resolutions.
const (
	ResolvedDone    Resolution = "done"       // the call took effect
	ResolvedNotDone Resolution = "not_done"   // the call did not take effect and will not
	ResolvedRetry   Resolution = "send_again" // the call did not take effect; larder sends it again
)

// Payment is one payment of an order.
type Payment struct {
	// Code is the GUID of the POS currency.
	Code   string          `json:"code"`
	Amount decimal.Decimal `json:"amount"`      // exact amount in the restaurant's currency
	PaidAt string          `json:"at,omitzero"` // time as the client sent it, RFC 3339 with offset

	Unknown jsontext.Value `json:",embed"` // as Record.Unknown
}

// last returns the last call that matches.
func (r *Record) last(matches func(*Call) bool) (Call, bool) {
	for i := range slices.Backward(r.Calls) {
		if matches(&r.Calls[i]) {
			return r.Calls[i], true
		}
	}
	return Call{}, false
}

// Call returns a call by its number.
func (r *Record) Call(number int) (Call, bool) {
	return r.last(func(c *Call) bool { return c.Number == number })
}

// Last returns the last call of an operation.
func (r *Record) Last(op Operation) (Call, bool) {
	return r.last(func(c *Call) bool { return c.Operation == op })
}

// LastUnknown returns the last call of an operation whose outcome is unknown.
func (r *Record) LastUnknown(op Operation) (Call, bool) {
	return r.last(func(c *Call) bool { return c.Operation == op && c.Outcome == OutcomeUnknown })
}

// UnknownCall returns the last call whose outcome is unknown.
func (r *Record) UnknownCall() (Call, bool) {
	return r.last(func(c *Call) bool { return c.Outcome == OutcomeUnknown })
}

// Busy returns the last call that prevents changes of the order: it is open, or its outcome is unknown. There is at most
// one (policy O9), unless Redis had lost calls.
func (r *Record) Busy() (Call, bool) {
	return r.last(func(c *Call) bool { return c.Outcome == OutcomeOpen || c.Outcome == OutcomeUnknown })
}

// PaidAfterAll reports whether a payment took effect that had been recorded as not done (policy O12). Another payment would
// be a second one.
func (r *Record) PaidAfterAll() bool {
	return slices.ContainsFunc(r.Calls, func(c Call) bool { return c.Operation == upstream.OpPay && c.Contradicted == OutcomeDone })
}

// MayBegin returns *BusyError or *StateError if the order does not allow the operation (policy O9). A create that is sent
// again is allowed in every state.
func (r *Record) MayBegin(op Operation) error {
	if call, busy := r.Busy(); busy {
		return &BusyError{Record: *r, Call: call}
	}
	if op != upstream.OpCreate && (r.State != StatePlaced || op == upstream.OpPay && (r.Paid || r.PaidAfterAll())) {
		return &StateError{Record: *r, Operation: op}
	}
	return nil
}

// ChangedAgain reports whether a call is the second copy of a change: an operator sent it again. An error of the service
// says nothing about the first copy then (policy O8b).
func (r *Record) ChangedAgain(second Call) bool {
	first, _ := r.last(func(c *Call) bool { return c.Operation == second.Operation && c.Number < second.Number })
	return second.Operation != upstream.OpCreate && first.Resolved != nil && first.Resolved.Resolution == ResolvedRetry
}

// Payments returns the payments of the order; nil while it is not paid.
func (r *Record) Payments() []Payment {
	paid, _ := r.last(func(c *Call) bool { return c.Operation == upstream.OpPay && c.Outcome == OutcomeDone })
	return paid.Payments
}

// Refs returns a generator of refs (policy O9): ULIDs, 26 characters that sort by time to the
// millisecond, with 80 random bits.
func Refs(clock func() time.Time) func() string {
	// The time fits until the year 10889.
	return func() string { return ulid.MustNew(uint64(max(clock().UnixMilli(), 0)), rand.Reader).String() }
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

// StateAfter returns the state of an order after one of its calls has ended (policy O9).
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
