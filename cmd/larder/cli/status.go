package cli

import (
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

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

const (
	// statusLimit is the timeout of the command, because a health check must not hang.
	statusLimit = 5 * time.Second
	// listLimit is the timeout of the list of restaurants, which is less important.
	listLimit = 2 * time.Second
)

func statusCommand(env *Environment) *cobra.Command {
	cmd := daemonCommand("larder", "status", env.printStatus)
	cmd.Flags().BoolP("watch", "w", false, "poll until Ctrl-C, and print changes")
	cmd.Flags().Duration("every", 2*time.Second, "polling interval of --watch")
	return cmd
}

func (env *Environment) printStatus(cmd *cobra.Command, _ []string) error {
	if BoolFlag(cmd, "watch") {
		return watchStatus(cmd, env)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), statusLimit)
	defer cancel()
	cmd.SetContext(ctx)
	daemon := target(cmd, env, auth.ScopeMenu)
	body, isReady, err := readiness(ctx, daemon.ForReadiness())
	if err != nil {
		return err
	}
	problems := restaurantProblems(ctx, daemon)
	switch {
	case !AsJSON(cmd):
		err = printReadiness(env, daemon.ForReadiness().Base, body, problems, env.colours(cmd))
	case len(problems) > 0:
		err = PrintJSON(env.Out, withMember(body, "restaurantsNotOK", problems))
	default:
		err = PrintJSON(env.Out, json.RawMessage(body))
	}
	return reported(err, !isReady)
}

// stateOK is the state of a component or a restaurant without problems.
const stateOK = "ok"

// readinessReport is the response of /readyz?verbose.
type readinessReport struct {
	Status     string                     `json:"status"`
	Parts      map[string]json.RawMessage `json:"parts"`
	components map[string]component       // of Parts; for connections the keys are "connections NAME"
}

// component is one component of a report.
type component struct {
	OK  *bool  `json:"ok"`
	Msg string `json:"msg"`
}

// state describes the state of a component on one line.
func (p component) state() string {
	if p.OK != nil && *p.OK {
		return stateOK
	}
	return joined(": ", "not ok", p.Msg)
}

// readiness requests the readiness. A daemon that is not ready is not an error.
func readiness(ctx context.Context, daemon *client.Client) (body []byte, isReady bool, err error) {
	answer, err := daemon.Get(ctx, "/readyz?verbose")
	if err == nil {
		return answer.Body, true, nil
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusServiceUnavailable {
		return refused.Body, false, nil
	}
	return nil, false, err
}

// parseReadiness parses a response of the daemon at base. It ignores parts of an
// unknown form, which newer versions may send.
func parseReadiness(base string, body []byte) (*readinessReport, error) {
	r := &readinessReport{components: map[string]component{}}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("%w: the readiness of %s: %w", client.ErrForeignAnswer, base, err)
	}
	for name, raw := range r.Parts {
		var (
			p     component
			inner map[string]component
		)
		if err := json.Unmarshal(raw, &p); err == nil && p.OK != nil {
			r.components[name] = p
		} else if json.Unmarshal(raw, &inner) == nil {
			for key, p := range inner {
				r.components[name+" "+key] = p
			}
		}
	}
	return r, nil
}

// names reports whether the list of a component has a restaurant.
func (r *readinessReport) names(restaurant string) bool {
	element := func(text string) string { return " " + strings.ReplaceAll(text, ";", ",") + "," }
	for _, p := range r.components {
		if strings.Contains(element(p.Msg), element(restaurant)) {
			return true
		}
	}
	return false
}

// unhealthy is a problem with its restaurants. A hold counts, because an operator may have to release it.
type unhealthy struct {
	State string   `json:"state"` // failed, quarantined, waiting, stale, or held
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // the first few
	Names []string `json:"-"`   // "name (id)" of the same restaurants
}

