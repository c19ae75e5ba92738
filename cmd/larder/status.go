package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder/httpapi"
)

// statusLimit bounds the question: a health check must not hang.
const statusLimit = 5 * time.Second

func statusCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the running larder is ready; fails when it is not",
		Long: `Say whether the running larder is ready, and what is not well: parts that it
stands on, restaurants whose last sync failed, was quarantined or is long ago,
and those whose menu a rollback holds.
Only readiness counts for the status: a larder that serves is healthy.

With --watch it is looked at again and again until Ctrl-C: on a terminal the whole
is redrawn, with each restaurant's age and the orders whose outcome is unknown (for
which it takes a client with the scope ops); elsewhere a line tells each change,
with --json as one line of JSON.`,
		Example: `  larder status
  larder status --watch --config larder.yaml
  larder status --watch --json | grep --line-buffered '"what":"order"'`,
		Args: takes(0, 0),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if watch, _ := cmd.Flags().GetBool("watch"); watch {
				return watchStatus(cmd, w)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), statusLimit)
			defer cancel()
			cmd.SetContext(ctx)
			daemon, err := target(cmd, w, httpapi.ScopeMenu)
			if err != nil {
				return err
			}
			defer daemon.close()
			return printStatus(ctx, daemon, w, asJSON(cmd), w.colours(cmd))
		}),
	}
	cmd.Flags().BoolP("watch", "w", false, "go on looking, until Ctrl-C")
	cmd.Flags().Duration("every", 2*time.Second, "how often --watch looks")
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

func printStatus(ctx context.Context, daemon *api, w *world, raw bool, colours palette) error {
	open := api{base: cmp.Or(daemon.ready, daemon.base), plain: daemon.plain} // readiness must not need a token
	body, isReady, err := readiness(ctx, &open)
	if err != nil {
		return err
	}
	unwell := unwellRestaurants(ctx, daemon)
	if raw {
		err = printStatusJSON(w, body, unwell)
	} else {
		err = describe(w, daemon.base, body, colours)
		if line := unwellLine(unwell); line != "" {
			w.out.printf("  %s\n", colours.odd(line))
		}
	}
	if err == nil && !isReady {
		err = errSaid()
	}
	return err
}

// unwell is what several restaurants have in common that is not as it should
// be: also a hold, which somebody has to end.
type unwell struct {
	What  string   `json:"what"` // failed, quarantined, stale, or held
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // the first few
}

// listLimit bounds the look at the restaurants: readiness is what counts.
const listLimit = 2 * time.Second

// unwellRestaurants counts the restaurants that are not well. Where they cannot
// be listed, because menus are closed or the list takes too long, there is
// nothing to say of them.
func unwellRestaurants(ctx context.Context, daemon *api) []unwell {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	all, err := restaurants(ctx, daemon)
	if err != nil {
		return nil
	}
	kinds := []unwell{{What: "failed"}, {What: "quarantined"}, {What: "stale"}, {What: "held"}}
	for _, r := range all {
		first := slices.IndexFunc(kinds, func(k unwell) bool {
			return k.What == r.LastOutcome && k.What != "held" || k.What == "stale" && r.Stale && r.Version > 0 // readiness names those without a menu
		})
		if first >= 0 {
			kinds[first].add(r.ID)
		}
		if r.Held { // whatever else it is: somebody may have forgotten it
			kinds[len(kinds)-1].add(r.ID)
		}
	}
	return slices.DeleteFunc(kinds, func(k unwell) bool { return k.Count == 0 })
}

func (u *unwell) add(id string) {
	u.Count++
	if len(u.IDs) < few {
		u.IDs = append(u.IDs, id)
	}
}

// unwellLine is "restaurants not ok: 1 failed (r1), 2 quarantined (r2, r3)".
func unwellLine(kinds []unwell) string {
	if len(kinds) == 0 {
		return ""
	}
	parts := make([]string, 0, len(kinds))
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s (%s)", k.Count, k.What, firstOf(k.IDs, k.Count)))
	}
	return "restaurants not ok: " + strings.Join(parts, ", ")
}

// printStatusJSON is the daemon's answer with one member more.
func printStatusJSON(w *world, body []byte, kinds []unwell) error {
	text, err := json.Marshal(kinds)
	inside, isObject := bytes.CutSuffix(bytes.TrimSpace(body), []byte("}"))
	if err != nil || !isObject || len(kinds) == 0 {
		return printRaw(w.out, body)
	}
	return printRaw(w.out, fmt.Appendf(nil, `%s,"restaurantsNotOK":%s}`, inside, text))
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

func describe(w *world, base string, body []byte, colours palette) error {
	var seen sight
	if err := seen.read(body); err != nil {
		return fmt.Errorf("%w: the readiness of %s: %w", errForeignAnswer, base, err)
	}
	word := colours.bad(seen.Status)
	switch seen.Status {
	case standingOK:
		word = colours.good(seen.Status)
	case "degraded":
		word = colours.odd(seen.Status)
	}
	w.out.printf("%s: %s\n", base, word)
	for _, name := range slices.Sorted(maps.Keys(seen.Parts)) {
		p := seen.Parts[name]
		standing := styled(safe(p.standing()))
		switch {
		case p.standing() != standingOK:
			standing = colours.bad(p.standing())
		case p.Msg != "":
			standing += styled(": " + safe(p.Msg))
		}
		w.out.printf("  %-20s %s\n", name, standing)
	}
	return nil
}
