package ordering_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// simOrder returns an order with a label.
func simOrder(label string, quantity int) []byte {
	at := time.Now().Truncate(24 * time.Hour).Add(20 * 24 * time.Hour).Format(time.RFC3339)
	return fmt.Appendf(nil, `{"comment":%q,"dishList":[{"ID":"soup","quantity":%d}],"expeditionType":"pickup","expectedAt":%q,`+
		`"paymentTypeID":"cash","restaurantID":%q}`, label, quantity, at, menutest.Restaurant)
}

// place places an order with one of few keys, or without a key. Sometimes it uses a
// different body, or sends the order several times concurrently.
func (s *simulation) place(t *rapid.T) {
	key := rapid.SampledFrom([]string{"", "k1", "k2", "k3", "k4", "k5", "k6"}).Draw(t, "key")
	label := key + rapid.SampledFrom([]string{"", "", "", "", "-other"}).Draw(t, "body")
	if key == "" {
		s.labels++
		label = fmt.Sprintf("keyless-%d", s.labels)
	}
	identity := ""
	if key != "" {
		identity = "create/" + key
	}
	body := s.bodyOf(label)
	for range rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "times") {
		request := newPlaceRequest(key, body)
		s.send(s.replica(t), &simRequest{
			placing:  &request,
			label:    label,
			identity: identity,
			own:      true,
		})
		if key == "" {
			break
		}
	}
}

// bodyOf returns the body of a label. It is the same during the whole run.
func (s *simulation) bodyOf(label string) []byte {
	for _, a := range s.requests {
		if a.placing != nil && a.label == label {
			return a.placing.Body
		}
	}
	return simOrder(label, 1+len(label)%3)
}

// placeWrong places an order that larder must reject. Its key stays free.
func (s *simulation) placeWrong(t *rapid.T) {
	request := newPlaceRequest("wrong", simOrder("wrong", 0))
	s.send(s.replica(t), &simRequest{
		placing:  &request,
		label:    "wrong",
		identity: "create/wrong",
		invalid:  true,
	})
}

// change pays, completes or rejects an order of the service.
func (s *simulation) change(t *rapid.T) {
	orders := s.atService()
	// A client learns an orderID from larder. If larder does not know the outcome of the
	// order, it may learn it elsewhere.
	maps.DeleteFunc(orders, func(id string, o *shown) bool {
		_, err := s.journal.Order(s.ctx, "main", id)
		return err != nil && o.Body.Comment != foreignLabel && !s.outcomeLost(o.Body.Comment)
	})
	if len(orders) == 0 {
		t.Skip("no order")
	}
	o := orders[rapid.SampledFrom(slices.Sorted(maps.Keys(orders))).Draw(t, "order")]
	op := rapid.SampledFrom([]ordering.Operation{
		upstream.OpPay, upstream.OpPay, upstream.OpComplete, upstream.OpReject,
	}).Draw(t, "operation")
	key := rapid.SampledFrom([]string{"", "", "c1", "c2"}).Draw(t, "key")
	_, err := s.journal.Order(s.ctx, "main", o.OrderID)
	a := &simRequest{known: err == nil, own: key != "", changing: &ordering.ChangeRequest{
		Operation:  op,
		OrderID:    o.OrderID,
		Connection: "main",
		Client:     "storefront",
		RequestID:  "request",
		Input:      validate.Input{V1: rapid.Bool().Draw(t, "v1"), FieldCase: upstream.FieldCaseDocument},
	}}
	switch op {
	case upstream.OpPay:
		a.label = fmt.Sprintf("pay-%s-%d", o.OrderID, rapid.IntRange(1, 2).Draw(t, "payment"))
		amount := o.Total
		if !a.changing.V1 && rapid.IntRange(0, 4).Draw(t, "short") == 0 {
			amount = amount.Shift(-1) // larder accepts this amount, and the service refuses it
			a.label += "-short"
		}
		a.changing.Body = fmt.Appendf(nil, `[{"code":%q,"amount":%s,"paidAt":"2030-01-01T00:00:00Z","name":""}]`, a.label, amount)
	case upstream.OpReject:
		a.label = "reject-" + o.OrderID
		a.changing.Body = fmt.Appendf(nil, `{"rejectionReasonID":%q,"rejectionReasonText":%q}`, simReasons()[0].ID, a.label)
	default:
		a.label = "complete-" + o.OrderID
	}
	if key != "" {
		a.changing.Key = key + "-" + o.OrderID
		a.identity = "key/" + a.changing.Key
	} else {
		a.identity = fmt.Sprintf("derived/%s/%s/%s", op, o.OrderID, a.changing.Body)
	}
	for range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "times") {
		again := *a
		s.send(s.replica(t), &again)
	}
}

