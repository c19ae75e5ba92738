package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// createOrder handles POST /orders/api/v1/orders (docs/ordering-service.md, section 4.1).
func (s *Sandbox) createOrder(c *call) answer {
	v, err := readJSON(c.body)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "malformed_json", err.Error())
	}
	body, ok := v.(map[string]any)
	if !ok {
		return c.refuse(http.StatusBadRequest, "order_validation", "an order is an object", "/: an order is an object")
	}
	set := s.settings.get()
	restaurant := identifier(member(body, "restaurantID"), set.tolerant())
	o := &order{at: c.at, orderJSON: orderJSON{Headers: headers(c.r.Header), Payments: []json.RawMessage{}}}
	o.RestaurantID, o.State, o.CreatedAt, o.Body = restaurant, stateNew, stamp(c.at), c.body
	menu := cmp.Or(restaurant, DefaultMenu) // for an order without restaurantID
	model, err := s.menus.model(menu)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "order_validation", "the order is not valid", "/restaurantID: "+err.Error())
	}
	violations := validate(body, model, c.at, set.tolerant())
	fields := logrus.Fields{"restaurant": restaurant, "request_id": c.requestID}
	if len(violations.reasons) > 0 {
		s.rejected.add(c.at, c.requestID, restaurant, violations.reasons)
		s.log.WithFields(fields).WithField("reasons", len(violations.reasons)).
			WithField("event", "sandbox.order_refused").Info("order refused")
		return c.refuse(http.StatusBadRequest, "order_validation", "the order is not valid", violations.reasons...)
	}
	o.total, o.Total = violations.total, json.Number(violations.total.String())
	id := s.orders.add(o, set.OrderIDs)
	s.log.WithFields(fields).WithFields(logrus.Fields{
		"event": "sandbox.order_created", "order_id": id, "total": o.total.String(),
	}).Info("order created")
	var shown any = id
	if set.OrderIDs == OrderIDsNumber {
		shown = json.Number(id)
	}
	return result(http.StatusCreated, map[string]any{set.spell("orderID"): shown})
}

// spell returns the configured spelling of a key with an id.
func (s Settings) spell(key string) string {
	before, named := strings.CutSuffix(key, "ID")
	switch {
	case s.Spelling != SpellingCamel || !named:
		return key
	case before == "":
		return "id"
	default:
		return before + "Id"
	}
}

// headers copies the headers of an order without its credentials.
func headers(h http.Header) map[string]string {
	kept := make(map[string]string, len(h))
	for name, values := range h {
		if name != "Authorization" {
			kept[name] = strings.Join(values, ", ")
		}
	}
	return kept
}

// maxRejectedOrders limits the refused orders in memory, the newest first.
const maxRejectedOrders = 20

// rejectedOrder is an invalid order and its violations.
type rejectedOrder struct {
	At           string   `json:"at"`
	RequestID    string   `json:"requestId"`
	RestaurantID string   `json:"restaurantID"`
	Reasons      []string `json:"reasons"`
}

// rejectedOrders keeps the last refusals, but nothing of the orders themselves.
type rejectedOrders struct {
	mu   sync.Mutex
	kept []rejectedOrder // newest first
}

func (f *rejectedOrders) add(at time.Time, requestID, restaurant string, reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = slices.Insert(f.kept, 0, rejectedOrder{stamp(at), requestID, restaurant, reasons})
	f.kept = f.kept[:min(len(f.kept), maxRejectedOrders)]
}

// list returns a copy, newest first.
func (f *rejectedOrders) list() []rejectedOrder {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]rejectedOrder{}, f.kept...)
}
