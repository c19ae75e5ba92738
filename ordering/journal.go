package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// Journal is the durable record of every order, as Orders needs it (policies
// O7 to O9 and O12 to O14). Every change of state is one atomic step that
// checks the state it starts from. An implementation is right when it passes
// the suite of internal/testkit/journaltest.
//
// Errors beside those that each method names: *JournalError when the store
// does not answer, or answers what nobody wrote.
type Journal interface {
	// Secret returns the key of fingerprints and of the hashes of keys: made
	// once, the same for every replica for as long as the records live.
	Secret(ctx context.Context) ([]byte, error)
	// Ready returns nil when a new order of the connection can be kept safe
	// (policy O14), else a *NotReadyError that says what to change. It is cheap
	// enough to be asked before every order.
	Ready(ctx context.Context, connection string) error
	// Watch compares what this instance remembers of a connection's records with
	// what the store has (policy O14a) and finds out whether writes are
	// acknowledged again (policy O14). It is called once per second.
	Watch(ctx context.Context, connection string) (JournalHealth, error)
	// Accept ends the pause of a connection's creates: the records are accepted
	// as the store has them (policy O14a). It reports whether there was a pause.
	Accept(ctx context.Context, connection string) (bool, error)

	// Lookup returns the call that has taken a key (the hash of it), with its
	// record. ErrKeyFree when none has.
	Lookup(ctx context.Context, connection, key string) (Record, int, error)
	// Begin opens a call: it is recorded, with everything that CallSpec has,
	// when Begin returns. The call's number is that of the record's last call.
	//
	//  1. A key that is taken: *KeyTakenError, whatever else would be wrong.
	//  2. A creating call makes a record under CallSpec.Ref in StatePlacing.
	//  3. A changing call finds the record of OrderID on the connection. There
	//     is none: ErrNoOrder; with Adopt one is made under CallSpec.Ref in
	//     StatePlaced, Adopted.
	//  4. A call of the record is open or unknown: *BusyError.
	//  5. The record's state is not StatePlaced, or the operation is a payment
	//     and the record is Paid: *StateError.
	//
	//  6. A creating call while creates are paused, or when the store has lost
	//     commits that this instance remembers: *RestoredError (policy O14a).
	//  7. Too few replicas acknowledge writes: *NotReadyError (policy O14).
	//
	// Nothing may be sent after an error. After a *JournalError the call may
	// have been opened all the same: the caller aborts it.
	Begin(ctx context.Context, o CallSpec) (Record, error)
	// Abort ends the call that exactly this CallSpec (by its ID) opened as not
	// sent, with the effects of Finish; nil too when it opened none, or the
	// call has ended. ErrUnreplicated: it is aborted, and the caller aborts it
	// again until enough replicas have that (policy O14).
	Abort(ctx context.Context, o CallSpec) error
	// Finish ends a call.
	//
	// Of a call that is open, or unknown and not resolved: attempts are appended,
	// the answer is kept, and the outcome is what CallResult says. A created order
	// gets its OrderID, under which it is found from then on (an OrderID that
	// another record has goes over to this one: services begin anew, and the
	// Derived keys of that record's changes are freed. A record that was
	// adopted after this one was made is the same order: what it is, Paid and
	// State, this one is). A
	// done payment makes it Paid, a done completion StateClosed, a done
	// rejection StateRejected; a creating call that was refused, not sent or
	// is unknown gives StateRefused, StateNotSent or StateUnknown. The key is
	// freed when the call was not sent, or was refused and its key Derived;
	// otherwise a certain outcome lets it live for key_ttl more.
	//
	// Of a call that a person has resolved: what says the same (done with the
	// same OrderID, refused or not_sent after not_done) or OutcomeUnknown
	// changes nothing but the attempts; what says otherwise is kept as the call's
	// Contradicted and gives *ContradictionError. After ResolvedRetry of
	// the call, done is a contradiction.
	//
	// Of a call that is certain already: the same outcome changes nothing
	// (a Finish whose answer was lost may be sent again); another one is a
	// contradiction.
	//
	// ErrNoOrder when there is no such record or call; with CallResult.SpecID also
	// when another CallSpec has made the call. ErrUnreplicated comes with the
	// record: it is written, and the caller finishes the call again until enough
	// replicas have it (policy O14).
	Finish(ctx context.Context, e CallResult) (Record, error)
	// Recreate writes a call that has ended, and its record, where the store has
	// lost them (policies O14 and O14a): the record as it is known, the call by
	// its number in it and what it sent. What the store has is kept; when it has
	// the call (by Call.SpecID), nothing is changed. It returns the record, and
	// the number that the call has there. ErrUnreplicated is Finish's.
	Recreate(ctx context.Context, known Record, call int, body []byte) (Record, int, error)
	// Resolve notes what a person found out about an operation whose outcome is
	// unknown: the same effects as Finish of done, or refused for not_done:
	// a client's own key stays, so that its replay tells, a Derived one is
	// freed, or the change could not be asked for again. ResolvedRetry opens a
	// new call of the same body, fingerprint and key, as Begin does (with
	// wait_replicas too); its number is that of the record's last call. After a
	// *JournalError it may be open all the same: the caller aborts it, by its ID.
	// Of done and not_done, ErrUnreplicated comes with the record: it is written,
	// and the caller resolves or finishes the call again until enough replicas have
	// it (policy O14).
	//
	// Errors: ErrNoOrder; *StateError when the operation is not unknown, or its
	// last call is another one than Call and SpecID; *RestoredError of ResolvedRetry of a
	// create while creates are paused (policy O14a);
	// *OrderIDTakenError when another order, that larder placed, has the
	// OrderID (an adopted one gives it up); *BusyError when the adopted one has
	// a call that is open or unknown, which is resolved first; ErrNoBody when what was sent is no
	// longer kept.
	Resolve(ctx context.Context, s ResolveCall) (Record, error)
	// Sweep moves calls of a connection whose deadline has passed from open to
	// unknown, at most 100 (policy O12), and drops what has outlived its
	// retention (policy O13) from the lists. It returns the records moved.
	Sweep(ctx context.Context, connection string) ([]Record, error)

	// Order returns the record of an orderID on a connection, or ErrNoOrder.
	Order(ctx context.Context, connection, orderID string) (Record, error)
	// Record returns the record of a ref on any of the connections, or ErrNoOrder.
	Record(ctx context.Context, connections []string, ref string) (Record, error)
	// Body returns what a call sent, as it was sent, or ErrNoBody when it is no
	// longer kept or the call has none.
	Body(ctx context.Context, connection, ref string, call int) ([]byte, error)
	// List returns records, newest first, and the cursor of the next page, ""
	// for none.
	List(ctx context.Context, q Query) (page []Record, next string, err error)
}

