package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/sleep"
)

// tries is how often a client sends one call before it gives up.
const tries = 8

// call is one request that a client repeats under one key until it has an answer.
type call struct {
	operation, order, key string
	method, path, body    string
	generation            int64 // of the journal: an operator may have accepted another one since
	sent                  bool  // some request got no answer, or one other than 503
}

// clients is the state that all clients of a run share.
type clients struct {
	history    *History
	instances  []*instanceProcess
	token      string
	prefix     string
	generation atomic.Int64
	next       atomic.Int64

	mu    sync.Mutex
	calls []*call
}

// send sends the call to an instance once and records the answer.
func (s *clients) send(ctx context.Context, c *call, instance int, limit time.Duration, final bool) Answer {
	answer := Answer{
		Start:     s.history.now(),
		Instance:  instance,
		Operation: c.operation,
		Order:     c.order,
		Key:       c.key,
		Final:     final,
	}
	status, body, err := s.do(ctx, httpCall{
		token:  s.token,
		method: c.method,
		target: s.instances[instance].url(c.path),
		body:   c.body,
		key:    c.key,
		limit:  limit,
	})
	answer.End, answer.Status = s.history.now(), status
	switch {
	case err != nil:
		answer.Error, answer.Status = err.Error(), 0
	case answer.Done():
		var shown struct{ Result struct{ OrderID, Ref string } }
		_ = json.Unmarshal(body, &shown) // the body itself is compared
		answer.OrderID, answer.Ref, answer.Body = shown.Result.OrderID, shown.Result.Ref, string(body)
	default:
		var shown struct{ Code, Ref, Msg string }
		_ = json.Unmarshal(body, &shown) // a code that is missing is empty
		answer.Code, answer.Ref, answer.Body = shown.Code, shown.Ref, shown.Msg
	}
	s.history.add(entry{Answer: &answer})
	c.sent = c.sent || answer.Status != http.StatusServiceUnavailable
	return answer
}

// httpCall is one HTTP request of a client.
type httpCall struct {
	token, method, target string
	body, key             string // may be empty
	limit                 time.Duration
}

// do sends one request. net/http would repeat a request with an Idempotency-Key
// after a broken connection; without GetBody it cannot.
func (*clients) do(ctx context.Context, c httpCall) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.method, c.target, strings.NewReader(c.body))
	if err != nil {
		return 0, nil, err
	}
	request.GetBody = nil
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Idempotency-Key", c.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read completely
	return response.StatusCode, answer, err
}

// bearer requests a token from an instance. All instances accept it.
func (s *clients) bearer(ctx context.Context, instance int, client string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {client + "-secret"}}
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, s.instances[instance].url("/connect/token"), strings.NewReader(form.Encode()),
	)
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // its body is read below
	var shown struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&shown); err != nil || shown.Token == "" {
		return "", fmt.Errorf("a token for %s: %d, %w", client, response.StatusCode, err)
	}
	return shown.Token, nil
}

// newCall prepares a call with its own key.
func (s *clients) newCall(operation, order, method, path, body string) *call {
	c := &call{
		operation:  operation,
		order:      order,
		method:     method,
		path:       path,
		body:       body,
		generation: s.generation.Load(),
	}
	c.key = fmt.Sprintf("%s-%06d-%s", s.prefix, s.next.Add(1), operation)
	if order == "" {
		c.order = c.key
		c.body = fmt.Sprintf(`{"expeditionType":"pickup","soonest":true,"paymentTypeID":"card","comment":%q,`+
			`"dishList":[{"ID":"dish-roast-beef","quantity":1}]}`, c.key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return c
}

// client is one customer: it places an order, changes it as customers and shops do,
// and repeats calls without an answer.
type client struct {
	clients *clients
	draw    *rand.Rand
	rest    time.Duration // mean time between two orders
}

// run serves orders until ctx ends, and waits for the calls that it has sent by
// then. It pauses while the gate is closed.
func (c *client) run(ctx context.Context, gate *sync.RWMutex) {
	for ctx.Err() == nil {
		gate.RLock()
		c.serve(ctx)
		gate.RUnlock()
		_ = sleep.For(ctx, c.rest/2+time.Duration(c.draw.Int64N(int64(c.rest))))
	}
}

// serve places one order and changes it.
func (c *client) serve(ctx context.Context) {
	generation := c.clients.generation.Load()
	created := c.try(ctx, c.clients.newCall(Create, "", http.MethodPost, "/v1/restaurants/"+sandbox.BistroID+"/orders", ""))
	if !created.Done() || created.OrderID == "" {
		return
	}
	change := func(operation, body string) Answer {
		if c.clients.generation.Load() != generation {
			return Answer{}
		}
		path := "/v1/orders/" + created.OrderID + "/" + operation
		return c.try(ctx, c.clients.newCall(operation, created.Order, http.MethodPut, path, body))
	}
	const payment = `[{"code":"card","amount":1890,"paidAt":"2026-05-01T18:30:00+03:00"}]`
	const reason = `{"rejectionReasonID":"5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01","rejectionReasonText":""}`
	switch c.draw.IntN(5) {
	case 0: // the customer pays later
	case 1:
		change(Reject, reason)
	case 2:
		if change(Pay, payment).Done() {
			change(Pay, payment) // with another key, which must not pay again
		}
	default:
		if change(Pay, payment).Done() {
			change(Complete, "")
		}
	}
}

// try sends a call until an answer shows its outcome, or the client gives up. Some
// answers are lost on purpose, so that the client repeats the call.
func (c *client) try(ctx context.Context, made *call) (answer Answer) {
	lose := c.draw.IntN(4) == 0
	for range tries {
		limit := 4 * time.Second
		if c.draw.IntN(10) == 0 {
			limit = 300 * time.Millisecond // an impatient client
		}
		//testwaits:allow the subject: a client that gives up and repeats the call
		answer = c.clients.send(context.WithoutCancel(ctx), made, c.draw.IntN(len(c.clients.instances)), limit, false)
		waits := answer.Status == 0 || answer.Status == http.StatusServiceUnavailable ||
			answer.Code == "idempotency_key_in_flight" || answer.Code == "order_busy"
		if !waits && !lose || ctx.Err() != nil || made.generation != c.clients.generation.Load() {
			return answer
		}
		if answer.Status == http.StatusServiceUnavailable && c.draw.IntN(4) == 0 {
			return answer // gives up, and tries elsewhere
		}
		most := 500 * time.Millisecond
		if !waits {
			most, lose = 3*time.Second, false // the answer was lost: the customer comes back
		}
		_ = sleep.For(ctx, 100*time.Millisecond+time.Duration(c.draw.Int64N(int64(most))))
	}
	return answer
}

// sendAgain repeats the last orders before a loss of data, as customers do who have
// lost their answers. None may be executed again.
func (s *clients) sendAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second) //testwaits:allow limits how many orders are repeated
	defer cancel()
	s.mu.Lock()
	last := slices.Clone(s.calls)
	s.mu.Unlock()
	left := 40
	for n, c := range slices.Backward(last) {
		if c.operation == Create && left > 0 && ctx.Err() == nil {
			left--
			// A copy: the client may be sending the call concurrently, and change
			// sent.
			again := &call{
				operation: c.operation,
				order:     c.order,
				key:       c.key,
				method:    c.method,
				path:      c.path,
				body:      c.body,
			}
			s.send(ctx, again, n%len(s.instances), time.Second, false) //testwaits:allow the order is repeated again after the faults
		}
	}
}

