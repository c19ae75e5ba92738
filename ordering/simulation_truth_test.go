package ordering_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// truth is the state that the run has observed in records and responses.
type truth struct {
	labels   map[string]string // by ref: the label of the record's order
	records  map[string]ordering.Record
	answered map[string]*simRequest // by identity: the last response for a key
	kinds    map[string]int         // counts of observed kinds
}

func newTruth() truth {
	return truth{
		labels:   map[string]string{},
		records:  map[string]ordering.Record{},
		answered: map[string]*simRequest{},
		kinds:    map[string]int{},
	}
}

// shown is an order as the service returns it. Its comment is the label of its request.
type shown struct {
	OrderID   string
	State     string
	Paid      bool
	CreatedAt time.Time
	Body      struct{ Comment string }
	Total     decimal.Decimal
	Payments  []struct{ Code string }
}

// ended reports whether the order allows no more changes.
func (s *shown) ended() bool { return s.State == "closed" || s.State == "rejected" }

// paidWith reports whether a payment with this code took effect.
func (s *shown) paidWith(code string) bool {
	return slices.ContainsFunc(s.Payments, func(p struct{ Code string }) bool { return p.Code == code })
}

// atService returns the service's orders by their ids.
func (w *world) atService() map[string]*shown {
	orders := map[string]*shown{}
	for _, o := range shownOrders(w, w.control(http.MethodGet, "/sandbox/orders", "")) {
		orders[o.OrderID] = o
	}
	return orders
}

// Errorf records a violated invariant.
func (w *world) Errorf(format string, args ...any) { w.wrong(format, args...) }

// shownOrders decodes the sandbox's list of orders.
func shownOrders(report interface {
	Errorf(format string, args ...any)
}, answer []byte,
) []*shown {
	var list struct{ Result []*shown }
	if err := json.Unmarshal(answer, &list); err != nil {
		report.Errorf("the sandbox's orders: %v", err)
	}
	return list.Result
}

// control calls one of the sandbox's control endpoints.
func (w *world) control(method, path, body string) []byte {
	recorder := httptest.NewRecorder()
	w.service.ServeHTTP(recorder, httptest.NewRequestWithContext(w.ctx, method, path, strings.NewReader(body)))
	if recorder.Code != http.StatusOK {
		w.wrong("%s %s of the sandbox: %s", method, path, recorder.Body)
	}
	return recorder.Body.Bytes()
}

// direct calls the service without larder.
func (w *world) direct(path, contentType, body, token string) []byte {
	request := httptest.NewRequestWithContext(w.ctx, http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+token)
	recorder := httptest.NewRecorder()
	w.service.ServeHTTP(recorder, request)
	return recorder.Body.Bytes()
}

// spy checks for every call that arrives at the service that the journal has it.
func (w *world) spy(rw http.ResponseWriter, r *http.Request) {
	op, orderID := operationOf(r)
	if op == "" {
		w.service.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // disconnected while it was sent: it has no effect
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	subject := orderID
	if op == upstream.OpCreate {
		subject = labelOf(body)
	}
	w.mu.Lock()
	if w.active[subject] > 0 {
		w.wrongLocked("%s of %q reached the service during another call for it", op, subject)
	}
	w.active[subject]++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.active[subject]--
	}()
	if r.Header.Get("Idempotency-Key") != "" {
		w.wrong("%s reached the service with the client's key", op)
	}
	call, fault := w.explain(op, orderID, body)
	if fault != "" {
		w.wrong("%s of %q reached the service %s", op, subject, fault)
	}
	defer func() {
		// The limit starts when the request arrives. After the wait for a token and a slot, at
		// least two thirds of it remain (policy O8a).
		if took := time.Since(call.StartedAt); r.Context().Err() != nil && w.steady && took < simCall*2/3 {
			w.wrong("%s of %q was cancelled after %s", op, subject, took)
		}
	}()
	w.service.ServeHTTP(rw, r)
}

