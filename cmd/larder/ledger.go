package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"larder/httpapi"
	"larder/internal/upstream"
	"larder/ordering"
)

// refLength tells a ref from an ordering service's orderID.
const refLength = 26

func orderListCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the orders of the journal, newest first",
		Long: `List the orders that the running larder keeps in its journal, newest first.
--state unknown lists those of which larder does not know whether an operation
took effect: call the restaurant, then settle them with "larder order resolve".`,
		Args: takes(0, 0),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			path, err := listPath(cmd)
			if err != nil {
				return err
			}
			return asOperator(cmd, w, func(daemon *api) error { return listOrders(cmd, w, daemon, path) })
		}),
	}
	cmd.Flags().String("state", "", "only orders in this state: "+strings.Join(stateNames(), ", "))
	cmd.Flags().String("connection", "", "only orders of this connection")
	cmd.Flags().Int("limit", 50, "how many at most, up to 500")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

func stateNames() []string {
	names := make([]string, 0, len(ordering.States()))
	for _, state := range ordering.States() {
		names = append(names, string(state))
	}
	return names
}

// listPath is the route with what the flags ask for.
func listPath(cmd *cobra.Command) (string, error) {
	state, _ := cmd.Flags().GetString("state")
	if state != "" && !slices.Contains(stateNames(), state) {
		return "", &usageError{fmt.Sprintf("--state: %q is none of %s", state, strings.Join(stateNames(), ", "))}
	}
	limit, _ := cmd.Flags().GetInt("limit")
	if limit < 1 || limit > 500 {
		return "", &usageError{fmt.Sprintf("--limit: %d is not between 1 and 500", limit)}
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if state != "" {
		query.Set("state", state)
	}
	if connection, _ := cmd.Flags().GetString("connection"); connection != "" {
		query.Set("connection", connection)
	}
	return "/v1/ops/orders?" + query.Encode(), nil
}

// asOperator does something with a daemon as a client that may operate it.
func asOperator(cmd *cobra.Command, w *world, do func(daemon *api) error) error {
	daemon, err := target(cmd, w, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	defer daemon.close()
	return do(daemon)
}

// orderRecord is an order of the journal, as far as people read it.
type orderRecord struct {
	Ref        string         `json:"ref"`
	OrderID    string         `json:"orderID"`
	Restaurant string         `json:"restaurant"`
	Connection string         `json:"connection"`
	Client     string         `json:"client"`
	State      string         `json:"state"`
	Paid       bool           `json:"paid"`
	Adopted    bool           `json:"adopted"`
	Total      *json.Number   `json:"total"`
	CreatedAt  string         `json:"createdAt"`
	ExpectedAt string         `json:"expectedAt"`
	Attempts   []orderAttempt `json:"attempts"`

	// What only the operators' route tells.
	RestaurantName    string      `json:"restaurantName"`
	RestaurantPhone   string      `json:"restaurantPhone"`
	RestaurantAddress string      `json:"restaurantAddress"`
	Calls             []orderCall `json:"calls"`
}

type orderAttempt struct {
	Operation string `json:"operation"`
	At        string `json:"at"`
	Status    int    `json:"status"`
	Outcome   string `json:"outcome"`
	Code      string `json:"code"`
	By        string `json:"by"`
}

func listOrders(cmd *cobra.Command, w *world, daemon *api, path string) error {
	answer, err := daemon.get(cmd.Context(), path)
	if err != nil {
		return err
	}
	if asJSON(cmd) {
		return printRaw(w.out, answer.body)
	}
	var page struct {
		Result []orderRecord `json:"result"`
		Next   *string       `json:"next"`
	}
	if err := answer.decode(&page); err != nil {
		return err
	}
	if len(page.Result) == 0 {
		w.out.println("no orders")
		return nil
	}
	columns := tabwriter.NewWriter(w.out.raw, 0, 0, 2, ' ', 0)
	table := printer{columns}
	table.printf("REF\tORDER\tSTATE\tTOTAL\tRESTAURANT\tCREATED\tCLIENT\n")
	for _, order := range page.Result {
		table.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", order.Ref, dash(order.OrderID), order.state(),
			number(order.Total), dash(order.Restaurant), order.CreatedAt, order.Client)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	if page.Next != nil {
		w.out.println("there are more; --limit shows up to 500")
	}
	return nil
}

// state is the order's state, and what is not known of it beside that.
func (o *orderRecord) state() string {
	text := o.State
	if o.Adopted {
		text += ", adopted" // placed by someone else
	}
	if o.Paid {
		text += ", paid"
	}
	for _, attempt := range slices.Backward(o.Attempts) {
		if attempt.Outcome == string(ordering.OutcomeUnknown) && attempt.Operation != string(upstream.OpCreate) {
			return text + ", " + attempt.Operation + " unknown"
		}
		break
	}
	return text
}

// dash stands where there is nothing.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func orderResolveCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve REF",
		Short: "Settle an order of which larder does not know what became of it",
		Long: `Settle an operation whose outcome is unknown, after asking the restaurant:

    --outcome done        it took effect; for a created order, also pass --order-id
    --outcome not_done    it did not, and shall not
    --outcome send_again  it did not, and larder shall send it again now

"larder order show" tells what to ask for. What was said cannot be taken back;
who said it, when and the --note are kept with the order. The client that sends
the order again with its key is answered as it was settled.`,
		Args: takes(1, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			body, err := settlement(cmd)
			if err != nil {
				return err
			}
			return asOperator(cmd, w, func(daemon *api) error {
				answer, err := daemon.call(cmd.Context(), http.MethodPost, "/v1/ops/orders/"+url.PathEscape(args[0])+"/resolve", body)
				if err != nil {
					return err
				}
				return printOrder(cmd, w, answer)
			})
		}),
	}
	cmd.Flags().String("operation", string(upstream.OpCreate), "which operation: create, pay, complete or reject")
	cmd.Flags().String("outcome", "", "what the restaurant says: done, not_done or send_again")
	cmd.Flags().String("order-id", "", "the ordering service's id of the order, when its creation is done")
	cmd.Flags().String("note", "", "a note for those who read the record later")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

// settlement is the body of the route, made of the flags.
func settlement(cmd *cobra.Command) ([]byte, error) {
	flag := func(name string) string {
		value, _ := cmd.Flags().GetString(name)
		return value
	}
	operation, outcome, orderID := flag("operation"), flag("outcome"), flag("order-id")
	operations := []string{string(upstream.OpCreate), string(upstream.OpPay), string(upstream.OpComplete), string(upstream.OpReject)}
	outcomes := []string{string(ordering.SettledDone), string(ordering.SettledNotDone), string(ordering.SettledSendAgain)}
	switch {
	case !slices.Contains(operations, operation):
		return nil, &usageError{fmt.Sprintf("--operation: %q is none of %s", operation, strings.Join(operations, ", "))}
	case !slices.Contains(outcomes, outcome):
		return nil, &usageError{fmt.Sprintf("--outcome: %q is none of %s", outcome, strings.Join(outcomes, ", "))}
	case operation == string(upstream.OpCreate) && outcome == string(ordering.SettledDone) && orderID == "":
		return nil, &usageError{"--order-id is needed: a created order has the ordering service's id"}
	case operation == string(upstream.OpCreate) && outcome != string(ordering.SettledDone) && orderID != "":
		return nil, &usageError{"--order-id goes with --outcome done: an order that was not created has none"}
	}
	body := map[string]string{"operation": operation, "outcome": outcome}
	if orderID != "" {
		body["orderID"] = orderID
	}
	if note := flag("note"); note != "" {
		body["note"] = note
	}
	return json.Marshal(body)
}
