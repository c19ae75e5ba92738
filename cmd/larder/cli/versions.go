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
	"larder.local/sync/runlog"
)

// versionCommands returns the commands for the stored versions of a menu.
func versionCommands(env *Environment) []*cobra.Command {
	list := NewCommand("larder menu", "versions RESTAURANT", func(cmd *cobra.Command, args []string) error {
		return listVersions(cmd, env, args[0])
	})
	back := NewCommand("larder menu", "rollback RESTAURANT VERSION", func(cmd *cobra.Command, args []string) error {
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
	})
	back.Flags().String("hold", string(cache.HoldNextChange), "what ends the hold: next_change or released")
	release := NewCommand("larder menu", "release RESTAURANT", func(cmd *cobra.Command, args []string) error {
		return printRun(cmd, env, http.MethodDelete, args[0], "/hold?wait=60s", nil)
	})
	commands := []*cobra.Command{list, back, release}
	for _, c := range commands {
		addTarget(c)
	}
	return commands
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

func listVersions(cmd *cobra.Command, env *Environment, given string) error {
	daemon := target(cmd, env, auth.ScopeOps)
	return atRestaurant(cmd.Context(), daemon, given, func(id string) error {
		kept, err := client.EveryPage[keptVersion](cmd.Context(), daemon, client.OpsRestaurantPath(id)+"/versions?limit=500")
		if err != nil {
			return err
		}
		return env.Show(cmd, kept, func() { printVersions(env, id, kept) })
	})
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
	daemon := target(cmd, env, auth.ScopeOps)
	var run runlog.Run
	err := atRestaurant(cmd.Context(), daemon, restaurant, func(id string) (err error) {
		run, err = followRun(cmd.Context(), daemon, method, client.OpsRestaurantPath(id)+path, body)
		return err
	})
	if err != nil {
		return err
	}
	err = env.Show(cmd, run, func() { env.Out.Println(runLine(run, nil)) })
	return reported(err, hasFailed(run))
}

// diffVersions compares two stored versions; version 0 is the current one.
func diffVersions(cmd *cobra.Command, env *Environment, daemon *client.Client, id string, from, to int64) error {
	if to == 0 {
		var err error
		if to, err = currentVersion(cmd, daemon, id); err != nil {
			return err
		}
	}
	older, err := storedCatalogue(cmd, daemon, id, versionView(from))
	if err != nil {
		return err
	}
	newer, err := storedCatalogue(cmd, daemon, id, versionView(to))
	if err != nil {
		return err
	}
	return printDiff(cmd, env, older, newer)
}

// diffQuarantined compares the served menu with the quarantined one.
func diffQuarantined(cmd *cobra.Command, env *Environment, daemon *client.Client, id string) error {
	newer, err := storedCatalogue(cmd, daemon, id, quarantinedView)
	if err != nil {
		return err
	}
	older := menu.Compile(&menu.View{}, menu.RestaurantID(id), menu.DefaultSettings())
	version, err := currentVersion(cmd, daemon, id)
	if err == nil {
		older, err = storedCatalogue(cmd, daemon, id, versionView(version))
	}
	if refused, ok := errors.AsType[*client.Error](err); err != nil && (!ok || refused.Code != string(respond.CodeNoCatalogue)) {
		return err
	}
	return printDiff(cmd, env, older, newer)
}

func currentVersion(cmd *cobra.Command, daemon *client.Client, id string) (int64, error) {
	kept, err := client.EveryPage[keptVersion](cmd.Context(), daemon, client.OpsRestaurantPath(id)+"/versions?limit=500")
	for _, v := range kept {
		if v.Current {
			return v.Version, nil
		}
	}
	return 0, err
}

// The paths of menu views below that of a restaurant.
const quarantinedView = "/quarantined"

func versionView(version int64) string { return fmt.Sprintf("/versions/%d/view", version) }

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