// explain returns the journal's call for a call that arrives at the service, or a fault. The
// call must be open, and the only open call of its order.
func (w *world) explain(op ordering.Operation, orderID string, body []byte) (call ordering.Call, fault string) {
	if op == upstream.OpCreate {
		for _, r := range w.records(ordering.StatePlacing) {
			call, _ := r.Busy()
			sent, err := w.journal.Body(w.ctx, r.Connection, r.Ref, call.Number)
			if err == nil && call.Outcome == ordering.OutcomeOpen && bytes.Equal(sent, body) {
				return call, ""
			}
		}
		return call, "but no record is placing it"
	}
	r, err := w.journal.Order(w.ctx, "main", orderID)
	if err != nil {
		return call, "without a record"
	}
	call, busy := r.Busy()
	sent, err := w.journal.Body(w.ctx, r.Connection, r.Ref, call.Number)
	switch {
	case !busy || call.Outcome != ordering.OutcomeOpen || call.Operation != op:
		return call, "without an open call of its record"
	case r.State != ordering.StatePlaced || (op == upstream.OpPay && r.Paid):
		return call, "although the order is " + string(r.State)
	case op != upstream.OpComplete && (err != nil || !bytes.Equal(sent, body)):
		return call, "with another body than that of its record"
	default:
		return call, ""
	}
}

func labelOf(body []byte) string {
	var order struct{ Comment string }
	_ = json.Unmarshal(body, &order) // a body without a label has none
	return order.Comment
}

// records returns the journal's records, newest first.
func (w *world) records(state ordering.State) (all []ordering.Record) {
	q := ordering.Query{Connections: []string{"main"}, State: state, Limit: 500}
	for {
		page, next, err := w.journal.List(w.ctx, q)
		if err != nil {
			w.wrong("List: %v", err)
		}
		if all = append(all, page...); next == "" {
			return all
		}
		q.Cursor = next
	}
}

// check compares larder's records with the service after every step.
func (w *world) check() {
	orders := w.atService()
	records := w.records("")
	placed := map[string]*ordering.Record{}      // by orderID
	undecided := map[string][]*ordering.Record{} // by label: creation open or unknown
	for i := range records {
		r := &records[i]
		w.remember(r)
		w.move(r)
		if r.OrderID != "" {
			if other := placed[r.OrderID]; other != nil {
				w.wrong("%s and %s have the orderID %s", r.Ref, other.Ref, r.OrderID)
			}
			placed[r.OrderID] = r
		}
		if r.State == ordering.StatePlacing || r.State == ordering.StateUnknown {
			undecided[w.truth.labels[r.Ref]] = append(undecided[w.truth.labels[r.Ref]], r)
		}
	}
	if len(records) < len(w.truth.records) {
		w.wrong("the journal has %d records, and had %d", len(records), len(w.truth.records))
	}
	made := map[string][]time.Time{}
	for id, o := range orders {
		label := o.Body.Comment
		if label == foreignLabel {
			continue
		}
		made[label] = append(made[label], o.CreatedAt)
		r := placed[id]
		if (r == nil || r.Adopted) && len(undecided[label]) == 0 {
			w.wrong("the service has the order %s of %q, but no record of it is placed, placing or unknown", id, label)
		}
		if r != nil && !r.Adopted && w.truth.labels[r.Ref] != label {
			w.wrong("the record of the order %s of %q has the label %q", id, label, w.truth.labels[r.Ref])
		}
	}
	for label, times := range made {
		slices.SortFunc(times, time.Time.Compare)
		for i := 1; i < len(times); i++ {
			if gap := times[i].Sub(times[i-1]); gap < simKeyTTL {
				w.wrong("the service created two orders of %q, %s apart", label, gap)
			}
		}
	}
	for id, r := range placed {
		w.compare(r, orders[id])
	}
	w.mu.Lock()
	answers := w.answers
	w.answers = nil
	w.mu.Unlock()
	for _, a := range answers {
		w.checkAnswer(a, orders)
	}
}

// remember records a new record's label while its body is kept.
func (w *world) remember(r *ordering.Record) {
	if _, known := w.truth.labels[r.Ref]; known || r.Adopted {
		return
	}
	body, err := w.journal.Body(w.ctx, r.Connection, r.Ref, 1)
	if err != nil {
		w.wrong("Body of %s: %v", r.Ref, err)
	}
	w.truth.labels[r.Ref] = labelOf(body)
}

