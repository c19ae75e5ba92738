package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/internal/setting"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The values of the flags of orders.

func stateNames() []string { return wordsOf(ordering.States()...) }

func operationNames() []string {
	return wordsOf(upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject)
}

func resolutionNames() []string {
	return wordsOf(ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry)
}

func wordsOf[S ~string](values ...S) []string {
	return Mapped(values, func(value S) string { return string(value) })
}

// oneOf returns a usage error if the value of a flag is not one of words.
func oneOf(flag, value string, words []string) error {
	switch {
	case slices.Contains(words, value):
		return nil
	case value == "":
		return &usageError{"--" + flag + " is required: " + strings.Join(words, ", ")}
	}
	return &usageError{"--" + flag + ": " + setting.Unknown(flag, value, words)}
}

// OrderRecord contains the printed fields of an order of the journal. Their names are those of the response.
type OrderRecord struct {
	Ref, OrderID, Restaurant, Connection, Client, State string
	CreatedAt, ExpectedAt                               string
	Paid, Adopted                                       bool
	Total                                               json.Number
	Attempts                                            []orderAttempt

	// Only the operators' route has these.
	RestaurantName, RestaurantPhone, RestaurantAddress string
	Calls                                              []orderCall

	// Unknown is set for an order with an unknown outcome.
	Unknown *unknownOutcome
}

// unknownOutcome is what a person needs to find out about an unknown outcome.
type unknownOutcome struct {
	Status                            json.Number
	Code, RestaurantPhone, GuestPhone string
}

// StateText describes the order's state, including payment and unknown changes.
func (o *OrderRecord) StateText() string {
	text := o.State
	if o.Adopted {
		text += ", adopted" // not placed by larder
	}
	if o.Paid {
		text += ", paid"
	}
	if n := len(o.Attempts); n > 0 {
		last := o.Attempts[n-1]
		if last.Outcome == string(ordering.OutcomeUnknown) && last.Operation != string(upstream.OpCreate) {
			text += ", " + last.Operation + " unknown"
		}
	}
	return text
}

func (env *Environment) listOrders(cmd *cobra.Command, _ []string) error {
	state := StringFlag(cmd, "state")
	if err := oneOf("state", state, stateNames()); state != "" && err != nil {
		return err
	}
	limit, _ := cmd.Flags().GetInt("limit")
	if limit < 1 || limit > 500 {
		return &usageError{fmt.Sprintf("--limit: %d is not between 1 and 500", limit)}
	}
	query := url.Values{"state": {state}, "connection": {StringFlag(cmd, "connection")}, "limit": {strconv.Itoa(limit)}}
	maps.DeleteFunc(query, func(_ string, values []string) bool { return values[0] == "" })
	page, err := request(cmd, env, http.MethodGet, "/v1/ops/orders?"+query.Encode(), nil, env.printOrderList)
	if err != nil {
		return err
	}
	if len(page.Unreadable) > 0 {
		return &hintError{
			errors.New((&ordering.FormatError{Unreadable: page.Unreadable}).Msg()),
			"The daemon's log has each such order (event journal.corrupt) and connection (journal.format).",
		}
	}
	if len(page.Paused) > 0 {
		return &hintError{
			errors.New("this list may lack orders, because Redis may have lost orders of " + strings.Join(page.Paused, ", ")),
			"docs/runbook/LarderJournalRestored.md describes how to find them.",
		}
	}
	return nil
}

// orderPage is a page of orders, with the records that cannot be read.
type orderPage struct {
	client.Envelope[[]OrderRecord]
	Unreadable []ordering.Unreadable
	Paused     []string // connections whose Redis may have lost orders
}

func (env *Environment) printOrderList(page orderPage) {
	if len(page.Result) == 0 {
		env.Out.Println("no orders")
		return
	}
	heads := []string{"REF", "ORDER", "STATE", "TOTAL", "RESTAURANT", "CREATED", "CLIENT"}
	unknown := slices.ContainsFunc(page.Result, func(order OrderRecord) bool { return order.Unknown != nil })
	if unknown {
		heads = append(heads, "RESPONSE", "PHONE", "GUEST PHONE")
	}
	rows := [][]string{heads}
	for _, order := range page.Result {
		row := []string{
			order.Ref, cmp.Or(order.OrderID, "-"), order.StateText(), Number(order.Total),
			cmp.Or(order.Restaurant, "-"), order.CreatedAt, order.Client,
		}
		if u := cmp.Or(order.Unknown, &unknownOutcome{}); unknown {
			response := joined(" ", u.Status.String(), u.Code)
			row = append(row, cmp.Or(response, "-"), cmp.Or(u.RestaurantPhone, "-"), cmp.Or(u.GuestPhone, "-"))
		}
		rows = append(rows, row)
	}
	env.Out.table(rows)
	if page.Next != nil {
		env.Out.Println("there are more orders; use --limit (up to 500)")
	}
}

