package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/internal/sandbox"
)

// service is the sandbox over HTTP. It records each change of an order that
// arrives, and whether the order had been changed that way before.
type service struct {
	sandbox http.Handler
	server  *httptest.Server
	history *History
	twice   atomic.Bool // see Twice
}

func startService(tb testing.TB, h *History) *service {
	tb.Helper()
	box := sandbox.New(sandbox.Config{})
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	box.SetMenu(sandbox.BistroID, bistro)
	box.SetMenu(sandbox.DefaultMenu, bistro)
	s := &service{sandbox: box.Handler(), history: h}
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	s.server.Start()
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
	if s.twice.Load() && strings.HasPrefix(r.URL.Path, "/orders/api/v1/orders") && rand.IntN(2) == 0 {
		s.answerTwice(w, r)
		return
	}
	s.sandbox.ServeHTTP(w, r)
}

type connKey struct{}

// answerTwice sends a response and a copy of it. The copy of a response to a new order arrives up to 15 ms later: its
// orderID shows to which order it belongs. A change has nothing to compare, so its copy arrives at once.
func (s *service) answerTwice(w http.ResponseWriter, r *http.Request) {
	made, twin := httptest.NewRecorder(), new(bytes.Buffer)
	s.sandbox.ServeHTTP(made, r)
	made.Header().Set("Content-Length", strconv.Itoa(made.Body.Len()))
	_, _ = fmt.Fprintf(twin, "HTTP/1.1 %d %s\r\n", made.Code, http.StatusText(made.Code)) // a buffer returns no error
	_ = made.Header().Write(twin)
	_, _ = fmt.Fprintf(twin, "\r\n%s", made.Body)
	maps.Copy(w.Header(), made.Header())
	w.WriteHeader(made.Code)
	_, _ = w.Write(made.Body.Bytes())
	_ = http.NewResponseController(w).Flush()
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	again := func() { _, _ = conn.Write(twin.Bytes()) } // larder may have closed it
	if r.Method == http.MethodPut {
		again()
	} else {
		time.AfterFunc(rand.N(15*time.Millisecond), again)
	}
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
	if kind == Twice {
		s.twice.Store(true)
		return nil
	}
	do := map[string]string{
		AnswerLost:  `"do":"execute_then_reset"`,
		AnswerHangs: `"do":"execute_then_hang"`,
		CallLost:    `"do":"reset_before"`,
		Unavailable: `"do":"status","status":503`,
		Overloaded:  `"do":"execute_then_status","status":503`,
		Slow:        `"do":"latency","delay":"700ms"`,
	}[kind]
	var faults []string
	if kind == Overloaded { // certainly the first new order, whatever the seed
		faults = append(faults, fmt.Sprintf(`{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,%s}`, do))
	}
	for _, match := range []string{
		`{"method":"POST","path":"/orders/api/v1/orders"}`, `{"method":"PUT","path":"/orders/api/v1/orders/*"}`,
	} {
		faults = append(faults, fmt.Sprintf(`{"match":%s,"probability":0.3,"seed":%d,%s}`, match, seed, do))
	}
	_, err := s.ask(http.MethodPut, "/sandbox/faults", "["+strings.Join(faults, ",")+"]")
	return err
}

func (s *service) heal() error {
	s.twice.Store(false)
	_, err := s.ask(http.MethodPut, "/sandbox/faults", "[]")
	return err
}
