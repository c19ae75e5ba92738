// Package ordering places, pays, completes and rejects orders, each at most once.
//
// Its one invariant: nothing is sent that is not recorded, and nothing is sent twice. Only orders
// that ordering/validate accepts are sent.
//
// All four operations have the same steps. The request is validated, begun in the Journal, sent, finished in the
// Journal, and answered from the Record, so that a second answer equals the first. A replay is answered whatever the
// current menu contains: a change is looked up by its key first; the key of a new order is found when it is begun, or is
// looked up if the order is not valid. If the Journal does not accept a
// result, Orders.Run writes it later. Run also sets calls without a result to unknown; a person resolves them with
// Orders.Resolve. The Outcome is what is known for certain about a call (policy O8).
//
// httpapi calls Orders; cmd/larder passes it the Journal of ordering/journal. The package knows the menu and the wire
// types of the ordering service, but neither HTTP routing nor Redis. It does not log bodies, keys or guest data.
package ordering

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/menu"
	"larder.local/internal/silentlog"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// Catalogues provides the menus that orders are checked against; *replica.Replica implements it.
// Orders returns its errors unchanged.
type Catalogues interface {
	// Current returns the menu of a restaurant if it is of the connection's service (policy O16).
	Current(ctx context.Context, restaurant menu.RestaurantID, connection string) (version int64, catalogue *menu.Catalogue, err error)
}

// Service is the ordering service; *upstream.Client implements it. The Effect of an *upstream.Error is what is known about
// a call; after any other error nothing is known.
type Service interface {
	// Reserve waits for the capacity that a client's call needs. The call's time limit starts at
	// arrived (policy O8a). An error is an *upstream.Error, and nothing was sent.
	Reserve(ctx context.Context, op Operation, client string, arrived time.Time) (*upstream.Slot, error)
	// Free reports whether Reserve would neither wait nor use up a rate limit. That may change at any time.
	Free(ctx context.Context) bool
	// Write creates, pays, completes or rejects an order.
	Write(ctx context.Context, r upstream.WriteRequest) (upstream.Answer, error)
	// DoubtResponses ends the reuse of connections for ten minutes (policy O17).
	DoubtResponses()
}

// PlaceRequest is a request to place one order.
type PlaceRequest struct {
	// Restaurant is the restaurant whose menu the order is checked against. On the compatible API
	// it is cache.DefaultMenu's id for an order without restaurantID (policy O1a).
	Restaurant menu.RestaurantID
	Order      *validate.Order
	Connection string // connection of the service that gets the order
	// Client is the client that places the order. Keys are scoped to client and connection.
	Client string
	// CapacityKey identifies the share of the connection's capacity that the call uses (policy
	// O8a), for example a guest's address; the default is Client.
	CapacityKey string
	// Key is the client's idempotency key; it may be empty. It is never sent to the ordering
	// service, because net/http repeats a POST that has it.
	Key       string
	RequestID string // id of the HTTP request, also of a replay
}

// ChangeRequest is a request to pay, complete or reject an order.
type ChangeRequest struct {
	Operation Operation // upstream.OpPay, OpComplete or OpReject
	OrderID   string
	// Input contains the payments or the rejection; a completion ignores its Body. On the v1 API an order
	// that larder did not place is unknown (policy O9a), and payments must cover the total (policy O10).
	validate.Input

	Connection string
	Client     string
	// Key is the client's key; if empty, one is derived from order, operation and body (policy O9).
	Key       string
	RequestID string
}

// Result is the result of a call that was begun by this request or, if Replayed, by an earlier one.
// It comes from the record, so that a replay gets the same answer.
type Result struct {
	Record   Record
	Call     Call
	Replayed bool
	// RetryAfter is the wait that the service or its token endpoint requested for a call that was
	// not sent; otherwise it is 0.
	RetryAfter time.Duration
}

// ResolveRequest is an operator's resolution of an operation whose outcome is unknown.
type ResolveRequest struct {
	Connections []string // connections that the operator may see
	Ref         string
	Operation   Operation
	Call        int // the number of the call that the person has seen; 0: the last unknown one
	Resolution  Resolution
	OrderID     string // the id of a created order, with ResolvedDone
	By, Note    string
	RequestID   string
}

