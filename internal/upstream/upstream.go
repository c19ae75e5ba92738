// Package upstream is the client of the ordering service: the token, the menu
// view, the rejection reasons, and the four calls that write (create, pay,
// complete, reject), with the wire types of what they send.
//
// Its one invariant is certainty: every call that writes ends either with an
// answer of the service or with an *Error whose Effect says whether the call
// certainly did not take effect, certainly did, or may have (policy O8). A
// call that may have taken effect is never repeated here. Reads are retried
// within their context's deadline behind a circuit breaker (policy S5).
//
// sync reads through it, ordering writes through it. It knows nothing of
// Redis, of HTTP serving or of schedules, and it never forwards a client's
// headers: least of all Idempotency-Key, which makes net/http send a POST
// twice if the connection breaks.
package upstream

// Operation names a call in errors, logs and metrics. The four that write have
// the names that an order's journal uses.
type Operation string

// The calls of the ordering service.
const (
	OpToken    Operation = "token"
	OpMenu     Operation = "menu"
	OpReasons  Operation = "reasons"
	OpCreate   Operation = "create"
	OpPay      Operation = "pay"
	OpComplete Operation = "complete"
	OpReject   Operation = "reject"
)

// MaxMenuBytes is the largest menu view that is read (policy W15).
const MaxMenuBytes = 64 << 20

// Limits of what else is read from the service.
const (
	// maxExpected is the largest limit of a menu view that is thought to be
	// about its size.
	maxExpected    = 16 << 20
	maxAnswerBytes = 1 << 20
	maxTextBytes   = 2 << 10 // of an error's text, which logs show (policy W14)
	maxCodeBytes   = 256     // of an error's code and request id, and of a content type
)

// MaxErrorBytes is how much of an answer's body is kept, for the journal and
// for whoever is answered with it (policies W14, O15).
const MaxErrorBytes = 64 << 10

// Paths below the base and token addresses (docs/ordering-service.md, sections 4 and 5).
const (
	pathToken   = "/connect/token"
	pathMenu    = "/orders/api/v1/menu/view"
	pathReasons = "/orders/api/v1/rejectionReasons"
	pathOrders  = "/orders/api/v1/orders"
)
