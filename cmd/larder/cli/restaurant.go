package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hbollon/go-edlib"
	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

// The lists of restaurants: that of operators and the public one.
const (
	opsRestaurantsPath = "/v1/ops/restaurants?limit=500"
	restaurantsPath    = "/v1/restaurants?limit=500"
)

// findLimit is the timeout of the list in which atRestaurant looks for a name.
const findLimit = 10 * time.Second

// atRestaurant calls call with a restaurant's id. If given is not an id, but the name of one restaurant, it calls it again
// with the id of that one. For an unknown name, the error has the nearest restaurants.
func atRestaurant[T any](
	ctx context.Context, daemon *client.Client, given string, call func(id string) (T, error),
) (T, error) {
	result, err := call(given)
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != string(respond.CodeRestaurantNotFound) {
		return result, err
	}
	path := restaurantsPath
	if refused.OpsRoute {
		path = opsRestaurantsPath
	}
	listing, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	all, listErr := client.EveryPage[Restaurant](listing, daemon, path)
	if listErr != nil {
		return result, err
	}
	id, msg := findRestaurant(all, given)
	if id == "" {
		return result, refused.WithMsg(msg)
	}
	return call(id)
}

// configuredRestaurants returns the restaurants of a configuration.
func configuredRestaurants(cfg *configs.Config) []Restaurant {
	return Mapped(cfg.Restaurants, func(r configs.Restaurant) Restaurant { return Restaurant{ID: string(r.ID), Name: r.Name} })
}

// findRestaurant returns the id of the restaurant with this id, or of the only one with this name. Otherwise it returns a
// message with the nearest restaurants.
func findRestaurant(all []Restaurant, given string) (id, msg string) {
	var named []string
	for i := range all {
		switch {
		case all[i].ID == given:
			return given, ""
		case strings.EqualFold(strings.TrimSpace(all[i].Name), strings.TrimSpace(given)):
			named = append(named, all[i].ID)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], ""
	case len(named) > 1:
		return "", fmt.Sprintf("%d restaurants have the name %q: use one of the ids %s", len(named), given, FirstOf(named, len(named)))
	case len(all) == 0:
		return "", fmt.Sprintf("there is no restaurant %q, and no other one", given)
	}
	nearest := strings.Join(nearestRestaurants(all, given), ", ")
	return "", fmt.Sprintf("there is no restaurant %q; the nearest of %d: %s", given, len(all), nearest)
}

// nearestRestaurants returns the labels of the restaurants whose id or name is most similar to a text. First are those that
// contain it.
func nearestRestaurants(all []Restaurant, given string) []string {
	const compared = 100 // bytes of a text: the comparison of long ones is slow
	short := func(text string) string { return strings.ToLower(text[:min(len(text), compared)]) }
	given = short(given)
	distance := func(text string) int {
		if text = short(text); strings.Contains(text, given) {
			return 0
		}
		return edlib.OSADamerauLevenshteinDistance(given, text)
	}
	distances := make(map[string]int, len(all))
	for i := range all {
		distances[all[i].ID] = min(distance(all[i].ID), distance(all[i].Name))
	}
	nearest := slices.Clone(all)
	slices.SortStableFunc(nearest, func(a, b Restaurant) int { return cmp.Compare(distances[a.ID], distances[b.ID]) })
	return Mapped(nearest[:min(len(nearest), MaxListed)], func(r Restaurant) string { return r.label() })
}

func restaurantCommand(env *Environment) *cobra.Command {
	list := daemonCommand("larder restaurant", "list", env.listRestaurants)
	list.Flags().String("state", "", "only restaurants in this state: "+strings.Join(restaurantStates(), ", "))
	list.Flags().String("search", "", "only restaurants with these words in the name or address, or at the start of the id")
	list.Flags().String("sort", "name", "order of the list: "+strings.Join(restaurantOrders(), ", "))
	list.Flags().Int("limit", 100, "maximum number of printed restaurants")
	restrictions, _ := restrictionCommands(env)
	return commandGroup("restaurant", append(restrictions, list)...)
}

// restaurantStates returns the values of --state; attention is any of the next four. The first ones are the most urgent.
func restaurantStates() []string {
	return []string{"attention", "missing", "failed", "quarantined", "stale", "waiting", "held", "paused", stateOK}
}

func restaurantOrders() []string { return []string{"name", "state", "age", "last-run"} }

// restaurantRow is a row of the operators' list.
type restaurantRow struct {
	Restaurant
	States    []string
	CheckedAt time.Time // zero without a menu
	Freshness struct{ AgeSeconds *float64 }
	json      json.RawMessage // the whole row
	lastRun   *runlog.Run     // nil if it is not among the latest runs
	order     []byte          // of the name
}