// CallSpec is a call about to be made.
type CallSpec struct {
	// ID is this call's own, made like a ref.
	ID         string
	Operation  Operation
	Connection string
	// Ref is the new record's; of a changing call used only to adopt.
	Ref string
	// OrderID is the changed order's; "" of a creating call.
	OrderID string
	// Adopt: a change of an order that the journal does not know makes a
	// record of it (policy O9a).
	Adopt bool
	// Key is the hash of the key in its scope; "" for none.
	Key string
	// Derived: the key was not the client's own.
	Derived           bool
	Fingerprint       string
	Client, RequestID string
	// Body is what will be sent; nil of a completion. It holds guest data.
	Body []byte
	// Deadline is how long from now the call may be open before it counts as
	// unknown (policy O12).
	Deadline time.Duration

	// Of a creating call.
	Restaurant  menu.RestaurantID
	MenuVersion int64
	Total       decimal.NullDecimal
	ExpectedAt  time.Time
	// Of a pay call.
	Payments []Payment
}

// CallResult is how a call ended.
type CallResult struct {
	Connection, Ref string
	Call            int
	// SpecID is the ID of the CallSpec that opened the call; "" is not compared.
	SpecID string
	// Outcome is not OutcomeOpen.
	Outcome Outcome
	// OrderID is that of a created order: given with OutcomeDone.
	OrderID  string
	Attempts []Attempt
	Answer   *Answer // nil where there was none
}

// ResolveCall is a person's resolution of an unknown outcome.
type ResolveCall struct {
	// ID is the new call's CallSpec's, made like a ref, with ResolvedRetry.
	ID              string
	Connection, Ref string
	Operation       Operation
	// Call is the number of the call that is meant; 0 for the operation's last.
	Call int
	// SpecID is the ID of the CallSpec that opened the call; "" is not compared.
	SpecID     string
	Resolution Resolution
	// OrderID is the created order's, with ResolvedDone.
	OrderID  string
	By, Note string
	// RequestID and Deadline are those of the new call, with ResolvedRetry.
	RequestID string
	Deadline  time.Duration
}