// replayAll repeats every key that may have been executed, after all faults. Each
// must have an answer, equal to the one before.
func (s *clients) replayAll(ctx context.Context, workers int) {
	var work sync.WaitGroup
	calls := make(chan *call)
	for range workers {
		work.Go(func() {
			for c := range calls {
				for n := range 20 {
					answer := s.send(ctx, c, n%len(s.instances), 10*time.Second, true)
					if answer.Status != 0 && !passing(answer.Status) || blocked(answer) && answer.Code != "order_busy" || ctx.Err() != nil {
						break
					}
					_ = sleep.For(ctx, 300*time.Millisecond)
				}
			}
		})
	}
	for _, c := range s.calls {
		if c.sent && c.generation == s.generation.Load() {
			calls <- c
		}
	}
	close(calls)
	work.Wait()
}

// readRecords records what larder knows about each order.
func (s *clients) readRecords(ctx context.Context) error {
	ops, err := s.bearer(ctx, 0, "ops")
	if err != nil {
		return err
	}
	listed, err := s.listUnknown(ctx, ops)
	if err != nil {
		return err
	}
	for n, c := range s.calls {
		if c.operation != Create || !c.sent {
			continue
		}
		instance := n % len(s.instances)
		status, body, err := s.do(ctx, httpCall{
			token:  s.token,
			method: http.MethodGet,
			target: s.instances[instance].url("/v1/orders?key=" + c.key),
			limit:  10 * time.Second,
		})
		if err != nil {
			return err
		}
		var shown struct {
			Result struct {
				Ref, OrderID, State string
				Attempts            []struct{ Operation, Outcome string }
			}
		}
		if err := json.Unmarshal(body, &shown); err != nil {
			return fmt.Errorf("the record of %s: %w", c.key, err)
		}
		record := Record{
			At:       s.history.now(),
			Order:    c.order,
			Instance: instance,
			Status:   status,
			State:    shown.Result.State,
			OrderID:  shown.Result.OrderID,
			Ref:      shown.Result.Ref,
			Last:     map[string]string{},
			Listed:   slices.Contains(listed, shown.Result.Ref),
		}
		for _, attempt := range shown.Result.Attempts {
			record.Last[attempt.Operation] = attempt.Outcome
		}
		s.history.add(entry{Record: &record})
	}
	return nil
}

// listUnknown returns the refs of the orders that operators see as unknown.
func (s *clients) listUnknown(ctx context.Context, token string) (refs []string, err error) {
	cursor := ""
	for range 1000 {
		path := "/v1/ops/orders?state=unknown&limit=500&cursor=" + url.QueryEscape(cursor)
		status, body, err := s.do(ctx, httpCall{
			token:  token,
			method: http.MethodGet,
			target: s.instances[0].url(path),
			limit:  10 * time.Second,
		})
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("the unknown orders: %d %s, %w", status, body, err)
		}
		var shown struct {
			Result []struct{ Ref string }
			Next   *string
		}
		if err := json.Unmarshal(body, &shown); err != nil {
			return nil, err
		}
		for _, order := range shown.Result {
			refs = append(refs, order.Ref)
		}
		if shown.Next == nil || *shown.Next == "" {
			return refs, nil
		}
		cursor = *shown.Next
	}
	return refs, nil
}