func (env *Environment) listRestaurants(cmd *cobra.Command, _ []string) error {
	state, order := StringFlag(cmd, "state"), StringFlag(cmd, "sort")
	limit, _ := cmd.Flags().GetInt("limit")
	var wrong error
	if state != "" {
		wrong = oneOf("state", state, restaurantStates())
	}
	if limit < 1 {
		wrong = cmp.Or[error](wrong, &usageError{fmt.Sprintf("--limit: %d is not at least 1", limit)})
	}
	if err := cmp.Or(wrong, oneOf("sort", order, restaurantOrders())); err != nil {
		return err
	}
	path := opsRestaurantsPath + labelled("&state=", state) + labelled("&q=", url.QueryEscape(StringFlag(cmd, "search")))
	rows, err := restaurantRows(cmd, target(cmd, env, auth.ScopeOps), path)
	if err != nil {
		return err
	}
	sortRestaurants(rows, order)
	shown := rows[:min(len(rows), limit)]
	type list struct {
		Result []json.RawMessage `json:"result"`
		Total  int               `json:"total"`
	}
	all := list{Mapped(shown, func(r *restaurantRow) json.RawMessage { return r.json }), len(rows)}
	return env.Show(cmd, all, func() { env.printRestaurants(shown, len(rows)) })
}

// restaurantRows returns all rows of a list with their last runs. If the runs are not available, it returns only the rows.
func restaurantRows(cmd *cobra.Command, daemon *client.Client, path string) ([]*restaurantRow, error) {
	texts, err := client.EveryPage[json.RawMessage](cmd.Context(), daemon, path)
	if err != nil {
		return nil, err
	}
	latest := map[menu.RestaurantID]*runlog.Run{}
	runs, _ := client.Get[[]runlog.Run](cmd.Context(), daemon, "/v1/ops/runs?limit=500")
	for i := range slices.Backward(runs) { // the newest run is the first one
		if runs[i].Finished() {
			latest[runs[i].Restaurant] = &runs[i]
		}
	}
	rows, order := make([]*restaurantRow, len(texts)), directory.OrderOfNames()
	for i, text := range texts {
		row := &restaurantRow{}
		if err := (&client.Reply{Body: text}).Decode(row); err != nil || row.ID == "" {
			return nil, cmp.Or(err, client.ErrForeignAnswer)
		}
		row.Name = cmp.Or(row.Name, row.ID)
		row.order, row.lastRun = order(row.Name), latest[menu.RestaurantID(row.ID)]
		row.json = withMember(text, "lastRun", row.lastRun)
		rows[i] = row
	}
	return rows, nil
}

// sortRestaurants sorts rows: the most urgent state, the oldest menu or the latest run first. Rows without a menu or
// a known run are the oldest.
func sortRestaurants(rows []*restaurantRow, order string) {
	slices.SortFunc(rows, func(a, b *restaurantRow) int {
		first := 0
		switch order {
		case "state":
			first = cmp.Compare(a.urgency(), b.urgency())
		case "age":
			first = a.CheckedAt.Compare(b.CheckedAt)
		case "last-run":
			first = b.lastRunAt().Compare(a.lastRunAt())
		}
		return cmp.Or(first, bytes.Compare(a.order, b.order), cmp.Compare(a.ID, b.ID))
	})
}

// stateText returns the states, or ok.
func (r *restaurantRow) stateText() string { return cmp.Or(strings.Join(r.States, ", "), stateOK) }

// urgency returns the position of the most urgent state.
func (r *restaurantRow) urgency() int {
	return slices.IndexFunc(restaurantStates(), func(state string) bool {
		return slices.Contains(r.States, state) || len(r.States) == 0 && state == stateOK
	})
}

// lastRunAt returns the time of the last run, or zero. A run that found no problem has confirmed the menu.
func (r *restaurantRow) lastRunAt() time.Time {
	switch {
	case r.lastRun != nil:
		return r.lastRun.FinishedAt
	case r.LastOutcome == string(runlog.OutcomeUpdated), r.LastOutcome == string(runlog.OutcomeUnchanged):
		return r.CheckedAt
	}
	return time.Time{}
}

func (env *Environment) printRestaurants(rows []*restaurantRow, total int) {
	if total == 0 {
		env.Out.Println("no restaurants")
		return
	}
	table := [][]string{{"NAME", "STATE", "AGE", "LAST RUN (UTC)", "OUTCOME", "ID"}}
	for _, r := range rows {
		age, at, outcome := "-", "-", r.LastOutcome
		if r.Freshness.AgeSeconds != nil {
			age = ageText(*r.Freshness.AgeSeconds)
		}
		if last := r.lastRunAt(); !last.IsZero() {
			at = last.UTC().Format(time.DateTime)
		}
		if r.lastRun != nil {
			outcome = string(r.lastRun.Outcome)
		}
		table = append(table, []string{r.Name, r.stateText(), age, at, cmp.Or(outcome, "-"), r.ID})
	}
	env.Out.table(table)
	if total > len(rows) {
		env.Out.Printf("%d of %d restaurants; use --limit, --state or --search for others\n", len(rows), total)
	}
}

// ageText returns an age in its largest unit, such as "42s", "7m", "47h" or "3d".
func ageText(seconds float64) string {
	age := time.Duration(seconds * float64(time.Second))
	switch {
	case age >= 48*time.Hour:
		return fmt.Sprintf("%dd", age/(24*time.Hour))
	case age >= time.Hour:
		return fmt.Sprintf("%dh", age/time.Hour)
	case age >= time.Minute:
		return fmt.Sprintf("%dm", age/time.Minute)
	default:
		return fmt.Sprintf("%ds", age/time.Second)
	}
}
