package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/menutest"
)

// The restaurants of the plan: two for orders, one whose menu changes.
const (
	large  = "large"
	small  = "small"
	moving = "moving"
)

func restaurants() []string { return []string{large, small, moving} }

const emptyMenu = `{"result":{"name":"empty","categories":[],"products":[{"id":"only","externalId":"only-pos","name":"Only","price":1}],"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`

// step is one request and what the ordering service does with its calls.
type step struct {
	request
	fault fault
}

// orderPlan makes random orders and changes of them. Equal seeds make equal plans.
type orderPlan struct {
	rng        *rand.Rand
	generators map[string]*menutest.OrderGenerator
	expected   time.Time
	placed     []step // steps that placed an order, for repeats
	n          int
	faults     []fault
}

// menusOfOrders returns the menus of the restaurants for orders.
func menusOfOrders() map[string][]byte {
	return map[string][]byte{
		large: sandbox.Generate{Restaurants: 1, Products: 120, Seed: 7}.Menu(0),
		small: sandbox.Generate{Restaurants: 1, Products: 12, Seed: 8}.Menu(0),
	}
}

func newOrderPlan(seed uint64, now time.Time) (*orderPlan, error) {
	p := &orderPlan{faults: faults(), rng: rand.New(rand.NewPCG(seed, 1)), generators: map[string]*menutest.OrderGenerator{}, expected: now.Add(3 * time.Hour).Truncate(time.Second)}
	for restaurant, menu := range menusOfOrders() {
		generator, err := menutest.NewOrderGenerator(resultOf(menu), restaurant, seed)
		if err != nil {
			return nil, err
		}
		p.generators[restaurant] = generator
	}
	return p, nil
}

// resultOf returns the menu view of a response.
func resultOf(body []byte) []byte {
	var found struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(body, &found) == nil && found.Result != nil {
		return found.Result
	}
	return body
}

// next returns the next step.
func (p *orderPlan) next() step {
	p.n++
	s := step{fault: p.fault()}
	switch n := p.rng.IntN(100); {
	case n < 45:
		s.request = p.order()
		p.placed = append(p.placed, s)
	case n < 55:
		s.request = p.compatible()
	case n < 63 && len(p.placed) > 0:
		s.request = p.repeat()
	case n < 70:
		s.request = p.order()
		s.Path, s.Key = strings.TrimSuffix(s.Path, "/orders")+"/orders/validate", ""
	case n < 90:
		s.request = p.change()
	default:
		s.request = p.read()
	}
	return s
}

func (p *orderPlan) order() request {
	restaurant := pick(p.rng, []string{large, large, small})
	return request{
		Method: http.MethodPost, Path: "/v1/restaurants/" + restaurant + "/orders", Client: storefront,
		Key: fmt.Sprintf("comparison-key-%08d", p.n), Body: p.body(restaurant, false),
	}
}

func (p *orderPlan) compatible() request {
	r := request{Method: http.MethodPost, Path: "/orders/api/v1/orders", Client: storefront, Body: p.body(pick(p.rng, []string{large, small}), true)}
	if p.rng.IntN(2) == 0 {
		r.Key = fmt.Sprintf("compatible-key-%08d", p.n)
	}
	return r
}

func (p *orderPlan) body(restaurant string, external bool) []byte {
	body := p.generators[restaurant].Next(menutest.OrderOptions{
		Lines: 1 + p.rng.IntN(4), Delivery: p.rng.IntN(2) == 0, ExternalIDs: external || p.rng.IntN(4) == 0, ExpectedAt: p.expected,
	})
	for range p.rng.IntN(3) { // a third stays valid
		body = p.broken(body)
	}
	return body
}

func (p *orderPlan) repeat() request {
	r := pick(p.rng, p.placed[max(0, len(p.placed)-50):]).request
	if p.rng.IntN(4) == 0 {
		r.Body = p.broken(r.Body)
	}
	return r
}

