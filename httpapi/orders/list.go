package orders

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/shopspring/decimal"

	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// List answers GET /v1/ops/orders, newest first. ?state= and ?connection= filter. The state
// unknown selects every order with an unknown outcome.
func (h *Handlers) List(c *gin.Context) error {
	state, err := respond.OneOf(c, "state", ordering.States())
	if err != nil {
		return err
	}
	seen, err := visible.Recorded(c, h.Directory, h.Journal)
	if err != nil {
		return err
	}
	connections, unknown := visible.Asked(c, seen)
	limit, cursor, err := respond.PageOf(c)
	if err = cmp.Or(unknown, err); err != nil {
		return err
	}
	query := ordering.Query{State: state, Connections: connections, Limit: limit, Cursor: cursor}
	records, next, err := h.Journal.List(c.Request.Context(), query)
	if errors.Is(err, ordering.ErrCursor) {
		err = respond.BadCursor()
	}
	list := orderPage{Unreadable: []ordering.Unreadable{}, Paused: visible.Paused(query.Connections, h.Paused)}
	if format, ok := errors.AsType[*ordering.FormatError](err); ok && len(records) > 0 {
		list.Unreadable, err = format.Unreadable, nil // an empty list would look as if there were no orders (policy O20)
	}
	if err != nil {
		return err
	}
	list.Result, list.Next = make([]listedOrder, len(records)), respond.NextPage(next)
	for i, record := range records {
		if list.Result[i], err = h.listed(c.Request.Context(), record); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, list)
}

// orderPage is a page of the operators' list, with the records that cannot be read, and the connections whose Redis may have
// lost orders (policy O14a).
type orderPage struct {
	respond.Page[listedOrder]
	Unreadable []ordering.Unreadable `json:"unreadable"`
	Paused     []string              `json:"paused"`
}

// listedOrder is a record in the operators' list.
type listedOrder struct {
	recordView
	// RestaurantName is the restaurant's name. It is null if the restaurant is no longer
	// configured, and for an order that larder did not place.
	RestaurantName *string      `json:"restaurantName"`
	Unknown        *unknownView `json:"unknown"` // null unless an outcome is unknown
}

// unknownView is what a person needs to find out about an unknown outcome. Its fields are null if they are not known.
type unknownView struct {
	Operation       ordering.Operation `json:"operation"`
	Call            int                `json:"call"`   // its number
	Status          *int               `json:"status"` // of the ordering service's last response
	Code            *string            `json:"code"`
	Msg             *string            `json:"msg"`
	RestaurantPhone *string            `json:"restaurantPhone"`
	GuestPhone      *string            `json:"guestPhone"` // while the guest data is kept
}

func (h *Handlers) listed(ctx context.Context, record ordering.Record) (listedOrder, error) {
	view := listedOrder{newRecordView(record), visible.Name(h.Directory, h.Replica, record.Restaurant), nil}
	call, unknown := record.UnknownCall()
	if !unknown {
		return view, nil
	}
	restaurant, _ := h.Directory.Restaurant(record.Restaurant)
	phone := cmp.Or(restaurant.Phone, restaurant.GuestPhone)
	view.Unknown = &unknownView{Operation: call.Operation, Call: call.Number, RestaurantPhone: respond.OrNull(phone)}
	if said := call.Answer; said != nil {
		view.Unknown.Status = respond.OrNull(said.Status)
		view.Unknown.Code, view.Unknown.Msg = respond.OrNull(said.Code), respond.OrNull(said.Msg)
	}
	create, _ := record.Last(upstream.OpCreate)
	body, err := h.sent(ctx, record, create.Number)
	var order struct{ Guest struct{ Phone string } } // the names ignore case, as those of the service may differ in it
	_ = json.Unmarshal(body, &order)                 // without a body, or with another kind of phone, the number is not known
	view.Unknown.GuestPhone = respond.OrNull(order.Guest.Phone)
	return view, err
}

// opsOrderView is a record with everything that an operator needs to resolve it.
type opsOrderView struct {
	listedOrder
	// RestaurantPhone and RestaurantAddress are from the configuration, or null. Without a
	// phone number for operators, RestaurantPhone is the one for guests.
	RestaurantPhone   *string    `json:"restaurantPhone"`
	RestaurantAddress *string    `json:"restaurantAddress"`
	Calls             []callView `json:"calls"`
}

