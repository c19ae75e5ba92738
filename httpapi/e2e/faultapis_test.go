package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering/violation"
)

// orderAPI is one of larder's two APIs in the fault matrix: the path of orders, and the expected
// response of a call. Each check returns the ref of the order.
type orderAPI interface {
	orders() string
	order(orderID string) string
	done(c *cell, got apitest.Reply) (ref string)
	refused(c *cell, got apitest.Reply) (ref string)
	unknown(c *cell, got apitest.Reply) (ref string)
	problem(c *cell, got apitest.Reply, status int, code string) (ref string)
}

// v1API is larder's own API.
type v1API struct{}

func (v1API) orders() string              { return apitest.OrdersPath }
func (v1API) order(orderID string) string { return "/v1/orders/" + orderID }

// done: the order in its current state.
func (v1API) done(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	status := http.StatusOK
	if c.operation == upstream.OpCreate {
		status = http.StatusCreated
	}
	state, paid := stateAfter()[c.operation], c.operation == upstream.OpPay || c.operation == upstream.OpComplete
	var said struct {
		Ref, OrderID, State string
		Paid                bool
		Total               json.Number
	}
	got.Is(c.t, status).Into(c.t, &said)
	if said.OrderID == "" || (c.orderID != "" && said.OrderID != c.orderID) || said.State != string(state) || said.Paid != paid {
		c.t.Errorf("the answer is %s, want order %q, state %s, paid %v", got.Body, c.orderID, state, paid)
	}
	return said.Ref
}

// refused: 502 with the ordering service's response inside.
func (v1API) refused(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	said := got.Refused(c.t, http.StatusBadGateway, "upstream_refused")
	var want struct {
		Code   string
		Errors []any
	}
	_ = json.Unmarshal([]byte(c.row.body()), &want) // HTML and nothing have no code
	if said.Upstream == nil || said.Upstream.Status != c.row.status || said.Upstream.Code != want.Code || len(said.Upstream.Errors) != len(want.Errors) {
		c.t.Errorf("the service's answer is not passed on with status %d and code %q: %s", c.row.status, want.Code, got.Body)
	}
	return said.Ref
}

func (d v1API) unknown(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	return d.problem(c, got, http.StatusGatewayTimeout, "order_outcome_unknown")
}

func (v1API) problem(c *cell, got apitest.Reply, status int, code string) (ref string) {
	c.t.Helper()
	return got.Refused(c.t, status, code).Ref
}

// compatAPI is the compatible API.
type compatAPI struct{}

func (compatAPI) orders() string              { return apitest.CreatePath }
func (compatAPI) order(orderID string) string { return apitest.CreatePath + "/" + orderID }

// done: the ordering service's response, even if it is empty.
func (compatAPI) done(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	got.Is(c.t, c.answered())
	switch body := string(got.Body); {
	case c.row.mute:
		if body != "" {
			c.t.Errorf("the service said nothing, the answer is %s", body)
		}
	case c.operation == upstream.OpCreate:
		var said struct{ OrderID string }
		if got.Into(c.t, &said); said.OrderID == "" {
			c.t.Errorf("the answer is %s, want an orderID", body)
		}
	case body != `{"result":{}}`:
		c.t.Errorf("the answer is %s, want an empty result", body)
	}
	return got.Header.Get("Larder-Order-Ref")
}

// refused: the ordering service's response. A redirect is not passed through.
func (d compatAPI) refused(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	if c.row.status/100 == 3 {
		return d.problem(c, got, http.StatusBadGateway, "upstream_refused")
	}
	return d.passedOn(c, got)
}

// unknown: the ordering service's error, or larder's if the service sent no error.
func (d compatAPI) unknown(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	if c.row.status < http.StatusBadRequest {
		return d.problem(c, got, http.StatusGatewayTimeout, "order_outcome_unknown")
	}
	return d.passedOn(c, got)
}

// passedOn: the ordering service's response, which may be empty.
func (compatAPI) passedOn(c *cell, got apitest.Reply) (ref string) {
	c.t.Helper()
	want := c.row.body()
	if got.Status != c.row.status || !strings.Contains(string(got.Body), want) || len(got.Body) > 0 && want == "" {
		c.t.Errorf("the answer is %d %s, want %d %s", got.Status, got.Body, c.row.status, want)
	}
	return got.Header.Get("Larder-Order-Ref")
}

// problem: larder's own response in the error format of the interface.
func (compatAPI) problem(c *cell, got apitest.Reply, status int, code string) (ref string) {
	c.t.Helper()
	var said struct {
		Code, Msg, RequestID string
		Errors               []violation.Violation
	}
	if err := json.Unmarshal(got.Body, &said); err != nil || got.Status != status || said.Code != code || said.Msg == "" || said.RequestID == "" {
		c.t.Errorf("the answer is %d %s, want %d %s in the interface's shape (%v)", got.Status, got.Body, status, code, err)
	}
	return got.Header.Get("Larder-Order-Ref")
}
