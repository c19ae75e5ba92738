package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"larder/httpapi"
	"larder/internal/upstream"
	"larder/ordering"
)

// orderCall is one call of an order as an operator sees it.
type orderCall struct {
	Operation    string          `json:"operation"`
	Outcome      string          `json:"outcome"`
	Contradicted string          `json:"contradicted"`
	Sent         json.RawMessage `json:"sent"`
	Settled      *struct {
		By      string `json:"by"`
		Outcome string `json:"outcome"`
		Note    string `json:"note"`
	} `json:"settled"`
}

// orderSent is what the ordering service got of a new order, as far as one
// asks for it on the telephone.
type orderSent struct {
	ExpeditionType string `json:"expeditionType"`
	PaymentTypeID  string `json:"paymentTypeID"`
	Guest          struct {
		Phone     string `json:"phone"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"guest"`
	Address struct {
		FullAddress string `json:"fullAddress"`
	} `json:"address"`
	DishList []sentDish `json:"dishList"`
}

type sentDish struct {
	Name        string      `json:"name"`
	Quantity    json.Number `json:"quantity"`
	Ingredients []sentDish  `json:"ingredients"`
}

func orderShowCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show REF|ORDERID",
		Short: "Show one order of the journal with everything that was tried",
		Long: `Show one order: what was sent, each try, who settled what, and where an outcome
is unknown how to settle it. What is a guest's is shown as long as it is kept
(ordering.customer_data_ttl). By the ordering service's ORDERID it takes a client with
the scope orders, by larder's REF the scope ops is enough.`,
		Args: takes(1, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			return showOrder(cmd, w, args[0])
		}),
	}
	cmd.Flags().String("connection", "", "which connection's order, where several have this ORDERID")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

func showOrder(cmd *cobra.Command, w *world, id string) error {
	ref := id
	if len(id) != refLength {
		var err error
		if ref, err = refOf(cmd, w, id); err != nil {
			return err
		}
	}
	return asOperator(cmd, w, func(daemon *api) error {
		answer, err := daemon.get(cmd.Context(), "/v1/ops/orders/"+url.PathEscape(ref))
		if err != nil {
			return err
		}
		return printOrder(cmd, w, answer)
	})
}

// refOf finds an order by the ordering service's id: as a client that may place
// orders, where those do, which need not be where operators do.
func refOf(cmd *cobra.Command, w *world, orderID string) (string, error) {
	daemon, err := target(cmd, w, httpapi.ScopeOrders)
	if err != nil {
		return "", err
	}
	defer daemon.close()
	path := "/v1/orders/" + url.PathEscape(orderID)
	if connection, _ := cmd.Flags().GetString("connection"); connection != "" {
		path += "?connection=" + url.QueryEscape(connection)
	}
	answer, err := daemon.get(cmd.Context(), path)
	if refusedWith(err, http.StatusUnauthorized, http.StatusForbidden) {
		return "", &linesError{[]string{
			err.Error(),
			"By the ordering service's id an order is found with the scope orders; by its ref (larder order list) the scope ops is enough",
		}, err}
	}
	if err != nil {
		return "", err
	}
	var order orderRecord
	if err := answer.result(&order); err != nil {
		return "", err
	}
	return order.Ref, nil
}

func printOrder(cmd *cobra.Command, w *world, answer *reply) error {
	if asJSON(cmd) {
		return printRaw(w.out, answer.body)
	}
	var order orderRecord
	if err := answer.result(&order); err != nil {
		return err
	}
	w.out.printf("order %s, ref %s: %s\n", dash(order.OrderID), order.Ref, order.state())
	w.out.printf("  restaurant %s, connection %s, client %s\n", order.place(), order.Connection, order.Client)
	if contact := order.contact(); contact != "" {
		w.out.printf("  %s\n", contact)
	}
	w.out.printf("  total %s, created %s, expected %s\n", number(order.Total), order.CreatedAt, dash(order.ExpectedAt))
	for _, call := range order.Calls {
		if call.Operation == string(upstream.OpCreate) {
			call.printSent(w)
			break
		}
	}
	for _, attempt := range order.Attempts {
		w.out.printf("  %s\n", attempt.line())
	}
	for _, call := range order.Calls {
		call.printWord(w, order.Ref)
	}
	return nil
}

