// Package ordering takes an order through its life: it places, pays, completes
// and rejects it, each at most once.
//
// Its one invariant: nothing is sent that is not on record, and nothing is sent
// twice. What is sent is what ordering/validate accepted.
//
// A call takes the same steps for all four operations. The request is looked up by
// its key: a replay is answered at once, whatever the menu says now. Then it is
// validated, begun in the Journal, sent, finished in the Journal, and answered from
// the Record, so that a second answer equals the first. A result that the Journal
// does not take waits for it; Orders.Run writes it, and moves calls without a
// result to unknown, which a person resolves by Orders.Resolve. The Outcome says
// what is known for certain of a call (policy O8).
//
// httpapi calls Orders; cmd/larder gives it the Journal of ordering/journal. The
// package knows the menu and the wire types of the ordering service, and neither
// HTTP routing nor Redis. It logs neither bodies nor keys nor guests.
package ordering

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/menu"
	"larder/internal/silentlog"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// Catalogues has the menus that orders are checked against; *replica.Replica is
// one. Its errors pass through Orders as they are.
type Catalogues interface {
	Current(ctx context.Context, restaurant menu.RestaurantID) (version int64, catalogue *menu.Catalogue, err error)
}

// Service is the ordering service as orders need it; *upstream.Client is one.
// Each method makes one call. An error is an *upstream.Error, whose Effect
// says what is known of the call; any other error says nothing of it.
type Service interface {
	// Reserve waits for the capacity that a call needs, on behalf of a client;
	// the call's time limit starts at arrived (policy O8a). An error is an
	// *upstream.Error, and nothing was sent.
	Reserve(ctx context.Context, op Operation, client string, arrived time.Time) (*upstream.Slot, error)
	// CreateOrder creates an order.
	CreateOrder(ctx context.Context, body []byte) (upstream.Created, error)
	// Pay pays an order; body is an array of payments.
	Pay(ctx context.Context, orderID string, body []byte) (upstream.Answer, error)
	// Complete closes a paid order.
	Complete(ctx context.Context, orderID string) (upstream.Answer, error)
	// Reject rejects an order; body names the reason.
	Reject(ctx context.Context, orderID string, body []byte) (upstream.Answer, error)
}

// PlaceRequest is one order to be placed.
type PlaceRequest struct {
	// Restaurant is whose menu the order is checked against; on the
	// compatible API cache.DefaultMenu's id for an order without restaurantID (policy O1a).
	Restaurant menu.RestaurantID
	// Order is what is ordered.
	Order *validate.Order
	// Connection is whose service takes the order.
	Connection string
	// Client is who places it; keys are scoped to client and connection.
	Client string
	// CapacityKey is who shares the connection's capacity with the others
	// (policy O8a): a guest's address; "" means Client.
	CapacityKey string
	// Key is the client's idempotency key, "" for none. It is never sent
	// to the ordering service: net/http repeats a POST that carries it.
	Key string
	// RequestID is the HTTP request's; a replay has it too.
	RequestID string
}

// ChangeRequest is one change of an order: a payment, a completion or a rejection.
type ChangeRequest struct {
	// Operation is upstream.OpPay, OpComplete or OpReject.
	Operation Operation
	OrderID   string
	// Input is the array of payments or the rejection; its Body is ignored of a
	// completion. On the v1 API an order that larder did not place is unknown
	// (policy O9a) and payments must cover the total (policy O10).
	validate.Input

	Connection string
	Client     string
	// Key is the client's; "" makes one of (order, operation, body) (policy O9).
	Key       string
	RequestID string
}

// Result is what became of a call that was begun, by this request or, when
// Replayed, by an earlier one. Everything that an answer says comes from the
// record, so that a replay says the same.
type Result struct {
	Record   Record
	Call     Call
	Replayed bool
	// RetryAfter is how long the service, or its token endpoint, asked to wait,
	// of a call that was not sent; 0 for not.
	RetryAfter time.Duration
}

