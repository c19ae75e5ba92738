package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// statusLimit bounds the question: a health check must not hang.
const statusLimit = 5 * time.Second

func statusCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the running larder is ready; fails when it is not",
		Args:  cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			daemon, err := target(cmd, w, "")
			if err != nil {
				return err
			}
			defer daemon.close()
			daemon.bearer = nil // readiness is open, and must not need a token
			ctx, cancel := context.WithTimeout(cmd.Context(), statusLimit)
			defer cancel()
			return printStatus(ctx, daemon, w, asJSON(cmd))
		}),
	}
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

// ready is the answer of /readyz?verbose.
type ready struct {
	Status string `json:"status"`
	Parts  map[string]json.RawMessage
}

// part is one part of it; connections have parts of their own.
type part struct {
	OK  *bool  `json:"ok"`
	Msg string `json:"msg"`
}

func printStatus(ctx context.Context, daemon *api, w *world, raw bool) error {
	body, isReady, err := readiness(ctx, daemon)
	if err != nil {
		return err
	}
	if raw {
		err = printRaw(w.out, body)
	} else {
		err = describe(w, daemon.base, body)
	}
	if err == nil && !isReady {
		err = errSaid()
	}
	return err
}

// readiness asks the daemon; not being ready is an answer, not an error.
func readiness(ctx context.Context, daemon *api) (body []byte, isReady bool, err error) {
	answer, err := daemon.get(ctx, "/readyz?verbose")
	if err == nil {
		return answer.body, true, nil
	}
	var refused *apiError
	if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
		return refused.Body, false, nil
	}
	return nil, false, err
}

func describe(w *world, base string, body []byte) error {
	var r ready
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("the answer of %s is not larder's readiness: %w", base, err)
	}
	fmt.Fprintf(w.out, "%s: %s\n", base, r.Status)
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		var p part
		if err := json.Unmarshal(r.Parts[name], &p); err == nil && p.OK != nil {
			describePart(w, name, p)
			continue
		}
		inner := map[string]part{}
		if err := json.Unmarshal(r.Parts[name], &inner); err != nil {
			continue // a form of a later larder
		}
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			describePart(w, name+" "+key, inner[key])
		}
	}
	return nil
}

func describePart(w *world, name string, p part) {
	word := "ok"
	if p.OK == nil || !*p.OK {
		word = "not ok"
	}
	if p.Msg != "" {
		word += ": " + p.Msg
	}
	fmt.Fprintf(w.out, "  %-20s %s\n", name, word)
}
