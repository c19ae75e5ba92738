package httpapi

import (
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering"
)

// recordView is an order as the API shows it. What is not known is null.
type recordView struct {
	Ref         string         `json:"ref"`
	OrderID     *string        `json:"orderID"`
	Restaurant  *string        `json:"restaurant"`
	Connection  string         `json:"connection"`
	Client      string         `json:"client"`
	Adopted     bool           `json:"adopted"`
	State       ordering.State `json:"state"`
	Paid        bool           `json:"paid"`
	Total       exact          `json:"total"`
	MenuVersion *int64         `json:"menuVersion"`
	CreatedAt   *string        `json:"createdAt"`
	UpdatedAt   *string        `json:"updatedAt"`
	ExpectedAt  *string        `json:"expectedAt"`
	Attempts    []attemptView  `json:"attempts"`
	Payments    []paymentView  `json:"payments"`
}

// attemptView is one try of a call, or one step of it that was no try: a call
// that ended without one, or a person's resolution.
type attemptView struct {
	Operation ordering.Operation `json:"operation"`
	// Try counts the tries of one call from 1; null of what was no try.
	Try     *int             `json:"try"`
	At      *string          `json:"at"`
	MS      *int64           `json:"ms"`
	Status  *int             `json:"status"` // null where there was no answer
	Outcome ordering.Outcome `json:"outcome"`
	Code    *string          `json:"code"`
	By      *string          `json:"by"` // who resolved it
}

type paymentView struct {
	Code   string `json:"code"`
	Amount exact  `json:"amount"`
	PaidAt string `json:"paidAt"`
}

// newRecordView lays a record out.
func newRecordView(record ordering.Record) recordView {
	view := recordView{
		Ref: record.Ref, OrderID: orNull(record.OrderID), Restaurant: orNull(string(record.Restaurant)),
		Connection: record.Connection, Client: record.Client, Adopted: record.Adopted,
		State: record.State, Paid: record.Paid, Total: exact(record.Total), MenuVersion: orNull(record.MenuVersion),
		CreatedAt: timeOrNull(record.CreatedAt), UpdatedAt: timeOrNull(record.UpdatedAt), ExpectedAt: timeOrNull(record.ExpectedAt),
		Attempts: []attemptView{}, Payments: []paymentView{},
	}
	for _, call := range record.Calls {
		view.Attempts = append(view.Attempts, attemptsOf(call)...)
	}
	for _, payment := range record.Payments() {
		view.Payments = append(view.Payments, paymentView{
			Code: payment.Code, Amount: exact(decimal.NewNullDecimal(payment.Amount)), PaidAt: payment.PaidAt,
		})
	}
	return view
}

// attemptsOf are a call's tries, then how it ended where no try tells, then who
// resolved it.
func attemptsOf(call ordering.Call) []attemptView {
	attempts := make([]attemptView, 0, len(call.Attempts)+1)
	for i, try := range call.Attempts {
		number, ms := i+1, try.Duration.Milliseconds()
		attempts = append(attempts, attemptView{
			Operation: call.Operation, Try: &number, At: timeOrNull(try.At), MS: &ms,
			Status: orNull(try.Status), Outcome: try.Outcome, Code: orNull(try.Code),
		})
	}
	if len(call.Attempts) == 0 && call.Outcome != ordering.OutcomeOpen {
		attempts = append(attempts, endWithoutTry(call))
	}
	if call.Resolved != nil {
		attempts = append(attempts, attemptView{
			Operation: call.Operation, At: timeOrNull(call.Resolved.At),
			Outcome: resolvedOutcome(call.Resolved.Resolution), By: orNull(call.Resolved.By),
		})
	}
	return attempts
}

// endWithoutTry is the end of a call that was swept or given up.
func endWithoutTry(call ordering.Call) attemptView {
	end := attemptView{Operation: call.Operation, At: timeOrNull(call.StartedAt), Outcome: call.Outcome}
	if call.Resolved != nil { // before that it was swept
		end.Outcome = ordering.OutcomeUnknown
	} else if !call.EndedAt.IsZero() {
		end.At = timeOrNull(call.EndedAt)
	}
	return end
}

// resolvedOutcome is what a person's resolution makes of a call.
func resolvedOutcome(how ordering.Resolution) ordering.Outcome {
	switch how {
	case ordering.ResolvedDone:
		return ordering.OutcomeDone
	case ordering.ResolvedRetry:
		return ordering.OutcomeNotSent
	default:
		return ordering.OutcomeRefused
	}
}

// exact is a number with its exact digits, or null.
type exact decimal.NullDecimal

// MarshalJSON writes the number without quotes and without an exponent.
func (e exact) MarshalJSON() ([]byte, error) {
	if !e.Valid {
		return []byte("null"), nil
	}
	return jsontext.NumberOf(e.Decimal).Append(nil), nil
}

// orNull is a value, or null for what is not there.
func orNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(menu.FormatTime(t))
}