// change pays, completes or rejects one of the last orders.
func (p *orderPlan) change() request {
	number := strconv.Itoa(max(1, len(p.placed)/3-p.rng.IntN(20)))
	path := pick(p.rng, []string{"/v1/orders/", "/orders/api/v1/orders/"}) + number
	r := request{Method: http.MethodPut, Client: storefront}
	if p.rng.IntN(3) == 0 {
		r.Key = fmt.Sprintf("change-key-%08d", p.n)
	}
	switch p.rng.IntN(3) {
	case 0:
		r.Path = path + "/pay"
		amount := pick(p.rng, []string{"1", "99999", "250.50", "1e3", "-1", `"12"`})
		r.Body = fmt.Appendf(nil, `[{"code":"b1a4a9b2-0000-4000-8000-000000000001","amount":%s,"paidAt":"%s","name":""}]`, amount, p.expected.Format(time.RFC3339))
	case 1:
		r.Path = path + "/complete"
	default:
		r.Path = path + "/reject"
		r.Body = fmt.Appendf(nil, `{"rejectionReasonID":%q,"rejectionReasonText":%q}`, pick(p.rng, []string{"late", "other", "unknown", ""}), pick(p.rng, []string{"", "No cook"}))
	}
	if len(r.Body) > 0 && p.rng.IntN(4) == 0 {
		r.Body = p.broken(r.Body)
	}
	return r
}

// read reads an order, a list, or resolves an order that is not unknown.
func (p *orderPlan) read() request {
	number := strconv.Itoa(max(1, len(p.placed)/3-p.rng.IntN(20)))
	r := request{Method: http.MethodGet, Client: pick(p.rng, []string{storefront, operator, ""})}
	switch p.rng.IntN(8) {
	case 0, 1:
		r.Path = "/v1/orders/" + number
	case 2, 3:
		r.Path, r.Key = "/v1/orders", fmt.Sprintf("comparison-key-%08d", max(1, p.n-p.rng.IntN(40)))
	case 4:
		r.Path = "/v1/ops/orders?state=" + pick(p.rng, []string{"unknown", "placed", "refused", "nothing"})
	case 5:
		r.Path = "/v1/ops/orders/" + pick(p.rng, []string{"01M8JPT7HA69PKYMA5D1JKNWRV", "short", "%2e"})
	case 6:
		r.Method, r.Path, r.Body = http.MethodPost, "/v1/ops/orders/resolve", []byte(`{"refs":["01M8JPT7HA69PKYMA5D1JKNWRV"],"operation":"create","outcome":"not_done","note":"asked"}`)
	default:
		r.Path = "/v1/restaurants/" + pick(p.rng, []string{large, small, "nowhere"}) + pick(p.rng, []string{"/menu", "/products", "/products/none", "/changes?since=1"})
	}
	return r
}

// broken returns a body with one change.
func (p *orderPlan) broken(body []byte) []byte {
	if p.rng.IntN(12) == 0 {
		return p.garbled(body)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return body
	}
	encoded, err := json.Marshal(p.changed(value, 0))
	if err != nil {
		return body
	}
	return encoded
}

// garbled returns a text that is perhaps no JSON.
func (p *orderPlan) garbled(body []byte) []byte {
	at := p.rng.IntN(len(body))
	switch p.rng.IntN(4) {
	case 0:
		return body[:at]
	case 1:
		return append(append(append([]byte{}, body[:at]...), pick(p.rng, []string{"\x00", "\xff", `"`, "}", "]", ",", "\\u0000", " "})...), body[at:]...)
	case 2:
		return append(append([]byte{}, body...), body...)
	default:
		return bytes.Replace(body, []byte(`{`), []byte(`{"persons":2,"persons":3,`), 1)
	}
}

// values returns what a client might send by mistake.
func values() []any {
	return []any{nil, true, "", " ", "0", "1.5", "nothing", json.Number("0"), json.Number("-1"), json.Number("1.25"), json.Number("1e400"), json.Number("1000000"), []any{}, map[string]any{}, strings.Repeat("x", 300)}
}

// changed returns a value in which one place is different.
func (p *orderPlan) changed(value any, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		names := sortedKeys(v)
		if len(names) == 0 {
			return pick(p.rng, values())
		}
		name := pick(p.rng, names)
		switch p.rng.IntN(10) {
		case 0:
			delete(v, name)
		case 1:
			v["unknown"+name] = pick(p.rng, values())
		case 2:
			v[strings.ToUpper(name)] = v[name]
		default:
			v[name] = p.changed(v[name], depth+1)
		}
		return v
	case []any:
		if len(v) == 0 || depth > 6 {
			return pick(p.rng, values())
		}
		i := p.rng.IntN(len(v))
		switch p.rng.IntN(5) {
		case 0:
			return append(v, v[i])
		case 1:
			return append(append([]any{}, v[:i]...), v[i+1:]...)
		}
		v[i] = p.changed(v[i], depth+1)
		return v
	}
	return pick(p.rng, values())
}
