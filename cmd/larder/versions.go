package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"larder/cache"
	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/sleep"
	menusync "larder/sync"
)

// versionCommands are those about the versions that the running larder keeps.
func versionCommands(w *world) []*cobra.Command {
	list := &cobra.Command{
		Use:   "versions RESTAURANT",
		Short: "List the versions of a menu that are kept, the newest first",
		Long: `List the versions of a menu that the running larder keeps, the newest first: when
each was published, its dishes, how many of them were not on a stop list then and
how many could be ordered, and which one is served now. Each can be compared
(larder menu diff RESTAURANT --from VERSION) and served again (larder menu
rollback RESTAURANT VERSION).`,
		Args: takes(1, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			return listVersions(cmd, w, args[0])
		}),
	}
	back := &cobra.Command{
		Use:   "rollback RESTAURANT VERSION",
		Short: "Serve an older version's menu again, and hold it",
		Long: `Serve the menu of an older version again, as a new version with the stop lists
of now, and hold it: until the ordering service publishes another menu than it
does now (--hold next_change), or until larder menu release (--hold released).
Stop lists go through meanwhile.`,
		Args: takes(2, 2),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			return rollBack(cmd, w, args[0], args[1])
		}),
	}
	back.Flags().String("hold", string(cache.HoldNextChange), "what ends the hold: next_change or released")
	release := &cobra.Command{
		Use:   "release RESTAURANT",
		Short: "Let go of a menu that a rollback holds, and pull it anew",
		Args:  takes(1, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			return releaseHold(cmd, w, args[0])
		}),
	}
	commands := []*cobra.Command{list, back, release}
	for _, c := range commands {
		addTarget(c)
		addJSON(c)
	}
	return commands
}

// keptVersion is one version as the daemon lists it.
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

// keptVersions lists all versions that are kept, page by page.
func keptVersions(ctx context.Context, daemon *api, id string) ([]keptVersion, error) {
	return everyPage[keptVersion](ctx, daemon, opsPath(id)+"/versions?limit=500")
}

func listVersions(cmd *cobra.Command, w *world, id string) error {
	daemon, err := target(cmd, w, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	defer daemon.close()
	kept, err := keptVersions(cmd.Context(), daemon, id)
	if err != nil {
		return err
	}
	if asJSON(cmd) {
		return printJSON(w.out, kept)
	}
	if len(kept) == 0 {
		w.out.printf("no version of %s is kept yet: larder sync %s pulls its menu\n", id, id)
		return nil
	}
	columns := tabwriter.NewWriter(w.out.raw, 0, 0, 2, ' ', 0)
	table := printer{columns}
	table.printf("VERSION\tPUBLISHED (UTC)\tDISHES\tNOT STOPPED\tORDERABLE\t\n")
	for _, v := range kept {
		table.printf("%d\t%s\t%d\t%d\t%d\t%s\n",
			v.Version, v.SyncedAt.UTC().Format(time.DateTime), v.Counts.Products, v.Counts.Available, v.Counts.Orderable, v.note())
	}
	return columns.Flush()
}

// note tells what is special about a version.
func (v keptVersion) note() string {
	switch {
	case v.Hold != nil && *v.Hold == cache.HoldNextChange:
		return "served now, held until the service publishes another menu"
	case v.Held:
		return "served now, held until released"
	case v.Current:
		return "served now"
	default:
		return ""
	}
}

func rollBack(cmd *cobra.Command, w *world, id, text string) error {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return &usageError{fmt.Sprintf("%q is no version: larder menu versions %s lists them", text, id)}
	}
	hold, _ := cmd.Flags().GetString("hold")
	if hold != string(cache.HoldNextChange) && hold != string(cache.HoldReleased) {
		return &usageError{"--hold is next_change or released"}
	}
	body := fmt.Appendf(nil, `{"version":%d,"hold":%q}`, version, hold)
	return follow(cmd, w, http.MethodPost, opsPath(id)+"/rollback?wait=60s", body)
}

func releaseHold(cmd *cobra.Command, w *world, id string) error {
	return follow(cmd, w, http.MethodDelete, opsPath(id)+"/hold?wait=60s", nil)
}

// follow asks for a run and reports it when it is over.
func follow(cmd *cobra.Command, w *world, method, path string, body []byte) error {
	daemon, err := target(cmd, w, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	defer daemon.close()
	answer, err := daemon.call(cmd.Context(), method, path, body)
	run, err := runOf(cmd.Context(), daemon, answer, err)
	if err != nil {
		return err
	}
	if asJSON(cmd) {
		err = printJSON(w.out, run)
	} else {
		w.out.println(runLine(run, ""))
	}
	if err == nil && isBad(run) {
		err = errSaid()
	}
	return err
}

// runOf waits for the end of the run that a daemon has answered with, however
// long it takes.
func runOf(ctx context.Context, daemon *api, answer *reply, err error) (run menusync.Run, _ error) {
	for {
		if err != nil {
			return run, err
		}
		if err := answer.result(&run); err != nil {
			return run, err
		}
		if run.Finished() {
			return run, nil
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return run, err
		}
		answer, err = daemon.get(ctx, "/v1/ops/runs/"+url.PathEscape(run.ID))
	}
}

// diffVersions compares two versions that the daemon keeps; to 0 is the current
// one.
func diffVersions(cmd *cobra.Command, w *world, id string, from, to int64) error {
	daemon, err := target(cmd, w, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	defer daemon.close()
	if to == 0 {
		kept, err := keptVersions(cmd.Context(), daemon, id)
		if err != nil {
			return err
		}
		for _, v := range kept {
			if v.Current {
				to = v.Version
			}
		}
	}
	older, err := versionOf(cmd.Context(), daemon, id, from)
	if err != nil {
		return err
	}
	newer, err := versionOf(cmd.Context(), daemon, id, to)
	if err != nil {
		return err
	}
	return printDiff(cmd, w, older, newer)
}

// versionOf compiles a version that the daemon keeps, as files are compiled.
func versionOf(ctx context.Context, daemon *api, id string, version int64) (*menu.Catalogue, error) {
	answer, err := daemon.get(ctx, fmt.Sprintf("%s/versions/%d/view", opsPath(id), version))
	if err != nil {
		return nil, err
	}
	view, err := menu.Decode(answer.body)
	if err != nil {
		return nil, fmt.Errorf("version %d of %s: %w", version, id, err)
	}
	return menu.Compile(view, menu.RestaurantID(id), menu.DefaultSettings()), nil
}

func opsPath(id string) string { return "/v1/ops/restaurants/" + url.PathEscape(id) }
