package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

// Journal is the durable record of every order, as Orders needs it (policies O7 to O9 and O12 to
// O14). Every change of state is one atomic step that checks the current state. The suite of
// internal/testkit/journaltest tests implementations.
//
// Besides the errors that each method names, a method returns *JournalError if the store does not
// answer or contains invalid data. Its cause is a *FormatError if another version of larder wrote the records (policy O20).
// Nothing is written to the records of a connection then.
type Journal interface {
	// Ready returns nil if a new order of the connection can be recorded durably (policy O14), otherwise a
	// *NotReadyError with the setting to change. It is called before every order and must be cheap.
	Ready(ctx context.Context, connection string) error
	// Watch compares the commits that this instance remembers with those of the store (policy O14a), and
	// checks whether writes are acknowledged again (policy O14). It is called once per second.
	Watch(ctx context.Context, connection string) (JournalHealth, error)
	// Paused compares too, and returns since when orders are paused; zero without a pause. A record that is missing then
	// was never there: *NotReadyError if replicas must acknowledge writes, and too few do.
	Paused(ctx context.Context, connection string) (time.Time, error)
	// Accept accepts the records of a connection as the store has them, which ends the
	// pause (policy O14a). It reports whether there was a pause.
	Accept(ctx context.Context, connection string) (bool, error)

	// Secret returns the key for the hashes of keys and bodies of a connection. It is created once and is the same for every
	// instance as long as records exist. It is called before every order and must be cheap.
	Secret(ctx context.Context, connection string) ([]byte, error)
	// Lookup returns the call that has the hashed key of a request, with its record, or ErrKeyFree. An empty key is free.
	Lookup(ctx context.Context, connection, key string) (Record, int, error)
	// Begin opens a call. When it returns nil, the call is recorded with everything in CallSpec, and it is
	// the last call of the returned record. Begin checks in this order:
	//
	//  1. The key is taken: *KeyTakenError.
	//  2. Too few replicas acknowledge writes: *NotReadyError (policy O14).
	//  3. A creating call creates a record CallSpec.Ref in StatePlacing.
	//  4. A changing call needs the record of OrderID on the connection. If it
	//     does not exist, the result is ErrNoOrder; with Adopt, a record
	//     CallSpec.Ref is created in StatePlaced, with Adopted.
	//  5. The record belongs to another service: *SourceError (policy O16).
	//  6. A call of the record is open or unknown: *BusyError.
	//  7. The state is not StatePlaced, or the record is Paid and the operation is
	//     a payment: *StateError.
	//  8. Orders are paused, or the store has lost commits that this instance
	//     remembers: *RestoredError (policy O14a).
	//
	// After an error nothing may be sent. After a *JournalError the call may be open
	// nevertheless, so the caller aborts it.
	Begin(ctx context.Context, o CallSpec) (Record, error)
	// Abort ends the call that this CallSpec (by its ID) opened as not sent, with the effects of Finish. It
	// returns nil too if no such call was opened, or if it has ended. ErrUnreplicated means that the call is
	// aborted, but too few replicas have that; the caller calls Abort again (policy O14).
	Abort(ctx context.Context, o CallSpec) error
	// Finish ends a call.
	//
	// If the call is open, or unknown and not resolved, Finish appends the attempts and stores the answer and
	// the outcome. From then on, the OrderID of a created order finds this record, even if another record has
	// the same one, because services may restart their numbering. If that other record was adopted after this
	// one was created, both are the same order, and this record takes over its Paid and State; otherwise the
	// Derived keys of its changes are freed. A done payment sets Paid, a done completion StateClosed, a done
	// rejection StateRejected. A creating call that was refused, not sent or is unknown sets StateRefused,
	// StateNotSent or StateUnknown. The key is freed if the call was not sent, or if it was refused and the
	// key is Derived; otherwise a certain outcome keeps it for key_ttl more.
	//
	// If a person has resolved the call, OutcomeUnknown and the equal outcome only append the attempts. Equal
	// are done with the same OrderID, and refused or not_sent for not_done. A different outcome is stored as
	// Contradicted, and Finish returns *ContradictionError. For ResolvedRetry, done is a contradiction.
	//
	// If the outcome is already certain, the same outcome changes nothing, so that a Finish can be
	// retried; another outcome is a contradiction.
	//
	// Finish returns ErrNoOrder if there is no such record or call, or if CallResult.SpecID is set
	// and differs. ErrUnreplicated comes with the record: the change is made, and the caller calls
	// Finish again until enough replicas have it (policy O14). *IDRepeatedError comes with the record too: the outcome
	// of the call is unknown there, because another order got the orderID (policy O17).
	Finish(ctx context.Context, e CallResult) (Record, error)
	// EndRecheck ends the recheck of a refused create whose Recheck is RecheckRunning (policy O18). If the refusal is
	// explained, one step sets RecheckExplained and frees the key; the error is ErrRecheckOver if RecheckTime has passed
	// since the call ended. Otherwise the key stays. Errors: ErrRecheckOver, ErrNoOrder.
	EndRecheck(ctx context.Context, connection, ref string, call int, explained bool) error
	// Recreate writes a finished call and its record again after the store has lost them (policies O14 and
	// O14a). known is the record, call the number of the call in it, and body what the call sent. Data that
	// the store has is kept; if it has the call (by Call.SpecID), nothing changes. Otherwise earlier calls that the store
	// has without their end are ended too. Recreate returns the
	// record and the number of the call in it. ErrUnreplicated means the same as for Finish.
	Recreate(ctx context.Context, known Record, call int, body []byte) (Record, int, error)
	// Resolve records what a person found out about an operation whose outcome is unknown. Done has the
	// effects of Finish with done, and not_done those of refused. A client's own key stays, so that a replay
	// returns the resolution; a Derived key is freed, so that the change can be requested again.
	//
	// ResolvedRetry opens a new call with the same body, fingerprint and key, as Begin does, including
	// wait_replicas. It is the last call of the record. After a *JournalError it may be open nevertheless, so
	// the caller aborts it by its ID. For done and not_done, ErrUnreplicated comes with the record: the
	// caller calls Resolve or Finish again until enough replicas have the change (policy O14).
	//
	// Errors: ErrNoOrder; *StateError if the operation is not unknown, if Call and SpecID do not match its last call, or
	// if ResolvedRetry of a change is not allowed any more, because the order is paid or its state is another;
	// *BusyError for ResolvedRetry if another call is open or unknown; *RestoredError for ResolvedRetry while
	// orders are paused (policy O14a); *OrderIDTakenError if another order that larder placed has the OrderID
	// (an adopted one loses it); *BusyError if the adopted one has an open or unknown call, which must be resolved
	// first; ErrNoBody if the body is no longer kept, or the call is a copy of one of an adopted record, which may still
	// be in progress; *SourceError for ResolvedRetry of a foreign record (policy O16).
	Resolve(ctx context.Context, s ResolveCall) (Record, error)
	// Sweep sets calls of a connection whose deadline has passed from open to unknown, at most 100 (policy
	// O12), and returns their records. It also removes expired records from the lists (policy O13).
	Sweep(ctx context.Context, connection string) ([]Record, error)

	// Order returns the record of an orderID on a connection, or ErrNoOrder. A record of the connection's service is
	// preferred to a foreign one (policy O16).
	Order(ctx context.Context, connection, orderID string) (Record, error)
	// Record returns the record of a ref on any of the connections, or ErrNoOrder.
	Record(ctx context.Context, connections []string, ref string) (Record, error)
	// Body returns the body that a call sent, or ErrNoBody if it has none or it is no longer kept.
	Body(ctx context.Context, connection, ref string, call int) ([]byte, error)
	// Former returns the connections with records that are not configured any more (policy O20).
	Former(ctx context.Context, configured []string) ([]string, error)
	// List returns records, newest first, and the cursor of the next page, empty on the last page. With a *FormatError it
	// returns the records that it can read.
	List(ctx context.Context, q Query) (page []Record, next string, err error)
}

