package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cache"
	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
)

// rollBack serves an older version of a menu again.
func (env *Environment) rollBack(cmd *cobra.Command, args []string) error {
	version, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || version < 1 {
		return &usageError{fmt.Sprintf("%q is not a version; larder menu versions %s lists them", args[1], args[0])}
	}
	hold := StringFlag(cmd, "hold")
	if err := oneOf("hold", hold, holdNames()); err != nil {
		return err
	}
	body := fmt.Appendf(nil, `{"version":%d,"hold":%q}`, version, hold)
	return printRun(cmd, env, http.MethodPost, args[0], "/rollback?wait=60s", body)
}

func holdNames() []string { return wordsOf(cache.HoldNextChange, cache.HoldReleased) }

// keptVersion is one version in the daemon's list.
type keptVersion struct {
	Version  int64            `json:"version"`
	Name     string           `json:"name"`
	Content  string           `json:"content"`
	SyncedAt time.Time        `json:"syncedAt"`
	Counts   menu.Counts      `json:"counts"`
	Bytes    int              `json:"bytes"`
	Current  bool             `json:"current"`
	Held     bool             `json:"held"`
	Hold     *cache.HoldUntil `json:"hold"`
}

func (env *Environment) listVersions(cmd *cobra.Command, args []string) error {
	daemon, id := target(cmd, env, auth.ScopeOps), ""
	kept, err := atRestaurant(cmd.Context(), daemon, args[0], func(found string) ([]keptVersion, error) {
		id = found
		return versionsOf(cmd, daemon, id)
	})
	if err != nil {
		return err
	}
	return env.Show(cmd, kept, func() { printVersions(env, id, kept) })
}

func versionsOf(cmd *cobra.Command, daemon *client.Client, id string) ([]keptVersion, error) {
	return client.EveryPage[keptVersion](cmd.Context(), daemon, client.OpsRestaurantPath(id)+"/versions?limit=500")
}

func printVersions(env *Environment, id string, kept []keptVersion) {
	if len(kept) == 0 {
		env.Out.Printf("no version of %s is stored; run larder sync %s to fetch its menu\n", id, id)
		return
	}
	rows := [][]string{{"VERSION", "PUBLISHED (UTC)", "DISHES", "AVAILABLE", "ORDERABLE", ""}}
	for _, v := range kept {
		note := ""
		switch {
		case v.Hold != nil && *v.Hold == cache.HoldNextChange:
			note = "served now, held until the service publishes another menu"
		case v.Held:
			note = "served now, held until released"
		case v.Current:
			note = "served now"
		}
		rows = append(rows, []string{
			strconv.FormatInt(v.Version, 10), v.SyncedAt.UTC().Format(time.DateTime),
			strconv.Itoa(v.Counts.Products), strconv.Itoa(v.Counts.Available), strconv.Itoa(v.Counts.Orderable), note,
		})
	}
	env.Out.table(rows)
}

// printRun starts a run at a path below that of a restaurant, and prints its result.
func printRun(cmd *cobra.Command, env *Environment, method, restaurant, path string, body []byte) error {
	run, err := followRun(cmd.Context(), target(cmd, env, auth.ScopeOps), method, restaurant, path, body)
	if err != nil {
		return err
	}
	err = env.Show(cmd, run, func() { env.Out.Println(runLine(run, nil)) })
	return reported(err, hasFailed(run))
}

// storedMenus returns the versions from and to of a restaurant's menu; if to is 0, the current one. If from is 0, it
// returns the served menu and the quarantined one.
func (env *Environment) storedMenus(
	cmd *cobra.Command, given string, from, to int64,
) (older, newer *menu.Catalogue, err error) {
	daemon := target(cmd, env, auth.ScopeOps)
	_, err = atRestaurant(cmd.Context(), daemon, given, func(id string) (none struct{}, err error) {
		if from > 0 {
			if older, err = storedVersion(cmd, daemon, id, from); err == nil {
				newer, err = storedVersion(cmd, daemon, id, to)
			}
			return none, err
		}
		if newer, err = storedCatalogue(cmd, daemon, id, quarantinedView); err != nil {
			return none, err
		}
		older, err = storedVersion(cmd, daemon, id, 0)
		if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == string(respond.CodeNoCatalogue) {
			older, err = menu.Compile(&menu.View{}, menu.RestaurantID(id), menu.DefaultSettings()), nil
		}
		return none, err
	})
	return older, newer, err
}

// storedVersion compiles a version of a restaurant's menu; if version is 0, the current one.
func storedVersion(cmd *cobra.Command, daemon *client.Client, id string, version int64) (*menu.Catalogue, error) {
	if version == 0 {
		kept, err := versionsOf(cmd, daemon, id)
		if err != nil {
			return nil, err
		}
		for _, v := range kept {
			if v.Current {
				version = v.Version
			}
		}
	}
	return storedCatalogue(cmd, daemon, id, fmt.Sprintf("/versions/%d/view", version))
}

// quarantinedView is the path of the quarantined menu view below that of a restaurant.
const quarantinedView = "/quarantined"

// storedCatalogue compiles the menu view at a path below that of a restaurant.
func storedCatalogue(cmd *cobra.Command, daemon *client.Client, id, path string) (*menu.Catalogue, error) {
	answer, err := daemon.Get(cmd.Context(), client.OpsRestaurantPath(id)+path)
	if err != nil {
		return nil, err
	}
	view, err := menu.Decode(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", path, id, err)
	}
	return menu.Compile(view, menu.RestaurantID(id), menu.DefaultSettings()), nil
}
