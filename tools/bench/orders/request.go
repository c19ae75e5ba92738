package orders

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"larder.local/internal/testkit/ordertest"
	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// The operations that are measured, in this order.
const (
	Create   = "create"
	Replay   = "replay"
	Pay      = "pay"
	Complete = "complete"
	Reject   = "reject"
)

// operations returns all operations.
func operations() []string { return []string{Create, Replay, Pay, Complete, Reject} }

// stock is a menu of 5,000 dishes, an order of five dishes with a modifier each, and
// the restaurants that have this menu.
type stock struct {
	restaurants []string
	body        []byte
	// sandbox are the arguments of `larder sandbox` for these menus.
	sandbox []string
}

// newStock writes the menus of some restaurants. The order is complete: the ordering
// service accepts it, so that an implementation may send it as it is.
func newStock(dir string, restaurants int) (stock, error) {
	var s stock
	order, err := ordertest.FiveLines(time.Now().Add(24 * time.Hour))
	if err != nil {
		return s, err
	}
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(order.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return s, fmt.Errorf("orders: the order: %w", err)
	}
	address, ok := body["address"].(map[string]any)
	if !ok {
		return s, fmt.Errorf("orders: the order has no address: %s", order.Body)
	}
	address["fullAddress"] = "Springfield, Main street, 12"
	if s.body, err = json.Marshal(body); err != nil {
		return s, err
	}
	for i := range restaurants {
		id := fmt.Sprintf("%s-%d", order.Restaurant, i+1)
		file := filepath.Join(dir, id+".json")
		if err := os.WriteFile(file, order.View, 0o600); err != nil {
			return s, err
		}
		s.restaurants, s.sandbox = append(s.restaurants, id), append(s.sandbox, "--menu", file)
	}
	return s, nil
}

// wire returns a request with its marks for the generator.
func wire(method, path, token, key string, body []byte) []byte {
	var text bytes.Buffer
	text.WriteString(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n")
	if key != "" {
		text.WriteString("Idempotency-Key: " + key + loadgen.KeyMark + "\r\n")
	}
	text.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n")
	text.Write(body)
	return text.Bytes()
}

// create returns the request that places an order, for each restaurant.
func (s stock) create(token string) [][]byte {
	requests := make([][]byte, len(s.restaurants))
	for i, id := range s.restaurants {
		requests[i] = wire(http.MethodPost, "/v1/restaurants/"+id+"/orders", token, "order-", s.body)
	}
	return requests
}

// change returns the request that changes an order. The payment covers every total,
// and the reason is one of the sandbox's.
func change(operation, token string) []byte {
	var body string
	switch operation {
	case Pay:
		body = `[{"code":"card","amount":1000000,"paidAt":"2026-05-01T18:30:00+03:00"}]`
	case Reject:
		body = `{"rejectionReasonID":"5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01","rejectionReasonText":""}`
	}
	return wire(http.MethodPut, "/v1/orders/"+loadgen.ValueMark+"/"+operation, token, operation+"-", []byte(body))
}

// direct returns the request of an order to the ordering service itself.
func (s stock) direct(token string) ([]byte, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(s.body, &body); err != nil {
		return nil, err
	}
	body["restaurantID"] = json.RawMessage(strconv.Quote(s.restaurants[0]))
	encoded, err := json.Marshal(body)
	return wire(http.MethodPost, "/orders/api/v1/orders", token, "", encoded), err
}

// orderID returns the ordering service's id in a response to a placed order; "" if it
// has none.
func orderID(body []byte) string {
	_, rest, _ := bytes.Cut(body, []byte(`"orderID":"`))
	id, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return ""
	}
	return string(id)
}

// layout returns the layout of larder's instances: defaults, without limits for the
// only client, and with as many calls at the same time as the generator has
// connections. The timeouts are longer, because other programs may stop a process of
// the measurement for some seconds, and a rejected order ends the measurement. They do
// not change the work of an order.
func (s stock) layout(program, dir string, waitReplicas int) measure.Layout {
	return measure.Layout{
		Program:     program,
		Dir:         dir,
		Sandbox:     s.sandbox,
		Restaurants: s.restaurants,
		Schedule:    "@every 1h",
		Concurrency: connections,
		Write:       time.Minute,
		Env: []string{
			"LARDER_HTTP_RATE_PLACE=0",
			"LARDER_ORDERING_WAIT_REPLICAS=" + strconv.Itoa(waitReplicas),
			"LARDER_ORDERING_WAIT_TIMEOUT=10s",
			"LARDER_ORDERING_PLACE_TIMEOUT=70s",
		},
	}
}