// outcomeLost reports whether larder does not know the outcome of the order with a label, and
// no request that could return it is in progress.
func (s *simulation) outcomeLost(label string) bool {
	for _, r := range s.records(ordering.StatePlacing) {
		if s.truth.labels[r.Ref] == label {
			return false
		}
	}
	return !slices.ContainsFunc(s.requests, func(a *simRequest) bool {
		return a.label == label && !a.by.gate.isDead() && (!s.answered(a) || (a.err == nil && a.result.Call.Outcome.Certain()))
	})
}

// foreign places an order with another program. Larder does not know it.
func (s *simulation) foreign(*rapid.T) {
	token := struct {
		Token string `json:"access_token"`
	}{}
	form := "client_ID=demo&client_secret=demo-secret&grant_type=client_credentials&scopes=orders"
	s.control("PUT", "/sandbox/faults", "[]")
	if err := json.Unmarshal(s.direct("/connect/token", "application/x-www-form-urlencoded", form, ""), &token); err != nil {
		s.wrong("token: %v", err)
	}
	s.direct("/orders/api/v1/orders", "application/json", string(simOrder(foreignLabel, 1)), token.Token)
}

// fail sets faults of the service.
func (s *simulation) fail(t *rapid.T) {
	const create, change, token = `"method":"POST","path":"/orders/api/v1/orders"`, `"method":"PUT","path":"/orders/*"`, `"path":"/connect/token"`
	var list []string
	for range rapid.IntRange(1, 4).Draw(t, "faults") {
		where := rapid.SampledFrom([]string{create, create, change, change, token}).Draw(t, "where")
		what := rapid.SampledFrom([]string{
			`"do":"execute_then_reset"`, `"do":"execute_then_hang"`, `"do":"execute_then_status","status":502`,
			`"do":"execute_then_status","status":500,"body":"oops"`, `"do":"hang"`, `"do":"reset_before"`,
			`"do":"latency","delay":"3s"`, `"do":"latency","delay":"12s"`, `"do":"latency","delay":"40s"`,
			`"do":"status","status":503`, `"do":"execute_then_status","status":503`, `"do":"execute_then_status","status":503,"retryAfter":2`,
			`"do":"status","status":425`, `"do":"status","status":429,"retryAfter":2`, `"do":"status","status":429,"retryAfter":60`,
			`"do":"execute_then_status","status":500,"body":"{\"code\":\"ERR_EXTERNAL_ERROR_WS\",\"msg\":\"Creation timeout expired\"}"`,
			`"do":"status","status":429`, `"do":"status","status":408`, `"do":"status","status":401`, `"do":"status","status":302`,
			`"do":"status","status":500,"body":"{\"code\":\"no\",\"msg\":\"no\",\"requestId\":\"1\",\"errors\":null}"`,
			`"do":"html"`, `"do":"garbage"`, `"do":"truncate","after":9`, `"do":"expire_tokens"`,
		}).Draw(t, "what")
		list = append(list, fmt.Sprintf(`{"match":{%s},%s,"times":%d}`, where, what, rapid.SampledFrom([]int{1, 1, 4, 9}).Draw(t, "times")))
	}
	s.control("PUT", "/sandbox/faults", "["+strings.Join(list, ",")+"]")
}

// stopDish stops a dish or makes it available again. Sometimes larder does not know the
// change yet, and the service refuses the order.
func (s *simulation) stopDish(t *rapid.T) {
	stopped := rapid.Bool().Draw(t, "stopped")
	s.control("PATCH", "/sandbox/stop-list/"+string(menutest.Restaurant), fmt.Sprintf(`{"soup":%t}`, stopped))
	known := rapid.Bool().Draw(t, "known")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = stopped && known
	for _, a := range s.requests {
		a.metStop = a.metStop || s.stopped && a.at.IsZero()
	}
}

// pass advances the time: usually by seconds, sometimes by more than deadlines and retention.
func (s *simulation) pass(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{ //testwaits:allow in the synctest bubble
		100 * time.Millisecond, time.Second, time.Second, 4 * time.Second, 4 * time.Second, 16 * time.Second, 16 * time.Second,
		time.Minute, time.Minute, 3 * time.Minute, 70 * time.Minute,
	}).Draw(t, "time"))
}

