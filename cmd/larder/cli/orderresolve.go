package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

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
