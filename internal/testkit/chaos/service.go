package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"larder/internal/sandbox"
)

// service is the sandbox over HTTP. It records each change of an order that
// arrives, and whether the order had been changed that way before.
type service struct {
	sandbox http.Handler
	server  *httptest.Server
	history *History
}

func startService(tb testing.TB, h *History) *service {
	tb.Helper()
	box := sandbox.New(sandbox.Config{})
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	box.SetMenu(sandbox.BistroID, bistro)
	box.SetMenu(sandbox.DefaultMenu, bistro)
	s := &service{sandbox: box.Handler(), history: h}
	s.server = httptest.NewServer(s)
	tb.Cleanup(func() {
		box.Close()
		s.server.Close()
	})
	return s
}

// ServeHTTP records the request before the sandbox executes it.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if id, ok := strings.CutPrefix(r.URL.Path, "/orders/api/v1/orders/"); ok && r.Method == http.MethodPut {
		id, operation, _ := strings.Cut(id, "/")
		before := s.order(id)
		s.history.add(entry{Arrival: &Arrival{
			At:        s.history.now(),
			Operation: operation,
			OrderID:   id,
			Repeat:    before.has(operation),
		}})
	}
	s.sandbox.ServeHTTP(w, r)
}

// order returns one order of the sandbox, an empty one if it does not exist.
func (s *service) order(id string) (found sandboxOrder) {
	var shown struct{ Result sandboxOrder }
	answer := httptest.NewRecorder()
	s.sandbox.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/sandbox/orders/"+id, http.NoBody))
	_ = json.Unmarshal(answer.Body.Bytes(), &shown) // a missing order is an empty one
	return shown.Result
}

// sandboxOrder is an order in the format of GET /sandbox/orders.
type sandboxOrder struct {
	OrderID  string
	State    string
	Paid     bool
	Payments []json.RawMessage
	Body     struct{ Comment string }
}

// has reports whether a change of the order has been executed.
func (o sandboxOrder) has(operation string) bool {
	switch operation {
	case Pay:
		return o.Paid
	case Complete:
		return o.State == "closed"
	default:
		return o.State == "rejected"
	}
}

// ask sends a request to the control routes of the sandbox.
func (s *service) ask(method, path, body string) ([]byte, error) {
	answer := httptest.NewRecorder()
	s.sandbox.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body)))
	if answer.Code != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return answer.Body.Bytes(), nil
}

// executed writes the sandbox's orders to the history.
func (s *service) executed() error {
	body, err := s.ask(http.MethodGet, "/sandbox/orders", "")
	if err != nil {
		return err
	}
	var list struct{ Result []sandboxOrder }
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, o := range list.Result {
		s.history.add(entry{Executed: &Executed{
			OrderID:  o.OrderID,
			Order:    o.Body.Comment,
			State:    o.State,
			Paid:     o.Paid,
			Payments: len(o.Payments),
		}})
	}
	return nil
}

// fail injects a fault into calls that change orders, with a probability.
func (s *service) fail(kind string, seed uint64) error {
	do := map[string]string{
		AnswerLost:  `"do":"execute_then_reset"`,
		AnswerHangs: `"do":"execute_then_hang"`,
		CallLost:    `"do":"reset_before"`,
		Unavailable: `"do":"status","status":503`,
		Slow:        `"do":"latency","delay":"700ms"`,
	}[kind]
	var faults []string
	for _, match := range []string{
		`{"method":"POST","path":"/orders/api/v1/orders"}`, `{"method":"PUT","path":"/orders/api/v1/orders/*"}`,
	} {
		faults = append(faults, fmt.Sprintf(`{"match":%s,"probability":0.3,"seed":%d,%s}`, match, seed, do))
	}
	_, err := s.ask(http.MethodPut, "/sandbox/faults", "["+strings.Join(faults, ",")+"]")
	return err
}

func (s *service) heal() error {
	_, err := s.ask(http.MethodPut, "/sandbox/faults", "[]")
	return err
}