// failJournal makes an instance's journal calls fail or be slow.
func (s *simulation) failJournal(t *rapid.T) {
	g := s.replica(t).gate
	method := rapid.SampledFrom([]journaltest.Method{
		journaltest.MethodBegin, journaltest.MethodBegin, journaltest.MethodFinish, journaltest.MethodFinish, journaltest.MethodAbort,
		journaltest.MethodSecret, journaltest.MethodLookup, journaltest.MethodLookup, journaltest.MethodReady, journaltest.MethodResolve,
		journaltest.MethodOrder, journaltest.MethodSweep, journaltest.MethodBody,
	}).Draw(t, "method")
	failure := rapid.SampledFrom([]journaltest.Failure{journaltest.FailBefore, journaltest.FailAfter}).Draw(t, "failure")
	times := rapid.SampledFrom([]int{1, 1, 2, 9}).Draw(t, "times")
	delay := rapid.SampledFrom([]time.Duration{0, 0, 2 * time.Second}).Draw(t, "delay")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail[method] = slices.Repeat([]journaltest.Failure{failure}, times)
	if delay > 0 {
		g.delay[method], g.fail[method] = delay, nil
	}
}

// disconnect disconnects an instance from the journal, or reconnects it.
func (s *simulation) disconnect(t *rapid.T) {
	g := s.replica(t).gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unreachable = !g.unreachable
}

// die kills an instance at its next journal call, before or after it.
func (s *simulation) die(t *rapid.T) {
	g := s.replica(t).gate
	method := rapid.SampledFrom([]journaltest.Method{
		journaltest.MethodBegin, journaltest.MethodFinish, journaltest.MethodFinish, journaltest.MethodAbort, journaltest.MethodResolve,
	}).Draw(t, "method")
	failure := rapid.SampledFrom([]journaltest.Failure{journaltest.FailBefore, journaltest.FailAfter}).Draw(t, "when")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.die[method] = failure
}

// crash kills an instance with all its requests in progress.
func (s *simulation) crash(t *rapid.T) { s.replica(t).gate.kill() }

// restart stops an instance as a signal does. When it has ended, restart starts another one.
func (s *simulation) restart(t *rapid.T) {
	r := s.replica(t)
	r.stop()
	<-r.gone
	r.gate.kill() // later requests to it get no response
	s.start(s.ctx, r.number)
}

// leave disconnects a client.
func (s *simulation) leave(t *rapid.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.requests) {
		if a.at.IsZero() && !a.left {
			a.left = true
			a.leave()
			return
		}
	}
	t.Skip("no client is waiting")
}

// resolveOne resolves an unknown outcome correctly.
func (s *simulation) resolveOne(t *rapid.T) {
	unknown := s.records(ordering.StateUnknown)
	s.mu.Lock()
	resolving := s.resolving
	s.mu.Unlock()
	if len(unknown) == 0 || resolving {
		t.Skip("nothing to resolve")
	}
	r := unknown[rapid.IntRange(0, len(unknown)-1).Draw(t, "record")]
	if !s.resolve(s.replica(t), r, rapid.Bool().Draw(t, "again")) {
		t.Skip("a call of it is at the service")
	}
}

// resolve resolves a record's unknown call according to the service.
func (s *simulation) resolve(by *replica, r ordering.Record, again bool) bool {
	call, _ := r.Busy()
	resolution := &ordering.ResolveRequest{
		Connections: []string{"main"},
		Ref:         r.Ref,
		Operation:   call.Operation,
		Resolution:  ordering.ResolvedNotDone,
		By:          "ops",
		RequestID:   "ops",
	}
	if again {
		resolution.Resolution = ordering.ResolvedRetry
	}
	orders := s.atService()
	done, subject := s.isDone(&r, call, orders, resolution)
	// A change with an orderID that the client got elsewhere is resolved first.
	has, err := s.journal.Order(s.ctx, "main", resolution.OrderID)
	_, busy := has.Busy()
	s.mu.Lock()
	busy = s.active[subject] > 0 || (err == nil && busy)
	s.resolving = s.resolving || !busy
	s.mu.Unlock()
	if busy {
		return false
	}
	if done {
		resolution.Resolution = ordering.ResolvedDone
	}
	s.seen("resolved " + string(resolution.Resolution))
	s.send(by, &simRequest{resolving: resolution, label: subject})
	return true
}

// isDone reports whether an unknown call took effect, and returns its subject.
func (s *simulation) isDone(r *ordering.Record, call ordering.Call, orders map[string]*shown, resolution *ordering.ResolveRequest) (done bool, subject string) {
	if call.Operation == upstream.OpCreate {
		label := s.truth.labels[r.Ref]
		for id, o := range orders {
			if has, err := s.journal.Order(s.ctx, "main", id); o.Body.Comment == label && (err != nil || has.Adopted) {
				resolution.OrderID = id
				return true, label
			}
		}
		return false, label
	}
	o := orders[r.OrderID]
	switch {
	case o == nil:
		return false, r.OrderID
	case call.Operation == upstream.OpPay:
		return o.paidWith(call.Payments[0].Code), r.OrderID
	case call.Operation == upstream.OpComplete:
		return o.State == "closed", r.OrderID
	default:
		return o.State == "rejected", r.OrderID
	}
}