// Deps are the dependencies of Orders.
type Deps struct {
	Validator  *validate.Validator
	Catalogues Catalogues
	Services   map[string]Service // ordering services by connection
	Journal    Journal
	Sources    *upstream.Sources // of the connections; may be nil
	// Reasons returns the rejection reasons that a connection's service lists. If it is nil or
	// returns an error, rejection reasons are not checked.
	Reasons func(ctx context.Context, connection string) ([]upstream.Reason, error)
	// RefreshReasons fetches the rejection reasons from the service, unless it did so a moment ago,
	// and reports whether Reasons may have changed. It may be nil.
	RefreshReasons func(ctx context.Context, connection string) bool
	// RefreshMenu reserves a sync of the menu of a restaurant whose service refused an order (policy O18). It returns nil
	// if no sync may start; it does no I/O. It may be nil.
	RefreshMenu func(restaurant menu.RestaurantID) MenuRefresh
	// Connections returns the connections to watch and sweep.
	Connections func() []string
	// Clock, NewRef (see Refs), Log and Observe are optional. Observe is called with the name of an event
	// outside of a request, on its goroutine: "order.timed_out", "order.outcome_conflict",
	// "order.result_recorded_late", "order.result_lost", "order.recreated", "order.unreplicated" or
	// "order.id_repeated" of an order, and "journal.format", "journal.restored", "journal.accepted" or "journal.commits_lost" of a journal.
	Clock   func() time.Time
	NewRef  func() string
	Log     logrus.FieldLogger
	Observe func(event, connection string)
}

// Orders places, pays, completes and rejects orders, each at most once, and records the outcome of each call in the
// journal (policies O7 to O12). It is safe for concurrent use. It starts no goroutine, so Run must be running.
type Orders struct {
	cfg      Config
	deps     Deps
	log      logrus.FieldLogger
	pending  pendingWrites
	health   sync.Map     // the latest JournalHealth by connection
	inFlight atomic.Int64 // calls in progress
}

// NewOrders returns Orders with a valid cfg.
func NewOrders(cfg Config, deps Deps) *Orders {
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.NewRef == nil {
		deps.NewRef = Refs(deps.Clock)
	}
	if deps.Observe == nil {
		deps.Observe = func(string, string) {}
	}
	return &Orders{cfg: cfg, deps: deps, log: cmp.Or(deps.Log, silentlog.New())}
}

// ByOrderID returns the record of an orderID on any of the connections. It returns ErrNoOrder if
// it is unknown, *RestoredError if Redis may have lost it, and *AmbiguousError if several connections have one.
// Foreign records count only if no other has it.
func (o *Orders) ByOrderID(ctx context.Context, connections []string, orderID string) (Record, error) {
	return single(ctx, o.deps.Journal, connections, func(connection string) (Record, error) {
		return o.deps.Journal.Order(ctx, connection, orderID)
	})
}

// ByKey returns the record of a client's request with the given key. It returns ErrNoOrder if
// there is no such request, *RestoredError if Redis may have lost it, and *AmbiguousError if several connections have one.
func (o *Orders) ByKey(ctx context.Context, connections []string, client, key string) (Record, error) {
	return single(ctx, o.deps.Journal, connections, func(connection string) (Record, error) {
		secret, err := o.deps.Journal.Secret(ctx, connection)
		if err != nil {
			return Record{}, err
		}
		record, _, err := o.deps.Journal.Lookup(ctx, connection, hashedKey(secret, client, connection, key))
		return record, err
	})
}

// ByRef returns the record of a ref on any of the connections. It returns ErrNoOrder if it is unknown, and *RestoredError if
// Redis may have lost it.
func (o *Orders) ByRef(ctx context.Context, connections []string, ref string) (Record, error) {
	record, err := o.deps.Journal.Record(ctx, connections, ref)
	if errors.Is(err, ErrNoOrder) {
		return Record{}, notFound(ctx, o.deps.Journal, connections...)
	}
	return record, err
}

// single returns the only record that find returns for the connections. If one of several connections may have lost one
// (policy O14a), the record of another one may not be meant.
func single(ctx context.Context, journal Journal, connections []string, find func(connection string) (Record, error)) (Record, error) {
	var (
		found       Record
		on, without []string
	)
	for _, connection := range connections {
		record, err := find(connection)
		switch {
		case err == nil && (len(on) == 0 || found.Foreign == record.Foreign):
			found, on = record, append(on, connection)
		case err == nil && found.Foreign:
			found, on = record, []string{connection}
		case err == nil: // the foreign one does not count
		case !errors.Is(err, ErrNoOrder) && !errors.Is(err, ErrKeyFree):
			return Record{}, err
		default:
			without = append(without, connection)
		}
	}
	if len(on) > 1 {
		return Record{}, &AmbiguousError{Connections: on}
	}
	if err := notFound(ctx, journal, without...); len(on) == 0 || !errors.Is(err, ErrNoOrder) {
		return Record{}, err
	}
	return found, nil
}

// notFound returns the error for an order without a record: *RestoredError or *NotReadyError while another Redis may have
// the record (policies O14 and O14a), otherwise ErrNoOrder.
func notFound(ctx context.Context, journal Journal, connections ...string) error {
	for _, connection := range connections {
		since, err := journal.Paused(ctx, connection)
		if err != nil {
			return err
		}
		if !since.IsZero() {
			return &RestoredError{Connection: connection, Since: since}
		}
	}
	return ErrNoOrder
}
