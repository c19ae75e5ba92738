package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// state is the state of an order.
type state string

const (
	stateNew         state = "new"
	stateAccepted    state = "accepted"
	stateKitchen     state = "kitchen" // Transferred to the kitchen
	stateCashStation state = "cash_station"
	stateClosed      state = "closed"
	stateRejected    state = "rejected"
)

// rank is the position of the state in steps, or -1.
func (st state) rank() int { return slices.Index(steps, st) }

// steps are the states that automatic acceptance or an operator goes through.
var steps = []state{stateNew, stateAccepted, stateKitchen, stateCashStation} //nolint:gochecknoglobals // read only

func (st state) next() state {
	if i := st.rank(); i >= 0 && i < len(steps)-1 {
		return steps[i+1]
	}
	return ""
}

func (st state) ended() bool { return st == stateClosed || st == stateRejected }

// order is a received order with its state.
type order struct {
	orderJSON

	at    time.Time
	total decimal.Decimal
}

// boardOrder is an order on the board.
type boardOrder struct {
	OrderID      string          `json:"orderID"`
	RestaurantID string          `json:"restaurantID"`
	State        state           `json:"state"`
	Paid         bool            `json:"paid"`
	CreatedAt    string          `json:"createdAt"`
	Total        json.Number     `json:"total"`
	Body         json.RawMessage `json:"body"` // as received
}

// orderJSON is an order in GET /sandbox/orders.
type orderJSON struct {
	boardOrder

	Raw      string            `json:"raw"` // see shown
	Headers  map[string]string `json:"headers"`
	Payments []json.RawMessage `json:"payments"`
}

func (o *order) shown() orderJSON {
	all := o.orderJSON
	all.Raw = string(o.Body)
	return all
}

// stamp formats a time for responses.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// orderBook holds all orders until the sandbox stops.
type orderBook struct {
	mu   sync.Mutex
	list []*order
	byID map[string]*order
}

// firstNumber is 2^53 + 1, which a float64 cannot represent.
const firstNumber = 1<<53 + 1

// add adds an order under a new id, unique among both kinds of ids.
func (b *orderBook) add(o *order, kind string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := int64(1001)
	if kind == OrderIDsNumber {
		first = firstNumber
	}
	o.OrderID = strconv.FormatInt(first+int64(len(b.list)), 10)
	b.byID[o.OrderID] = o
	b.list = append(b.list, o)
	return o.OrderID
}

// advanceAutomatically applies automatic acceptance: accepted after half of the delay, in the kitchen after
// the delay, at the cash station after twice the delay (docs/ordering-service.md, section 3).
func (o *order) advanceAutomatically(set Settings, now time.Time) {
	for i, after := range o.transitions(set) {
		if now.Sub(o.at) >= after {
			o.State = steps[max(i+1, o.State.rank())]
		}
	}
}

// transitions are the ages at which the order enters the states after the first.
func (o *order) transitions(set Settings) []time.Duration {
	if !*set.AutoAccept || o.State.ended() {
		return nil
	}
	delay := time.Duration(*set.AutoAcceptDelay)
	return []time.Duration{delay / 2, delay, 2 * delay}
}

// withOrder calls fn with the current state of the order in the path.
func (s *Sandbox) withOrder(c *call, fn func(*order) answer) answer {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	o := s.orders.byID[c.id]
	if o == nil {
		return c.refuse(http.StatusNotFound, "order_not_found", "there is no order "+strconv.Quote(c.id))
	}
	o.advanceAutomatically(set, c.at)
	return fn(o)
}

func (s *Sandbox) listOrders(c *call) answer {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	list := make([]orderJSON, 0, len(s.orders.list))
	for _, o := range s.orders.list {
		o.advanceAutomatically(set, c.at)
		list = append(list, o.shown())
	}
	return result(http.StatusOK, list)
}

func (s *Sandbox) showOrder(c *call) answer {
	return s.withOrder(c, func(o *order) answer { return result(http.StatusOK, o.shown()) })
}

// advanceOrder handles POST /sandbox/orders/{id}/advance.
func (s *Sandbox) advanceOrder(c *call) answer {
	var step struct {
		To state `json:"to"`
	}
	if len(c.body) > 0 {
		if err := decodeStrict(c.body, &step); err != nil {
			return c.refuse(http.StatusBadRequest, "bad_step", err.Error())
		}
	}
	if step.To != "" && step.To.rank() < stateAccepted.rank() {
		return c.refuse(http.StatusBadRequest, "bad_step", "to: one of accepted, kitchen, cash_station")
	}
	return s.withOrder(c, func(o *order) answer {
		to := cmp.Or(step.To, o.State.next())
		if o.State.ended() || to.rank() <= o.State.rank() {
			return c.refuse(http.StatusConflict, "order_state", "the order is "+string(o.State))
		}
		o.State = to
		return result(http.StatusOK, o.shown())
	})
}