func (env *Environment) acceptRestore(cmd *cobra.Command, _ []string) error {
	type acceptance struct {
		Connection string
		Accepted   bool
	}
	path := "/v1/ops/journal/accept" + connectionQuery(cmd)
	_, err := request(cmd, env, http.MethodPost, path, nil, func(answer client.Envelope[acceptance]) {
		text := "nothing to accept: orders of %s are not paused\n"
		if answer.Result.Accepted {
			text = "accepted: orders of %s are no longer paused\n"
		}
		env.Out.Printf(text, answer.Result.Connection)
	})
	return err
}

type orderAttempt struct {
	Operation, At, Outcome, Code, By string
	Status                           int
}

// orderCall is one call of an order.
type orderCall struct {
	Number                           int
	Operation, Outcome, Contradicted string
	FoundOrderID                     string
	Sent                             json.RawMessage
	Resolved                         *struct{ By, Outcome, Note string } `json:"settled"`
	Answer                           *struct {                           // of the ordering service
		Status    int
		Code, Msg string
	}
}

// orderSent contains the printed fields of the order that was sent to the ordering
// service. An operator asks the restaurant for it.
type orderSent struct {
	ExpeditionType, PaymentTypeID string
	Guest                         struct{ Phone, FirstName, LastName string }
	Address                       struct{ FullAddress string }
	DishList                      []sentDish
}

type sentDish struct {
	Name        string
	Quantity    json.Number
	Ingredients []sentDish
}

func (env *Environment) showOrder(cmd *cobra.Command, args []string) error {
	ref, err := refOf(cmd, env, args[0])
	if err != nil {
		return err
	}
	_, err = request(cmd, env, http.MethodGet, "/v1/ops/orders/"+url.PathEscape(ref), nil, env.printOrder)
	return err
}

// refOf returns the ref of an order, which is given, or found by the id of the ordering service. This needs the
// scope orders, whose address may differ from that of the scope ops.
func refOf(cmd *cobra.Command, env *Environment, given string) (string, error) {
	const refLength = 26
	if len(given) == refLength {
		return given, nil
	}
	daemon := target(cmd, env, auth.ScopeOrders)
	order, err := client.Get[OrderRecord](cmd.Context(), daemon, "/v1/orders/"+url.PathEscape(given)+connectionQuery(cmd))
	if client.RefusedWith(err, http.StatusUnauthorized, http.StatusForbidden) {
		err = &linesError{[]string{
			err.Error(),
			"To find an order by ORDERID, use a client with the scope orders; to find it by REF (larder order list), the scope ops is enough",
		}, err}
	}
	return order.Ref, err
}

// connectionQuery returns the query with the value of --connection.
func connectionQuery(cmd *cobra.Command) string {
	return labelled("?connection=", url.QueryEscape(StringFlag(cmd, "connection")))
}

// printOrder prints an order with all attempts.
func (env *Environment) printOrder(answer client.Envelope[OrderRecord]) {
	order := answer.Result
	env.Out.Printf("order %s, ref %s: %s\n", cmp.Or(order.OrderID, "-"), order.Ref, order.StateText())
	env.Out.Printf("  restaurant %s, connection %s, client %s\n", order.place(), order.Connection, order.Client)
	if contact := joined(", ", labelled("call ", order.RestaurantPhone), order.RestaurantAddress); contact != "" {
		env.Out.Printf("  %s\n", contact)
	}
	env.Out.Printf("  total %s, created %s, expected %s\n", Number(order.Total), order.CreatedAt, cmp.Or(order.ExpectedAt, "-"))
	if at := slices.IndexFunc(order.Calls, func(c orderCall) bool { return c.Operation == string(upstream.OpCreate) }); at >= 0 {
		order.Calls[at].printSent(env)
	}
	for _, a := range order.Attempts {
		status := ""
		if a.Status != 0 {
			status = strconv.Itoa(a.Status)
		}
		env.Out.Printf("  %s\n", joined("  ", a.At, a.Operation, a.Outcome, status, a.Code, labelled("by ", a.By)))
	}
	for i, call := range order.Calls {
		call.printResolution(env, &order, slices.ContainsFunc(order.Calls[:i], call.repeats))
	}
}

