package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// state is where an order stands.
type state string

const (
	stateNew         state = "new"
	stateAccepted    state = "accepted"
	stateKitchen     state = "kitchen" // Transferred to the kitchen
	stateCashStation state = "cash_station"
	stateClosed      state = "closed"
	stateRejected    state = "rejected"
)

// rank orders the states that an order goes through by itself or by the
// operator's steps.
func (st state) rank() int {
	switch st {
	case stateNew:
		return 1
	case stateAccepted:
		return 2
	case stateKitchen:
		return 3
	case stateCashStation:
		return 4
	default:
		return 0
	}
}

func (st state) next() state {
	switch st {
	case stateNew:
		return stateAccepted
	case stateAccepted:
		return stateKitchen
	case stateKitchen:
		return stateCashStation
	default:
		return ""
	}
}

func (st state) ended() bool { return st == stateClosed || st == stateRejected }

// order is what came in and what became of it.
type order struct {
	id         string
	restaurant string
	state      state
	paid       bool
	at         time.Time
	headers    map[string]string
	body       json.RawMessage // as it came in; also the raw bytes
	total      decimal.Decimal
	payments   []json.RawMessage
}

// orderJSON is an order as GET /sandbox/orders shows it.
type orderJSON struct {
	OrderID      string            `json:"orderID"`
	RestaurantID string            `json:"restaurantID"`
	State        state             `json:"state"`
	Paid         bool              `json:"paid"`
	CreatedAt    string            `json:"createdAt"`
	Headers      map[string]string `json:"headers"`
	Body         json.RawMessage   `json:"body"`
	Raw          string            `json:"raw"`
	Total        json.Number       `json:"total"`
	Payments     []json.RawMessage `json:"payments"`
}

func (o *order) shown() orderJSON {
	payments := o.payments
	if payments == nil {
		payments = []json.RawMessage{}
	}
	return orderJSON{
		OrderID: o.id, RestaurantID: o.restaurant, State: o.state, Paid: o.paid,
		CreatedAt: stamp(o.at), Headers: o.headers,
		Body: o.body, Raw: string(o.body), Total: json.Number(o.total.String()), Payments: payments,
	}
}

// stamp is a time as answers write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// orderBook keeps every order for as long as the sandbox lives.
type orderBook struct {
	mu   sync.Mutex
	list []*order
	byID map[string]*order
}

// firstNumber is 2^53 + 1, which no binary float holds.
const firstNumber = 1<<53 + 1

// add gives an order its id, unique among both kinds.
func (b *orderBook) add(o *order, kind OrderIDs) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := int64(1001)
	if kind == OrderIDsNumber {
		first = firstNumber
	}
	o.id = strconv.FormatInt(first+int64(len(b.list)), 10)
	if b.byID == nil {
		b.byID = map[string]*order{}
	}
	b.byID[o.id] = o
	b.list = append(b.list, o)
	return o.id
}

// settle moves an order on as automatic acceptance has by now: accepted after
// half of the delay, in the kitchen after all of it, at the cash station
// after twice of it (docs/ordering-service.md, section 3).
func (o *order) settle(set Settings, now time.Time) {
	if !*set.AutoAccept || o.state.ended() {
		return
	}
	delay := time.Duration(*set.AutoAcceptDelay)
	reached := stateNew
	switch age := now.Sub(o.at); {
	case age >= 2*delay:
		reached = stateCashStation
	case age >= delay:
		reached = stateKitchen
	case age >= delay/2:
		reached = stateAccepted
	}
	if reached.rank() > o.state.rank() {
		o.state = reached
	}
}

// change runs fn on one order as it stands now. It answers false for an
// order that does not exist.
func (s *Sandbox) change(id string, now time.Time, fn func(*order)) bool {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	o := s.orders.byID[id]
	if o == nil {
		return false
	}
	o.settle(set, now)
	fn(o)
	return true
}

func (s *Sandbox) listOrders(c *call) answer {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	list := make([]orderJSON, 0, len(s.orders.list))
	for _, o := range s.orders.list {
		o.settle(set, c.at)
		list = append(list, o.shown())
	}
	return result(http.StatusOK, list)
}

func (s *Sandbox) showOrder(c *call) answer {
	var shown orderJSON
	if !s.change(c.id, c.at, func(o *order) { shown = o.shown() }) {
		return c.noOrder()
	}
	return result(http.StatusOK, shown)
}

// advanceOrder is the operator's or manager's step.
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
	var a answer
	known := s.change(c.id, c.at, func(o *order) {
		to := step.To
		if to == "" {
			to = o.state.next()
		}
		if o.state.ended() || to.rank() <= o.state.rank() {
			a = c.refuse(http.StatusConflict, "order_state", "the order is "+string(o.state))
			return
		}
		o.state = to
		a = result(http.StatusOK, o.shown())
	})
	if !known {
		return c.noOrder()
	}
	return a
}

func (c *call) noOrder() answer {
	return c.refuse(http.StatusNotFound, "order_not_found", "there is no order "+strconv.Quote(c.id))
}