// restaurantProblems counts the restaurants by problem. It returns nil if it cannot
// list them, because menus need a token or the list takes too long.
func restaurantProblems(ctx context.Context, daemon *client.Client) []unhealthy {
	all, err := restaurantsSoon(ctx, daemon)
	if err != nil {
		return nil
	}
	var kinds []unhealthy
	for _, state := range []string{"failed", "quarantined", "waiting", "stale", "held"} { // "no menu" is part of readiness
		kind := unhealthy{State: state}
		for i := range all {
			at := slices.Index(all[i].problems(), state)
			if at < 0 || at > 0 && state == "stale" { // the first problem is the cause
				continue
			}
			if kind.Count++; kind.Count <= MaxListed {
				kind.IDs, kind.Names = append(kind.IDs, all[i].ID), append(kind.Names, all[i].label())
			}
		}
		if kind.Count > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func printReadiness(env *Environment, base string, body []byte, problems []unhealthy, colours palette) error {
	ready, err := parseReadiness(base, body)
	if err != nil {
		return err
	}
	paint := colours.bad
	switch ready.Status {
	case stateOK:
		paint = colours.good
	case "degraded":
		paint = colours.warn
	}
	env.Out.Printf("%s: %s\n", base, paint(ready.Status))
	for _, name := range slices.Sorted(maps.Keys(ready.components)) {
		p := ready.components[name]
		if state := p.state(); state == stateOK {
			env.Out.Printf("  %-20s %s\n", name, joined(": ", state, p.Msg))
		} else {
			env.Out.Printf("  %-20s %s\n", name, colours.bad(state))
		}
	}
	if len(problems) > 0 {
		texts := Mapped(problems, func(k unhealthy) string {
			text := fmt.Sprintf("%d %s", k.Count, k.State)
			others := slices.DeleteFunc(slices.Clone(k.Names), ready.names)
			if len(others) == 0 {
				return text
			}
			return text + " (" + FirstOf(others, k.Count-len(k.Names)+len(others)) + ")"
		})
		env.Out.Printf("  %s\n", colours.warn("restaurants not ok: "+strings.Join(texts, ", ")))
	}
	return nil
}

// Restaurant is one restaurant in the daemon's list.
type Restaurant struct {
	ID, Name, LastOutcome string
	Version               int64
	Stale, Held           bool
}

var errNoRestaurants = errors.New("the daemon has no restaurants")

// Restaurants returns all restaurants of the daemon.
func Restaurants(ctx context.Context, daemon *client.Client) ([]Restaurant, error) {
	return client.EveryPage[Restaurant](ctx, daemon, restaurantsPath)
}

// restaurantsSoon returns all restaurants, or an error after listLimit.
func restaurantsSoon(ctx context.Context, daemon *client.Client) ([]Restaurant, error) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	daemon.HTTP.Timeout = listLimit // the token request does not use ctx
	return Restaurants(ctx, daemon)
}

// label returns "name (id)", or the id if there is no other name.
func (r *Restaurant) label() string {
	return directory.Restaurant{ID: menu.RestaurantID(r.ID), Name: r.Name}.String()
}

// problems returns the problems of a restaurant.
func (r *Restaurant) problems() []string {
	var all []string
	switch {
	case r.Version == 0:
		all = append(all, "no menu")
	case r.LastOutcome == string(runlog.OutcomeFailed), r.LastOutcome == string(runlog.OutcomeQuarantined),
		r.LastOutcome == string(runlog.OutcomeWaiting):
		all = append(all, r.LastOutcome)
	}
	if r.Stale && r.Version > 0 {
		all = append(all, "stale")
	}
	if r.Held {
		all = append(all, "held")
	}
	return all
}

// state returns the restaurant's version and its problems, on one line.
func (r *Restaurant) state() string {
	all := r.problems()
	if r.Version > 0 {
		all = append([]string{fmt.Sprintf("version %d", r.Version)}, all...)
	}
	return strings.Join(all, ", ")
}

// summaryOfStates returns "120 restaurants, 118 ok, 1 failed, 2 stale".
func summaryOfStates(all []Restaurant) string {
	counts, healthy := map[string]int{}, 0
	for i := range all {
		problems := all[i].problems()
		if len(problems) == 0 {
			healthy++
		}
		for _, problem := range problems {
			counts[problem]++
		}
	}
	parts := []string{Plural(len(all), "restaurant", "restaurants"), fmt.Sprintf("%d ok", healthy)}
	for _, problem := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[problem], problem))
	}
	return strings.Join(parts, ", ")
}