// CallSpec describes a call to open.
type CallSpec struct {
	// ID identifies this call; it has the format of a ref.
	ID         string
	Operation  Operation
	Connection string
	// Ref is the ref of the new record. A changing call uses it only with Adopt.
	Ref     string
	OrderID string // the changed order; empty for a creating call
	// Adopt creates a record if the journal does not know the changed order (policy O9a).
	Adopt             bool
	Key               string // hash of the key in its scope; may be empty
	Derived           bool   // the key was computed from the request
	Fingerprint       string
	Client, RequestID string
	// Body is the body to send; it is nil for a completion. It contains guest data.
	Body     []byte
	Deadline time.Duration // how long the call may be open before its outcome counts as unknown (policy O12)

	// For a creating call.
	Restaurant  menu.RestaurantID
	MenuVersion int64
	Total       decimal.NullDecimal
	ExpectedAt  time.Time
	Payments    []Payment // of a payment
	ForGuest    bool      // of a rejection: its text is for the guest (policy O11)
}

// CallResult is the result of a call.
type CallResult struct {
	Connection, Ref string
	Call            int
	// SpecID is the ID of the CallSpec that opened the call. If it is empty, it is not compared.
	SpecID   string
	Outcome  Outcome // not OutcomeOpen
	OrderID  string  // id of a created order; set with OutcomeDone
	Attempts []Attempt
	Answer   *Answer // nil without an answer
	// Recheck sets RecheckRunning for a refused create with a key (policy O18).
	Recheck bool
	// Known is the record that Begin returned; it may be nil. It saves a read: a journal uses it only
	// if the record has not changed since.
	Known *Record
}

