package cli

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func orderCommand(env *Environment) *cobra.Command {
	validate := daemonCommand("larder order", "validate FILE", env.validateOrder)
	place := daemonCommand("larder order", "place FILE", env.placeOrder)
	place.Flags().String("key", "", "idempotency key; default: a random one")
	for _, c := range []*cobra.Command{validate, place} {
		c.Flags().String("restaurant", "", "id or name of a restaurant; default: the order's restaurantID, else the only restaurant")
	}
	list := daemonCommand("larder order", "list", env.listOrders)
	list.Flags().String("state", "", "only orders in this state: "+strings.Join(stateNames(), ", "))
	list.Flags().String("connection", "", "only orders of this connection")
	list.Flags().Int("limit", 50, "maximum number of orders, up to 500")
	show := daemonCommand("larder order", "show REF|ORDERID", env.showOrder)
	show.Flags().String("connection", "", "connection of the order, if several connections have this ORDERID")
	resolve := daemonCommand("larder order", "resolve REF…", env.resolveOrders)
	flags := resolve.Flags()
	flags.String("operation", string(upstream.OpCreate), "operation to resolve: create, pay, complete or reject")
	flags.String("outcome", "", "outcome according to the restaurant: done, not_done or send_again")
	flags.Int("call", 0, "number of the call, from larder order show; default: the last unknown one, but not for send_again")
	flags.String("order-id", "", "order id of the ordering service, for a created order")
	flags.String("note", "", "note for the order's record")
	accept := daemonCommand("larder order", "accept-restore", env.acceptRestore)
	accept.Flags().String("connection", "", "the connection; default: the only one")
	return commandGroup("order", validate, place, list, show, resolve, accept)
}

// readOrder reads an order, and returns a function that sends it to the route of its restaurant that ends with path.
func (env *Environment) readOrder(
	cmd *cobra.Command, file string, scope auth.Scope,
) (post func(path string, headers ...string) (*client.Reply, error), err error) {
	order, err := env.openArg(file)
	if err != nil {
		return nil, err
	}
	daemon, restaurant := target(cmd, env, scope), cmp.Or(StringFlag(cmd, "restaurant"), restaurantOf(order))
	if daemon.Err != nil {
		return nil, daemon.Err
	}
	if restaurant == "" {
		all, err := Restaurants(cmd.Context(), daemon)
		switch {
		case err != nil:
			return nil, err
		case len(all) == 0:
			return nil, errNoRestaurants
		case len(all) > 1:
			return nil, &usageError{"the order has no restaurantID and the daemon has several restaurants: use --restaurant"}
		}
		restaurant = all[0].ID
	}
	return func(path string, headers ...string) (*client.Reply, error) {
		return atRestaurant(cmd.Context(), daemon, restaurant, func(id string) (*client.Reply, error) {
			return daemon.Call(cmd.Context(), http.MethodPost, client.RestaurantPath(id)+path, order, headers...)
		})
	}, nil
}

// restaurantOf returns the order's restaurantID in any spelling, or "" if it has none
// or is not valid JSON. The daemon reports such errors in detail.
func restaurantOf(order []byte) string {
	id := ""
	r := jsontext.NewReader(string(order), 32)
	for name := range r.Members() {
		if jsontext.FoldName(name) == "restaurantid" {
			id, _ = r.ID()
		}
	}
	if r.Err() != nil {
		return ""
	}
	return id
}

// validateResult contains the printed fields of the response of the validate route.
type validateResult struct {
	Valid, More bool // More: there are more violations
	Total       json.Number
	Lines       []struct {
		Name            string
		Quantity, Total json.Number
	}
	Violations []client.Violation
}

func (env *Environment) validateOrder(cmd *cobra.Command, args []string) error {
	post, err := env.readOrder(cmd, args[0], auth.ScopeMenu)
	if err != nil {
		return err
	}
	answer, err := post("/orders/validate")
	if err != nil {
		return inFile(args[0], err)
	}
	checked, err := printAnswer(cmd, env, answer, func(checked client.Envelope[validateResult]) {
		colours, v := env.colours(cmd), checked.Result
		if !v.Valid {
			env.Out.Printf("%s: %s\n", colours.bad("not valid"), Plural(len(v.Violations), "violation", "violations"))
			printViolations(env, v.Violations, v.More)
			return
		}
		env.Out.Printf("%s, total %s\n", colours.good("valid"), Number(v.Total))
		for _, line := range v.Lines {
			env.Out.Printf("  %s × %s  %s\n", Number(line.Quantity), line.Name, Number(line.Total))
		}
	})
	return reported(err, !checked.Result.Valid)
}

