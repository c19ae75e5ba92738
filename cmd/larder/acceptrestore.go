package main

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func orderAcceptRestoreCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept-restore",
		Short: "Place new orders again after Redis was restored from a backup or has lost orders",
		Long: `Place new orders of a connection again, on every instance, after they were paused
because Redis was restored from a backup or has lost orders. A client that sends
one of the lost orders again after that places it a second time: find out first
which orders are missing (docs/runbook/LarderJournalRestored.md).`,
		Args: takes(0, 0),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			path := "/v1/ops/journal/accept"
			if connection, _ := cmd.Flags().GetString("connection"); connection != "" {
				path += "?" + url.Values{"connection": {connection}}.Encode()
			}
			return asOperator(cmd, w, func(daemon *api) error {
				answer, err := daemon.call(cmd.Context(), http.MethodPost, path, nil)
				if err != nil {
					return err
				}
				return printAcceptance(cmd, w, answer)
			})
		}),
	}
	cmd.Flags().String("connection", "", "the connection; default: the only one")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

func printAcceptance(cmd *cobra.Command, w *world, answer *reply) error {
	if asJSON(cmd) {
		return printRaw(w.out, answer.body)
	}
	var accepted struct {
		Result struct {
			Connection string `json:"connection"`
			Accepted   bool   `json:"accepted"`
		} `json:"result"`
	}
	if err := answer.decode(&accepted); err != nil {
		return err
	}
	if accepted.Result.Accepted {
		w.out.printf("accepted: new orders of %s are placed again\n", accepted.Result.Connection)
	} else {
		w.out.printf("nothing to accept: new orders of %s are not paused\n", accepted.Result.Connection)
	}
	return nil
}