// ResolveCall is a person's resolution of an unknown outcome.
type ResolveCall struct {
	// ID is the CallSpec.ID of the new call, with ResolvedRetry.
	ID              string
	Connection, Ref string
	Operation       Operation
	Call            int // number of the unknown call; 0 means the last one of the operation
	// SpecID is the ID of the CallSpec that opened the call. If it is empty, it is not compared.
	SpecID     string
	Resolution Resolution
	OrderID    string // id of the created order, with ResolvedDone
	By, Note   string
	// RequestID and Deadline belong to the new call, with ResolvedRetry.
	RequestID string
	Deadline  time.Duration
}

// Query selects records.
type Query struct {
	Connections []string // connections to list
	// State selects records in one state. StateUnknown selects orders with any operation whose
	// outcome is unknown; an empty State selects all.
	State  State
	Limit  int    // maximum number of records, 1 to 500
	Cursor string // the next value of List; empty for the first page
}

// Errors of a Journal.
var (
	ErrNoOrder = errors.New("ordering: order not found") // the order is not known
	ErrKeyFree = errors.New("ordering: key is free")     // no request has used the key, or the key has expired
	ErrNoBody  = errors.New("ordering: the body of the call is no longer kept")
	// ErrRecheckOver means that the key of a refused order can no longer be freed: a repeated request gets the refusal.
	ErrRecheckOver = errors.New("ordering: the order is no longer checked again")
	// ErrCursor means that List did not return this cursor.
	ErrCursor = errors.New("ordering: invalid cursor")
	// ErrUnreplicated means that a change was made, but too few replicas of the store have
	// acknowledged it (policy O14).
	ErrUnreplicated = errors.New("ordering: too few replicas have acknowledged the change")
)

// JournalHealth is the health of one connection's journal, as this instance knows it.
type JournalHealth struct {
	// Replicas is the number of replicas that must acknowledge a change. Automatic is true if no
	// operator has set it; Seen, if a replica has ever acknowledged a change.
	Replicas        int
	Automatic, Seen bool
	Embedded        bool // Redis is inside the process and has no replicas
	// Attached is the number of replicas that Redis reports as attached; -1 if larder may not ask.
	Attached int
	// Durability is what a Redis without an append-only file does not survive; "" with one.
	Durability string
	// NotReady is why the settings of Redis prevent orders; "" if they do not.
	NotReady string
	// Failing is true if the last change was not acknowledged. No call is begun then.
	Failing  bool
	PausedAt time.Time // time since which orders are paused; zero without a pause
	// Unreadable is true if another version of larder wrote the records (policy O20). Nothing else is known then.
	Unreadable bool
	// Accepted is true if lost commits were accepted (ordering.accept_restore) since the last Watch.
	Accepted bool
	// Missing counts the losses of commits that were only reported, since the start.
	Missing int64
}