// inFile adds the place in the file to the error of a body that is not JSON.
func inFile(file string, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	var line, column int
	if !ok || file == "-" {
		return err
	}
	if _, differs := fmt.Sscanf(refused.Msg, "malformed JSON at line %d, column %d:", &line, &column); differs != nil {
		return err
	}
	_, why, _ := strings.Cut(refused.Msg, ": ")
	place := fmt.Sprintf("%s:%d:%d: malformed JSON: %s", file, line, column, why)
	return &hintError{&linesError{[]string{place}, err}, refusalHint(refused)}
}

func printViolations(env *Environment, violations []client.Violation, more bool) {
	for _, each := range violations {
		env.Out.Printf("  %s\n", violationLine(each))
	}
	if more {
		env.Out.Printf("  there are more violations\n")
	}
}

// Number returns a number unchanged, or "?" if it is unknown.
func Number(n json.Number) string { return cmp.Or(n.String(), "?") }

func (env *Environment) placeOrder(cmd *cobra.Command, args []string) error {
	post, err := env.readOrder(cmd, args[0], auth.ScopeOrders)
	if err != nil {
		return err
	}
	key := cmp.Or(StringFlag(cmd, "key"), rand.Text())
	answer, err := post("/orders", "Idempotency-Key", key)
	if err != nil {
		return notPlaced(env, err, key, StringFlag(cmd, "key") != "", AsJSON(cmd))
	}
	_, err = printAnswer(cmd, env, answer, func(placed client.Envelope[OrderRecord]) {
		p, before := placed.Result, ""
		if answer.Header.Get("Idempotent-Replayed") == "true" {
			before = "; it was sent before with this key"
		}
		env.Out.Printf("%s: order %s, total %s, ref %s%s\n", p.State, p.OrderID, Number(p.Total), p.Ref, before)
	})
	if errors.Is(err, client.ErrForeignAnswer) {
		return notPlaced(env, err, key, StringFlag(cmd, "key") != "", AsJSON(cmd))
	}
	return err
}

// notPlaced returns an error that explains why an order was not placed. If the outcome is unknown, it
// contains the key for a safe retry. The key may have been used before, if it is the user's. raw is for JSON output, which
// contains the daemon's complete response.
func notPlaced(env *Environment, err error, key string, own, raw bool) error {
	refused, answered := errors.AsType[*client.Error](err)
	unknown := answered && outcomeUnknown(refused) || !answered && !certainlyNotSent(err)
	again := "To retry safely, use --key " + quoted(key) + "; with another key, the order may be placed twice."
	switch {
	case unknown && !answered:
		return &hintError{err, "It is not known whether the order was placed. " + again}
	case unknown && raw:
		return &hintError{err, again}
	case raw || !answered || refused.NoToken:
		return err
	}
	references := joined(", ", labelled("ref ", refused.Ref), labelled("request ", refused.RequestID))
	switch {
	case unknown:
		return &hintError{&linesError{lines: []string{
			"it is not known whether the order was placed: " + refused.Msg,
			"Call the restaurant" + labelled(", and quote ", references) + ". " + again,
		}}, "Find it with larder order list --state unknown; resolve it with larder order resolve."}
	case refused.Code == string(respond.CodeIdempotencyKeyInFlight):
		return &hintError{fmt.Errorf("still in progress: %s (%s)", refused.Msg, references), refusalHint(refused)}
	case len(refused.Errors) > 0:
		env.Out.Printf("not placed: %s\n", refused.Msg)
		printViolations(env, refused.Errors, refused.More)
		return errReported
	case refused.Ref == "" && refused.Upstream == nil && own:
		return fmt.Errorf("this attempt placed nothing, but an earlier one with this key may have: %w", err)
	case refused.Ref == "" && refused.Upstream == nil:
		return fmt.Errorf("not placed: %w", err)
	}
	lines := []string{fmt.Sprintf("not placed: %s (%s)", refused.Msg, references)}
	for _, reason := range reasonsOf(refused) {
		lines = append(lines, "  "+reason)
	}
	return &hintError{&linesError{lines: lines}, refusalHint(refused)}
}