// Query asks for records.
type Query struct {
	// Connections are those to list of.
	Connections []string
	// State: "" for all; StateUnknown for orders with any operation whose
	// outcome is unknown; else the records in that state.
	State State
	// Limit is how many at most, 1 to 500.
	Limit int
	// Cursor is what List returned as next; "" begins with the newest.
	Cursor string
}

// Sentinels of a Journal.
var (
	// ErrNoOrder: there is no such order here.
	ErrNoOrder = errors.New("ordering: no such order")
	// ErrKeyFree: nothing was asked for under this key, or it is forgotten.
	ErrKeyFree = errors.New("ordering: key is free")
	// ErrNoBody: what was sent is no longer kept.
	ErrNoBody = errors.New("ordering: what was sent is no longer kept")
	// ErrCursor: the cursor is none that List returned.
	ErrCursor = errors.New("ordering: no such cursor")
	// ErrUnreplicated: a change is made, but too few replicas of the store have
	// acknowledged it (policy O14).
	ErrUnreplicated = errors.New("ordering: too few replicas have acknowledged the change")
)

// JournalHealth is what an instance knows of one connection's journal.
type JournalHealth struct {
	// Replicas is how many replicas must acknowledge a change; Automatic when no
	// operator has set it; Seen when a replica has ever acknowledged one.
	Replicas        int
	Automatic, Seen bool
	// Failing: the last change was not acknowledged; no call is begun.
	Failing bool
	// PausedAt is since when creates are paused; the zero time when they are not.
	PausedAt time.Time
	// Accepted: lost commits were accepted (ordering.accept_restore) since the last Watch.
	Accepted bool
	// Missing is how many times lost commits were found and only reported, since
	// the start.
	Missing int64
}

// RestoredError says that the store lacks commits that an instance remembers,
// as after a backup was restored. Creates are paused until an operator accepts
// the records as they are (policy O14a).
type RestoredError struct {
	Connection string
	Since      time.Time
}

func (e *RestoredError) Error() string {
	return fmt.Sprintf("ordering: the journal of connection %q has lost orders: creates are paused", e.Connection)
}

// JournalError says that the journal could not be read or written.
type JournalError struct{ Err error }

func (e *JournalError) Error() string { return fmt.Sprintf("ordering: journal: %v", e.Err) }

func (e *JournalError) Unwrap() error { return e.Err }

// NotReadyError says why no order can be kept safe at the moment (policy O14).
type NotReadyError struct {
	// Msg is for a person: what is wrong and which setting changes it.
	Msg string
	// RetryAfter is when to ask again.
	RetryAfter time.Duration
	Err        error
}

func (e *NotReadyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("ordering: orders cannot be recorded: %s: %v", e.Msg, e.Err)
	}
	return "ordering: orders cannot be recorded: " + e.Msg
}

func (e *NotReadyError) Unwrap() error { return e.Err }

// KeyTakenError says that another request has taken the key.
type KeyTakenError struct {
	Record Record
	Call   int
}

func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("ordering: the key was taken by call %d of order %s", e.Call, e.Record.Ref)
}

// BusyError says that a call of the order is open or unknown (policy O9).
type BusyError struct {
	Record Record
	Call   Call
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("ordering: %s of order %s is %s", e.Call.Operation, e.Record.Ref, e.Call.Outcome)
}

// StateError says that the order takes no such change as it stands.
type StateError struct {
	Record    Record
	Operation Operation
}

func (e *StateError) Error() string {
	return fmt.Sprintf("ordering: no %s of order %s, which is %s (paid: %t)", e.Operation, e.Record.Ref, e.Record.State, e.Record.Paid)
}

// ContradictionError says that a call ended otherwise than a person, or an
// earlier answer, had said. The record keeps both.
type ContradictionError struct {
	Record  Record
	Call    int
	Outcome Outcome
}

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("ordering: call %d of order %s turned out %s, against what it was held for", e.Call, e.Record.Ref, e.Outcome)
}

// OrderIDTakenError says that another order has the orderID.
type OrderIDTakenError struct{ OrderID, Ref string }

func (e *OrderIDTakenError) Error() string {
	return fmt.Sprintf("ordering: orderID %s belongs to order %s", e.OrderID, e.Ref)
}