// place is the restaurant's name and id, as far as they are known.
func (o *orderRecord) place() string {
	if o.RestaurantName == "" {
		return dash(o.Restaurant)
	}
	return o.RestaurantName + " (" + o.Restaurant + ")"
}

// contact is whom to call and where they are, as far as it is configured.
func (o *orderRecord) contact() string {
	var parts []string
	if o.RestaurantPhone != "" {
		parts = append(parts, "call "+o.RestaurantPhone)
	}
	if o.RestaurantAddress != "" {
		parts = append(parts, o.RestaurantAddress)
	}
	return strings.Join(parts, ", ")
}

// printSent prints what to ask the restaurant for; nothing when it is no
// longer kept.
func (c *orderCall) printSent(w *world) {
	var sent orderSent
	if len(c.Sent) == 0 || json.Unmarshal(c.Sent, &sent) != nil || len(sent.DishList) == 0 {
		return
	}
	parts := []string{sent.ExpeditionType, sent.PaymentTypeID}
	for _, part := range []string{strings.TrimSpace(sent.Guest.FirstName + " " + sent.Guest.LastName), sent.Guest.Phone, sent.Address.FullAddress} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	w.out.printf("  %s\n", strings.Join(parts, ", "))
	for _, dish := range sent.DishList {
		w.out.printf("    %s\n", dish.line())
	}
}

// line is "2 × Cappuccino (Oat drink, 2 × Sugar)".
func (d sentDish) line() string {
	text := d.Quantity.String() + " × " + d.Name
	if len(d.Ingredients) == 0 {
		return text
	}
	inside := make([]string, 0, len(d.Ingredients))
	for _, each := range d.Ingredients {
		line := each.line()
		if each.Quantity == "1" || each.Quantity == "" {
			line = strings.TrimPrefix(line, each.Quantity.String()+" × ")
		}
		inside = append(inside, line)
	}
	return text + " (" + strings.Join(inside, ", ") + ")"
}

// printWord prints what a person said of a call, and how one can speak of one
// whose outcome is unknown.
func (c *orderCall) printWord(w *world, ref string) {
	if c.Settled != nil {
		note := ""
		if c.Settled.Note != "" {
			note = ": " + c.Settled.Note
		}
		w.out.printf("%s was settled as %s by %s%s\n", c.Operation, c.Settled.Outcome, c.Settled.By, note)
	}
	if c.Contradicted != "" {
		w.out.printf("%s: an answer that came in later says otherwise: %s. Speak with the restaurant again\n", c.Operation, c.Contradicted)
	}
	if c.Outcome != string(ordering.OutcomeUnknown) {
		return
	}
	done := "--outcome done"
	if c.Operation == string(upstream.OpCreate) {
		done += " --order-id ORDERID"
	}
	resolve := "larder order resolve " + ref + " --operation " + c.Operation
	noun := map[string]string{string(upstream.OpPay): "payment", string(upstream.OpComplete): "completion", string(upstream.OpReject): "rejection"}[c.Operation]
	w.out.printf("It is not known whether the %s took effect. Ask the restaurant, then say one of\n", cmp.Or(noun, "order"))
	for _, outcome := range []string{done, "--outcome not_done", "--outcome send_again"} {
		w.out.printf("  %s %s\n", resolve, outcome)
	}
}

// line is an attempt on one line.
func (a orderAttempt) line() string {
	parts := []string{a.At, a.Operation, a.Outcome}
	if a.Status != 0 {
		parts = append(parts, strconv.Itoa(a.Status))
	}
	if a.Code != "" {
		parts = append(parts, a.Code)
	}
	if a.By != "" {
		parts = append(parts, "by "+a.By)
	}
	return strings.Join(parts, "  ")
}