// place returns the restaurant's name and id, as far as they are known.
func (o *OrderRecord) place() string {
	if o.RestaurantName == "" {
		return cmp.Or(o.Restaurant, "-")
	}
	return o.RestaurantName + " (" + o.Restaurant + ")"
}

// printSent prints the content of the order, unless it has been deleted.
func (c *orderCall) printSent(env *Environment) {
	var sent orderSent
	if len(c.Sent) == 0 || json.Unmarshal(c.Sent, &sent) != nil || len(sent.DishList) == 0 {
		return
	}
	guest := strings.TrimSpace(sent.Guest.FirstName + " " + sent.Guest.LastName)
	env.Out.Printf("  %s\n", joined(", ", sent.ExpeditionType, sent.PaymentTypeID, guest, sent.Guest.Phone, sent.Address.FullAddress))
	for _, dish := range sent.DishList {
		env.Out.Printf("    %s × %s\n", dish.Quantity, dish.line())
	}
}

// line returns, for example, "Cappuccino (Oat drink, 2 × Sugar)".
func (d sentDish) line() string {
	if len(d.Ingredients) == 0 {
		return d.Name
	}
	inside := make([]string, 0, len(d.Ingredients))
	for _, each := range d.Ingredients {
		line := each.line()
		if each.Quantity != "1" && each.Quantity != "" {
			line = each.Quantity.String() + " × " + line
		}
		inside = append(inside, line)
	}
	return d.Name + " (" + strings.Join(inside, ", ") + ")"
}

// repeats reports whether the call is a change, and a person sent it again instead of an earlier one.
func (c *orderCall) repeats(first orderCall) bool {
	return c.Operation != string(upstream.OpCreate) && c.Operation == first.Operation && first.Resolved != nil &&
		first.Resolved.Outcome == string(ordering.ResolvedRetry)
}

// printResolution prints the resolution of a call, or how to resolve an unknown outcome. again: a person sent it again.
func (c *orderCall) printResolution(env *Environment, order *OrderRecord, again bool) {
	if s := c.Resolved; s != nil {
		env.Out.Printf("%s was resolved as %s by %s\n", c.Operation, s.Outcome, joined(": ", s.By, s.Note))
	}
	if c.Contradicted != "" {
		env.Out.Printf("%s: a later response contradicts this: %s. Ask the restaurant again\n",
			c.Operation, c.Contradicted+labelled(", with the order number ", c.FoundOrderID))
	}
	if c.Outcome != string(ordering.OutcomeUnknown) {
		return
	}
	done, noun := "done", map[upstream.Operation]string{
		upstream.OpPay: "payment", upstream.OpComplete: "completion", upstream.OpReject: "rejection",
	}[upstream.Operation(c.Operation)]
	if noun == "" {
		done, noun = "done --order-id ORDERID", "order"
	}
	env.Out.Printf("It is not known whether the %s took effect. Ask the restaurant, then run one of\n", noun)
	for _, outcome := range []string{done, "not_done", "send_again"} {
		env.Out.Printf("  larder order resolve %s --operation %s --call %d --outcome %s\n", order.Ref, c.Operation, c.Number, outcome)
	}
	if at, err := time.Parse(time.RFC3339, order.ExpectedAt); err == nil && noun == "order" && at.Before(time.Now()) {
		env.Out.Printf("Its expected time %s has passed: send_again sends it with this time\n", order.ExpectedAt)
	}
	a := c.Answer
	switch {
	case a != nil && again: // policy O8b
		env.Out.Printf("The ordering service answered the second copy with %s. Look whether the first one took effect\n",
			joined(": ", joined(" ", strconv.Itoa(a.Status), a.Code), a.Msg))
		return
	case a == nil || a.Code == "":
		return
	}
	env.Out.Printf("The ordering service answered %d %s: %s\n", a.Status, a.Code, cmp.Or(a.Msg, "no message"))
	if code := upstream.RefusalCode(upstream.Operation(c.Operation), a.Status, a.Code, a.Msg); code != "" {
		env.Out.Printf("If this code always means that it refused, add this to the connection and restart larder:\n  refusal_codes: [%q]\n", code)
	}
}
