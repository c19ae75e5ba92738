package cli

import (
	"github.com/spf13/cobra"

	"larder/httpapi/auth"
	"larder/internal/client"
)

// operate sends one request of an operator and prints the answer.
func operate[T any](cmd *cobra.Command, env *Environment, method, path string, body []byte, text func(answer client.Envelope[T])) error {
	daemon, err := target(cmd, env, auth.ScopeOps)
	if err != nil {
		return err
	}
	answer, err := daemon.Call(cmd.Context(), method, path, body)
	if err != nil {
		return err
	}
	return printAnswer(cmd, env, answer, text)
}

// printAnswer prints an answer as JSON, as it came, or as text for people.
func printAnswer[T any](cmd *cobra.Command, env *Environment, answer *client.Reply, text func(answer client.Envelope[T])) error {
	if AsJSON(cmd) {
		return PrintJSON(env.Out, answer.Body)
	}
	var decoded client.Envelope[T]
	if err := answer.Decode(&decoded); err != nil {
		return err
	}
	text(decoded)
	return nil
}
