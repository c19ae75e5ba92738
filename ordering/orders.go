package ordering

import (
	"context"
	"time"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// Catalogues gives the catalogue that an order is checked against, with its
// version. Its errors pass through Orders as they are.
type Catalogues interface {
	Catalogue(ctx context.Context, restaurant menu.RestaurantID) (version int64, catalogue *menu.Catalogue, err error)
}

// Placing is one order to be placed.
type Placing struct {
	// Restaurant is whose menu the order is checked against; on the drop-in
	// face cache.DefaultMenu's id for an order without restaurantID (policy O1a).
	Restaurant menu.RestaurantID
	// Native: the native face (see Request.Native).
	Native bool
	// Connection is whose service takes the order.
	Connection string
	// Client is who places it; keys are scoped to client and connection.
	Client string
	// Key is the client's idempotency key, "" for none. It is never sent on
	// (trap 1).
	Key string
	// RequestID is the HTTP request's; a replay has it too.
	RequestID string
	Body      []byte
	Language  string
	WireCase  upstream.WireCase
}

// Changing is one change of an order: a payment, a completion or a rejection.
type Changing struct {
	// Operation is upstream.OpPay, OpComplete or OpReject.
	Operation Operation
	OrderID   string
	// Native: the native face, where an order that larder did not place is
	// unknown (policy O9a) and payments must cover the total (policy O10).
	Native     bool
	Connection string
	Client     string
	// Key is the client's; "" makes one of (order, operation, body) (policy O9).
	Key       string
	RequestID string
	// Body is the array of payments or the rejection; ignored of a completion.
	Body     []byte
	Language string
	WireCase upstream.WireCase
}

// Result is what became of a call that was begun, by this request or, when
// Replayed, by an earlier one. Everything that an answer says is told from the
// record, so that a replay says the same.
type Result struct {
	Record   Record
	Call     Call
	Replayed bool
	// Verdict is what the validation of an order found; nil of replays and changes.
	Verdict *Verdict
}

// Resolving is an operator's word on an operation whose outcome is unknown.
type Resolving struct {
	// Connections are those the operator sees.
	Connections []string
	Ref         string
	Operation   Operation
	How         Settlement
	OrderID     string // of a created order, with SettledDone
	By, Note    string
	RequestID   string
}

// Event is something that happened to an order without a request to answer.
type Event struct {
	// Name is "order.swept", "order.contradicted", "order.late" or
	// "order.unrecorded".
	Name      string
	Record    Record
	Operation Operation
	Outcome   Outcome
	At        time.Time
}