// outcomeUnknown reports whether the order may have been placed despite the error:
// larder may fail after it has sent the order, and a proxy does not know the outcome.
func outcomeUnknown(refused *client.Error) bool {
	if refused.NoToken {
		return false
	}
	switch respond.Code(refused.Code) {
	case respond.CodeUpstreamRefused, respond.CodeUpstreamUnavailable, respond.CodeUpstreamBusy,
		respond.CodeJournalUnavailable, respond.CodeJournalRestored, respond.CodeStorageUnavailable, respond.CodeNoCatalogue,
		respond.CodeJournalFormat, respond.CodeMenuOfAnotherService:
		return false
	default:
		return refused.Status >= http.StatusInternalServerError
	}
}

// certainlyNotSent reports whether a call without a response cannot have reached the daemon.
func certainlyNotSent(err error) bool {
	return isA[*net.DNSError](err) || errors.Is(err, syscall.ECONNREFUSED)
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"
	if strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// reasonsOf returns the ordering service's reasons, one per line. Reasons of an unknown form are unchanged.
func reasonsOf(e *client.Error) []string {
	if e.Upstream == nil || len(e.Upstream.Errors) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(e.Upstream.Errors, &list) != nil {
		list = []json.RawMessage{e.Upstream.Errors}
	}
	return Mapped(list, func(raw json.RawMessage) string {
		var text string
		var v client.Violation
		switch {
		case json.Unmarshal(raw, &text) == nil:
			return text
		case json.Unmarshal(raw, &v) == nil && v.Msg != "":
			return violationLine(v)
		default:
			return string(raw)
		}
	})
}

// violationLine returns a violation on one line.
func violationLine(v client.Violation) string { return joined("  ", v.Path, v.Code, v.Msg) }

// resolveOrders resolves one order, or several: it then fails if an order was skipped.
func (env *Environment) resolveOrders(cmd *cobra.Command, refs []string) error {
	body, err := resolutionBody(cmd, refs)
	if err != nil {
		return err
	}
	if len(refs) == 1 {
		_, err = request(cmd, env, http.MethodPost, "/v1/ops/orders/"+url.PathEscape(refs[0])+"/resolve", body, env.printOrder)
		return err
	}
	type resolved struct {
		Ref, State, Msg string
		Resolved        bool
	}
	all, err := request(cmd, env, http.MethodPost, "/v1/ops/orders/resolve", body, func(all client.Envelope[[]resolved]) {
		for _, one := range all.Result {
			if one.Resolved {
				env.Out.Printf("%s: resolved, the order is %s\n", one.Ref, one.State)
			} else {
				env.Out.Printf("%s: skipped: %s\n", one.Ref, one.Msg)
			}
		}
	})
	return reported(err, slices.ContainsFunc(all.Result, func(one resolved) bool { return !one.Resolved }))
}

// resolutionBody returns the body of the request.
func resolutionBody(cmd *cobra.Command, refs []string) ([]byte, error) {
	operation, outcome, orderID := StringFlag(cmd, "operation"), StringFlag(cmd, "outcome"), StringFlag(cmd, "order-id")
	err := cmp.Or(oneOf("operation", operation, operationNames()), oneOf("outcome", outcome, resolutionNames()))
	switch done := outcome == string(ordering.ResolvedDone); {
	case err != nil:
		return nil, err
	case len(refs) > 1 && (outcome == string(ordering.ResolvedRetry) || done && operation == string(upstream.OpCreate)):
		return nil, &usageError{"several orders can be resolved at once as not_done, or as done for pay, complete and reject; " +
			"resolve the others one by one"}
	case operation != string(upstream.OpCreate):
	case done && orderID == "":
		return nil, &usageError{"--order-id is required: pass the order id of the ordering service, " +
			"or --operation if the unknown outcome is not that of create (larder order show)"}
	case !done && orderID != "":
		return nil, &usageError{"--order-id is allowed only with --outcome done"}
	}
	body := map[string]any{"operation": operation, "outcome": outcome, "orderID": orderID, "note": StringFlag(cmd, "note")}
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == "" })
	call, err := cmd.Flags().GetInt("call")
	switch {
	case err != nil:
		return nil, err
	case len(refs) > 1 && call != 0:
		return nil, &usageError{"--call is a call of one order; resolve it alone"}
	case len(refs) > 1:
		body["refs"] = refs
	case call != 0:
		body["call"] = call
	case outcome == string(ordering.ResolvedRetry): // a repetition would send the call again that this one has sent
		return nil, &usageError{"--call is required with send_again: the number of the call that you have asked about (larder order show)"}
	}
	return json.Marshal(body)
}