// move checks that a record changes only as allowed.
func (w *world) move(r *ordering.Record) {
	before, known := w.truth.records[r.Ref]
	w.truth.records[r.Ref] = *r
	w.seen("state " + string(r.State))
	busy := 0
	again := map[ordering.Operation]bool{} // changes that a person sent again
	for i, call := range r.Calls {
		if call.Number != i+1 {
			w.wrong("%s: call %d has the number %d", r.Ref, i+1, call.Number)
		}
		if !call.Outcome.Certain() {
			busy++
		}
		if !outcomeMatches(call, again[call.Operation]) {
			w.wrong("%s: the %s is %s after %+v", r.Ref, call.Operation, call.Outcome, call.Attempts)
		}
		again[call.Operation] = call.Operation != upstream.OpCreate && call.Resolved != nil && call.Resolved.Resolution == ordering.ResolvedRetry
	}
	if busy > 1 {
		w.wrong("%s: %d calls are open or unknown", r.Ref, busy)
	}
	if !known {
		return
	}
	for i, was := range before.Calls {
		if is := r.Calls[i]; was.Outcome.Certain() && is.Outcome != was.Outcome {
			w.wrong("%s: the %s changed from %s to %s", r.Ref, is.Operation, was.Outcome, is.Outcome)
		}
	}
	if before.State != r.State && !slices.Contains(map[ordering.State][]ordering.State{
		ordering.StatePlacing: ordering.States(),
		ordering.StateUnknown: ordering.States(),
		ordering.StatePlaced:  {ordering.StateClosed, ordering.StateRejected},
	}[before.State], r.State) {
		w.wrong("%s changed from %s to %s", r.Ref, before.State, r.State)
	}
	if before.Paid && !r.Paid {
		w.wrong("%s was paid, but is not paid any more", r.Ref)
	}
}

// outcomeMatches reports whether a call has the outcome of its last attempt, unless a person
// resolved it. Each attempt's outcome must match its response (policy O8). A second copy of a change is never refused.
func outcomeMatches(call ordering.Call, again bool) bool {
	said := ordering.OutcomeNotSent
	for _, try := range call.Attempts {
		said = try.Outcome
		possible := certainties(call.Operation, try)
		if again && possible[0] == ordering.OutcomeRefused {
			possible = []ordering.Outcome{ordering.OutcomeUnknown}
		}
		if !slices.Contains(possible, said) {
			return false
		}
	}
	switch call.Outcome {
	case ordering.OutcomeDone, ordering.OutcomeRefused:
		return call.Resolved != nil || said == call.Outcome
	case ordering.OutcomeNotSent:
		return said == call.Outcome
	default:
		return true
	}
}

// certainties returns the possible outcomes of an attempt for its status (policy O8b).
func certainties(op ordering.Operation, try ordering.Attempt) []ordering.Outcome {
	switch s := try.Status; {
	case s == 0:
		return []ordering.Outcome{ordering.OutcomeNotSent, ordering.OutcomeUnknown}
	case s <= 299:
		return []ordering.Outcome{ordering.OutcomeDone, ordering.OutcomeUnknown}
	case s == http.StatusUnauthorized, s == http.StatusTooEarly, s == http.StatusTooManyRequests:
		return []ordering.Outcome{ordering.OutcomeNotSent}
	case s == http.StatusInternalServerError && try.Code != "" && try.Code != "ERR_EXTERNAL_ERROR_WS" && // of a fault above, with a time-out
		(op == upstream.OpComplete || op == upstream.OpReject):
		return []ordering.Outcome{ordering.OutcomeRefused}
	case s == http.StatusRequestTimeout, s >= 500, s == http.StatusConflict && op == upstream.OpCreate:
		return []ordering.Outcome{ordering.OutcomeUnknown}
	default:
		return []ordering.Outcome{ordering.OutcomeRefused}
	}
}

// compare compares an order's record with the order at the service.
func (w *world) compare(r *ordering.Record, o *shown) {
	call, busy := r.Busy()
	undecided := func(op ordering.Operation) bool { return busy && call.Operation == op }
	switch {
	case o == nil:
		if !r.Adopted {
			w.wrong("%s is placed as %s, which the service does not have", r.Ref, r.OrderID)
		}
	case r.Total.Valid && !r.Total.Decimal.Equal(o.Total):
		w.wrong("%s has the total %s, at the service it is %s", r.Ref, r.Total.Decimal, o.Total)
	case r.Paid && !o.Paid, !r.Paid && o.Paid && !undecided(upstream.OpPay) && !r.Adopted:
		w.wrong("%s has paid %t, at the service it is %t", r.Ref, r.Paid, o.Paid)
	case (r.State == ordering.StateClosed) != (o.State == "closed") && !undecided(upstream.OpComplete) && !r.Adopted,
		(r.State == ordering.StateRejected) != (o.State == "rejected") && !undecided(upstream.OpReject) && !r.Adopted:
		w.wrong("%s is %s, at the service it is %s", r.Ref, r.State, o.State)
	case len(o.Payments) > 1:
		w.wrong("%s was paid %d times", r.OrderID, len(o.Payments))
	}
}

// seen counts an observation. A simulation without faults tests nothing.
func (w *world) seen(what string) { w.truth.kinds[what]++ }