// RestoredError reports that the store lacks commits that an instance remembers, for example after
// a backup was restored. No call is begun until an operator accepts the records (policy O14a).
type RestoredError struct {
	Connection string
	Since      time.Time
}

func (e *RestoredError) Error() string {
	return fmt.Sprintf("ordering: the journal of connection %q has lost orders: orders are paused", e.Connection)
}

// JournalError reports that the journal could not be read or written.
type JournalError struct {
	Err error
	// Unwritten is true if Begin certainly wrote nothing, so that its call needs no Abort.
	Unwritten bool
}

func (e *JournalError) Error() string { return fmt.Sprintf("ordering: journal: %v", e.Err) }

func (e *JournalError) Unwrap() error { return e.Err }

// NotReadyError reports why orders cannot be recorded durably (policy O14).
type NotReadyError struct {
	// Msg describes the problem and the setting that solves it.
	Msg        string
	RetryAfter time.Duration // time after which the client should retry
	// Err is nil if a setting of Redis must change. Otherwise Redis or its replicas do not answer, or the records have
	// another format.
	Err error
}

func (e *NotReadyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("ordering: orders cannot be recorded: %s: %v", e.Msg, e.Err)
	}
	return "ordering: orders cannot be recorded: " + e.Msg
}

func (e *NotReadyError) Unwrap() error { return e.Err }

// KeyTakenError reports that another request has taken the key.
type KeyTakenError struct {
	Record Record
	Call   int
}

func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("ordering: the key was taken by call %d of order %s", e.Call, e.Record.Ref)
}

// BusyError reports that a call of the order is open or unknown (policy O9).
type BusyError struct {
	Record Record
	Call   Call
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("ordering: %s of order %s is %s", e.Call.Operation, e.Record.Ref, e.Call.Outcome)
}

// StateError reports that the state of the order does not allow the change.
type StateError struct {
	Record    Record
	Operation Operation
}

func (e *StateError) Error() string {
	return fmt.Sprintf("ordering: operation %s is not allowed for order %s in state %s (paid: %t)",
		e.Operation, e.Record.Ref, e.Record.State, e.Record.Paid)
}

// ContradictionError reports that the outcome of a call contradicts a person's resolution or an
// earlier answer. The record keeps both.
type ContradictionError struct {
	Record  Record
	Call    int
	Outcome Outcome
}

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("ordering: call %d of order %s has the outcome %s, which contradicts the recorded one", e.Call, e.Record.Ref, e.Outcome)
}

// repeatTime is the time in which a service does not give the same orderID to two orders of a restaurant (policy O17).
const repeatTime = time.Minute

// GotIDBefore reports whether a create of larder got the record's orderID less than a minute before a create of the
// restaurant began, or later: that create cannot have got the same one (policy O17). An orderID that a person named, and
// that of an order that larder did not place, is not compared.
func (r *Record) GotIDBefore(restaurant menu.RestaurantID, began time.Time) bool {
	create, _ := r.Last(upstream.OpCreate)
	return !r.Adopted && r.Restaurant == restaurant && create.Outcome == OutcomeDone && create.Resolved == nil &&
		create.EndedAt.Add(repeatTime).After(began)
}

// IDRepeatedError reports that a create got the orderID of another order, so its outcome is unknown (policy O17).
type IDRepeatedError struct {
	OrderID, Other string // Other is the ref of the order that got it first
	Err            error  // ErrUnreplicated, or nil
}

func (e *IDRepeatedError) Error() string {
	return fmt.Sprintf("ordering: the response has orderID %s, which order %s got before", e.OrderID, e.Other)
}

func (e *IDRepeatedError) Unwrap() error { return e.Err }

// OrderIDTakenError reports that another order has the orderID.
type OrderIDTakenError struct{ OrderID, Ref string }

func (e *OrderIDTakenError) Error() string {
	return fmt.Sprintf("ordering: orderID %s belongs to order %s", e.OrderID, e.Ref)
}