// ResolveRequest is an operator's resolution of an operation whose outcome is unknown.
type ResolveRequest struct {
	// Connections are those the operator sees.
	Connections []string
	Ref         string
	Operation   Operation
	Resolution  Resolution
	OrderID     string // of a created order, with ResolvedDone
	By, Note    string
	RequestID   string
}

// Event is something that happened to an order, or to a connection's journal,
// without a request to answer.
type Event struct {
	// Name is "order.timed_out", "order.outcome_conflict", "order.result_recorded_late",
	// "order.result_lost", "order.recreated" or "order.unreplicated"; of a journal
	// "journal.restored", "journal.accepted" or "journal.commits_lost".
	Name string
	// Record has the Connection alone where the event is of a journal.
	Record    Record
	Operation Operation
	Outcome   Outcome
	At        time.Time
}

// Deps are what Orders works with.
type Deps struct {
	Validator  *validate.Validator
	Catalogues Catalogues
	// Services are the ordering services by their connections.
	Services map[string]Service
	Journal  Journal
	// Reasons returns the rejection reasons that a connection's service lists. An
	// error, or no function: they are not known, and no rejection is checked by them.
	Reasons func(ctx context.Context, connection string) ([]upstream.Reason, error)
	// RefreshReasons asks the service for its rejection reasons now, if it was
	// not asked just before, and reports whether Reasons may have changed; nil:
	// they are never refreshed from here.
	RefreshReasons func(ctx context.Context, connection string) bool
	// Connections are the names of those to be swept.
	Connections func() []string
	// Clock, NewRef (see Refs), Log and Observe may be left out. Observe is
	// called from whatever goroutine the event happened in.
	Clock   func() time.Time
	NewRef  func() string
	Log     logrus.FieldLogger
	Observe func(Event)
}

// Orders takes orders through their lives: it places them, pays, completes and
// rejects them, each at most once, and keeps what became of each call in the
// journal (policies O7 to O12). It is safe for concurrent use, starts no
// goroutine, and needs Run beside it.
type Orders struct {
	cfg      Config
	deps     Deps
	log      logrus.FieldLogger
	pending  pendingWrites
	health   sync.Map // by connection: the JournalHealth that Watch last found
	inFlight inFlight
}

// NewOrders makes Orders. cfg is a section that Validate accepts.
func NewOrders(cfg Config, deps Deps) *Orders {
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.NewRef == nil {
		deps.NewRef = Refs(deps.Clock)
	}
	if deps.Observe == nil {
		deps.Observe = func(Event) {}
	}
	if deps.Log == nil {
		deps.Log = silentlog.New()
	}
	return &Orders{cfg: cfg, deps: deps, log: deps.Log}
}

// ByOrderID returns the record of an orderID on any of the connections, or
// ErrNoOrder; *AmbiguousError when orders of several have it.
func (o *Orders) ByOrderID(ctx context.Context, connections []string, orderID string) (Record, error) {
	return single(connections, func(connection string) (Record, error) {
		return o.deps.Journal.Order(ctx, connection, orderID)
	})
}

// ByKey returns the record of what a client asked for under a key of its own, or
// ErrNoOrder; *AmbiguousError when it did on several of the connections.
func (o *Orders) ByKey(ctx context.Context, connections []string, client, key string) (Record, error) {
	secret, err := o.deps.Journal.Secret(ctx)
	if err != nil {
		return Record{}, err
	}
	return single(connections, func(connection string) (Record, error) {
		record, _, err := o.deps.Journal.Lookup(ctx, connection, hashedKey(secret, client, connection, key))
		return record, err
	})
}

// single returns the one record that find finds on the connections.
func single(connections []string, find func(connection string) (Record, error)) (Record, error) {
	var (
		found Record
		on    []string
	)
	for _, connection := range connections {
		record, err := find(connection)
		switch {
		case err == nil:
			found, on = record, append(on, connection)
		case !errors.Is(err, ErrNoOrder) && !errors.Is(err, ErrKeyFree):
			return Record{}, err
		}
	}
	switch len(on) {
	case 0:
		return Record{}, ErrNoOrder
	case 1:
		return found, nil
	default:
		return Record{}, &AmbiguousError{Connections: on}
	}
}