// callView is one call of an order for operators.
type callView struct {
	Number       int                `json:"number"`
	Operation    ordering.Operation `json:"operation"`
	Outcome      ordering.Outcome   `json:"outcome"`
	Client       string             `json:"client"`
	RequestID    string             `json:"requestId"`
	StartedAt    *string            `json:"startedAt"`
	EndedAt      *string            `json:"endedAt"`
	Answer       *answerView        `json:"answer"`
	Resolved     *resolutionView    `json:"settled"`
	Contradicted *ordering.Outcome  `json:"contradicted"`
	FoundOrderID *string            `json:"foundOrderID"` // the order that a contradicted create made after all
	// Sent is the body that was sent to the ordering service. It is null for a completion, and after it has expired.
	Sent json.RawMessage `json:"sent"`
}

// answerView is the ordering service's last response.
type answerView struct {
	Status    int     `json:"status"`
	Code      *string `json:"code"`
	Msg       *string `json:"msg"`
	RequestID *string `json:"requestId"`
}

// resolutionView is an operator's resolution.
type resolutionView struct {
	By      string              `json:"by"`
	At      *string             `json:"at"`
	Outcome ordering.Resolution `json:"outcome"`
	Note    *string             `json:"note"`
}

// Details answers GET /v1/ops/orders/{ref}: the record with all requests and responses, for
// talking to the guest and the restaurant.
func (h *Handlers) Details(c *gin.Context) error {
	seen, err := visible.Recorded(c, h.Directory, h.Journal)
	if err != nil {
		return err
	}
	record, err := h.Orders.ByRef(c.Request.Context(), seen, respond.Param(c, "ref"))
	if err != nil {
		return err
	}
	listed, err := h.listed(c.Request.Context(), record)
	if err != nil {
		return err
	}
	restaurant, _ := h.Directory.Restaurant(record.Restaurant)
	view := opsOrderView{
		listedOrder:       listed,
		RestaurantPhone:   respond.OrNull(cmp.Or(restaurant.Phone, restaurant.GuestPhone)),
		RestaurantAddress: respond.OrNull(restaurant.Address),
		Calls:             make([]callView, len(record.Calls)),
	}
	for i, call := range record.Calls {
		view.Calls[i] = newCallView(call)
		if view.Calls[i].Sent, err = h.sent(c.Request.Context(), record, call.Number); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// sent returns the body of a call, or nil if it is not kept.
func (h *Handlers) sent(ctx context.Context, record ordering.Record, call int) (json.RawMessage, error) {
	body, err := h.Journal.Body(ctx, record.Connection, record.Ref, call)
	if errors.Is(err, ordering.ErrNoBody) || err == nil && !json.Valid(body) {
		return nil, nil //nolint:nilnil // not kept is a valid result, shown as null
	}
	return body, err
}

func newCallView(call ordering.Call) callView {
	view := callView{
		Number:       call.Number,
		Operation:    call.Operation,
		Outcome:      call.Outcome,
		Client:       call.Client,
		RequestID:    call.RequestID,
		StartedAt:    menu.TimeOrNull(call.StartedAt),
		EndedAt:      menu.TimeOrNull(call.EndedAt),
		Contradicted: respond.OrNull(call.Contradicted),
		FoundOrderID: respond.OrNull(call.FoundOrderID),
	}
	if said := call.Answer; said != nil {
		view.Answer = &answerView{said.Status, respond.OrNull(said.Code), respond.OrNull(said.Msg), respond.OrNull(said.RequestID)}
	}
	if r := call.Resolved; r != nil {
		view.Resolved = &resolutionView{
			By:      r.By,
			At:      menu.TimeOrNull(r.At),
			Outcome: r.Resolution,
			Note:    respond.OrNull(r.Note),
		}
	}
	return view
}

// recordView is an order in the API. Unknown values are null.
type recordView struct {
	Ref         string         `json:"ref"`
	OrderID     *string        `json:"orderID"`
	Restaurant  *string        `json:"restaurant"`
	Connection  string         `json:"connection"`
	Client      string         `json:"client"`
	Adopted     bool           `json:"adopted"`
	State       ordering.State `json:"state"`
	Paid        bool           `json:"paid"`
	Total       respond.Number `json:"total"`
	MenuVersion *int64         `json:"menuVersion"`
	CreatedAt   *string        `json:"createdAt"`
	UpdatedAt   *string        `json:"updatedAt"`
	ExpectedAt  *string        `json:"expectedAt"`
	Attempts    []attemptView  `json:"attempts"`
	Payments    []paymentView  `json:"payments"`
}

// attemptView is one attempt of a call, the end of a call without an attempt, or a resolution.
type attemptView struct {
	Operation ordering.Operation `json:"operation"`
	// Try numbers the attempts of one call from 1. It is null for entries that are not attempts.
	Try     *int             `json:"try"`
	At      *string          `json:"at"`
	MS      *int64           `json:"ms"`
	Status  *int             `json:"status"` // null without a response
	Outcome ordering.Outcome `json:"outcome"`
	Code    *string          `json:"code"`
	By      *string          `json:"by"` // the operator who resolved it
}

type paymentView struct {
	Code   string         `json:"code"`
	Amount respond.Number `json:"amount"`
	PaidAt string         `json:"paidAt"`
}

// newRecordView returns the view of a record.
func newRecordView(record ordering.Record) recordView {
	view := recordView{
		Ref:         record.Ref,
		OrderID:     respond.OrNull(record.OrderID),
		Restaurant:  respond.OrNull(string(record.Restaurant)),
		Connection:  record.Connection,
		Client:      record.Client,
		Adopted:     record.Adopted,
		State:       record.State,
		Paid:        record.Paid,
		Total:       respond.Number(record.Total),
		MenuVersion: respond.OrNull(record.MenuVersion),
		CreatedAt:   menu.TimeOrNull(record.CreatedAt),
		UpdatedAt:   menu.TimeOrNull(record.UpdatedAt),
		ExpectedAt:  menu.TimeOrNull(record.ExpectedAt),
		Attempts:    []attemptView{},
		Payments:    []paymentView{},
	}
	for _, call := range record.Calls {
		view.Attempts = append(view.Attempts, attemptsOf(call)...)
	}
	for _, payment := range record.Payments() {
		view.Payments = append(view.Payments, paymentView{
			Code: payment.Code, Amount: respond.Number(decimal.NewNullDecimal(payment.Amount)), PaidAt: payment.PaidAt,
		})
	}
	return view
}

// attemptsOf returns a call's attempts, its end if there was no attempt, and its resolution.
func attemptsOf(call ordering.Call) []attemptView {
	attempts := make([]attemptView, 0, len(call.Attempts)+1)
	for i, try := range call.Attempts {
		number, ms := i+1, try.Duration.Milliseconds()
		attempts = append(attempts, attemptView{
			Operation: call.Operation,
			Try:       &number,
			At:        menu.TimeOrNull(try.At),
			MS:        &ms,
			Status:    respond.OrNull(try.Status),
			Outcome:   try.Outcome,
			Code:      respond.OrNull(try.Code),
		})
	}
	if len(call.Attempts) == 0 && call.Outcome != ordering.OutcomeOpen {
		attempts = append(attempts, endWithoutTry(call))
	}
	if call.Resolved != nil {
		attempts = append(attempts, attemptView{
			Operation: call.Operation,
			At:        menu.TimeOrNull(call.Resolved.At),
			Outcome:   resolvedOutcome(call.Resolved.Resolution),
			By:        respond.OrNull(call.Resolved.By),
		})
	}
	return attempts
}

// endWithoutTry returns the end of a call without an attempt: it timed out or was canceled.
func endWithoutTry(call ordering.Call) attemptView {
	end := attemptView{Operation: call.Operation, At: menu.TimeOrNull(call.StartedAt), Outcome: call.Outcome}
	if call.Resolved != nil { // it had timed out before
		end.Outcome = ordering.OutcomeUnknown
	} else if !call.EndedAt.IsZero() {
		end.At = menu.TimeOrNull(call.EndedAt)
	}
	return end
}

// resolvedOutcome returns the outcome of a call after its resolution.
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
