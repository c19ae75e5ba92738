package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"larder.local/cache"
	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

func menuCommand(env *Environment) *cobra.Command {
	lint := daemonCommand("larder menu", "lint FILE|RESTAURANT", env.lintMenu)
	show := daemonCommand("larder menu", "show FILE|RESTAURANT", env.showMenu)
	const diffUse = "diff OLD NEW | diff RESTAURANT --from VERSION | diff RESTAURANT --quarantined"
	diff := daemonCommand("larder menu", diffUse, env.diffMenus)
	diff.Args = argRange(1, 2)
	diff.Flags().Int64("from", 0, "older version of a restaurant")
	diff.Flags().Int64("to", 0, "newer version; default: the current one")
	for _, c := range []*cobra.Command{lint, show, diff} {
		c.Flags().Bool("quarantined", false, "the menu of the RESTAURANT that the guard did not publish")
		c.Flags().String("restaurant", "", "id (with --config also a name) of the restaurant whose stop lists apply to a FILE")
	}
	versions := daemonCommand("larder menu", "versions RESTAURANT", env.listVersions)
	back := daemonCommand("larder menu", "rollback RESTAURANT VERSION", env.rollBack)
	back.Flags().String("hold", string(cache.HoldNextChange), "what ends the hold: next_change or released")
	release := daemonCommand("larder menu", "release RESTAURANT", func(cmd *cobra.Command, args []string) error {
		return printRun(cmd, env, http.MethodDelete, args[0], "/hold?wait=60s", nil)
	})
	_, snoozes := restrictionCommands(env)
	return commandGroup("menu", append(snoozes, lint, show, diff, versions, back, release)...)
}

// isFile reports whether an argument is a file and not a restaurant.
func isFile(arg string) bool {
	if arg == "-" || strings.ContainsRune(arg, os.PathSeparator) {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// neitherFileNorRestaurant returns the daemon's error, err. If arg is probably a
// misspelled file name, the error says that it is neither a file nor a restaurant.
func neitherFileNorRestaurant(ctx context.Context, daemon *client.Client, arg string, err error) error {
	if isA[*client.UnreachableError](err) {
		return fmt.Errorf("%q is not a file, and the list of restaurants is not available: %w", arg, err)
	}
	known := err
	if client.RefusedWith(err, http.StatusUnauthorized, http.StatusForbidden) { // lint needs a token, but menus often do not
		bare := client.Client{Base: daemon.Base, HTTP: daemon.HTTP}
		_, known = atRestaurant(ctx, &bare, arg, func(id string) (*client.Reply, error) {
			return bare.Get(ctx, client.RestaurantPath(id)+"/menu")
		})
	}
	refused, ok := errors.AsType[*client.Error](known)
	if !ok || refused.Code != string(respond.CodeRestaurantNotFound) {
		return err
	}
	text := fmt.Sprintf("%q is not a file, and %s (larder at %s)", arg, refused.Msg, daemon.Base)
	return &hintError{&linesError{[]string{text}, known}, refusalHint(refused)}
}

// menuFile decodes the menu view of a FILE, and returns the value of --restaurant. With --config, this may be a name.
func (env *Environment) menuFile(cmd *cobra.Command, file string) (view *menu.View, id menu.RestaurantID, err error) {
	raw, err := env.openArg(file)
	if err != nil {
		return nil, "", err
	}
	if view, err = menu.Decode(raw); err != nil {
		const hint = "Use a file with a menu view as the ordering service returns it (GET /orders/api/v1/menu/view)."
		return nil, "", &hintError{fmt.Errorf("%s: %w", file, err), hint}
	}
	given := StringFlag(cmd, "restaurant")
	if given == "" || StringFlag(cmd, "config") == "" {
		return view, menu.RestaurantID(given), nil
	}
	cfg, err := loadConfig(cmd, env)
	if err != nil {
		return nil, "", err
	}
	known, _ := findRestaurant(configuredRestaurants(cfg), given)
	return view, menu.RestaurantID(cmp.Or(known, given)), nil // the file may be of another service
}

func (env *Environment) lintFindings(cmd *cobra.Command, arg string) ([]menu.Finding, error) {
	quarantined := BoolFlag(cmd, "quarantined")
	if isFile(arg) && !quarantined {
		view, id, err := env.menuFile(cmd, arg)
		if err != nil {
			return nil, err
		}
		return menu.Lint(view, id, menu.DefaultSettings()), nil
	}
	daemon, path := target(cmd, env, auth.ScopeOps), "/lint"
	if quarantined {
		path = quarantinedView + path
	}
	findings, err := atRestaurant(cmd.Context(), daemon, arg, func(id string) ([]menu.Finding, error) {
		return client.Get[[]menu.Finding](cmd.Context(), daemon, client.OpsRestaurantPath(id)+path)
	})
	if err != nil {
		err = neitherFileNorRestaurant(cmd.Context(), daemon, arg, err)
	}
	return findings, err
}

func (env *Environment) lintMenu(cmd *cobra.Command, args []string) error {
	findings, err := env.lintFindings(cmd, args[0])
	if err != nil {
		return err
	}
	errorsFound := 0
	for _, f := range findings {
		if f.Severity == menu.SeverityError {
			errorsFound++
		}
	}
	err = env.Show(cmd, append([]menu.Finding{}, findings...), func() {
		colours := env.colours(cmd)
		for _, f := range findings {
			paint := colours.warn
			if f.Severity == menu.SeverityError {
				paint = colours.bad
			}
			env.Out.Printf("%s  %s: %s (%s)\n",
				paint(fmt.Sprintf("%-7s", f.Severity)), f.Code, f.Msg, Plural(len(f.Products), "dish", "dishes"))
		}
		env.Out.Printf("%s, %s\n", Plural(errorsFound, "error", "errors"), Plural(len(findings)-errorsFound, "warning", "warnings"))
	})
	return reported(err, errorsFound > 0)
}

// diffMenus compares two menus by what a storefront would see.
func (env *Environment) diffMenus(cmd *cobra.Command, args []string) error {
	from, _ := cmd.Flags().GetInt64("from")
	to, _ := cmd.Flags().GetInt64("to")
	quarantined, one := BoolFlag(cmd, "quarantined"), len(args) == 1
	var older, newer *menu.Catalogue
	var err error
	switch {
	case quarantined && one && from == 0 && to == 0, !quarantined && one && from > 0 && to >= 0:
		older, newer, err = env.storedMenus(cmd, args[0], from, to)
	case quarantined:
		err = &usageError{"--quarantined compares the served menu with the quarantined one: specify only a restaurant"}
	case from < 0 || to < 0:
		err = &usageError{"--from and --to must be version numbers, from 1"}
	case from > 0 || to > 0:
		err = &usageError{"--from VERSION [--to VERSION] compares versions of one restaurant: specify only that restaurant"}
	case one:
		err = &usageError{"specify two menus, or a restaurant and --from VERSION or --quarantined"}
	case args[0] == "-" && args[1] == "-":
		err = &usageError{"only one of the menus can come from standard input"}
	default:
		if older, err = env.catalogueOf(cmd, args[0]); err == nil {
			newer, err = env.catalogueOf(cmd, args[1])
		}
	}
	if err != nil {
		return err
	}
	changes := menu.Diff(older, newer)
	return env.Show(cmd, changes, func() { printChanges(env, env.colours(cmd), changes, older, newer) })
}

// catalogueOf compiles the menu of a file, or the menu that the ordering service
// returns for a restaurant of the configuration.
func (env *Environment) catalogueOf(cmd *cobra.Command, arg string) (*menu.Catalogue, error) {
	if isFile(arg) {
		view, id, err := env.menuFile(cmd, arg)
		if err != nil {
			return nil, err
		}
		return menu.Compile(view, id, menu.DefaultSettings()), nil
	}
	if StringFlag(cmd, "config") == "" {
		return nil, &usageError{fmt.Sprintf("%q is not a file; to fetch a restaurant's menu from its ordering service, use --config", arg)}
	}
	cfg, err := loadConfig(cmd, env)
	if err != nil {
		return nil, err
	}
	id, msg := findRestaurant(configuredRestaurants(cfg), arg)
	if id == "" {
		err := fmt.Errorf("%q is not a file, and in the configuration %s", arg, msg)
		return nil, &hintError{err, "Use one of these, or the path of a file."}
	}
	at := slices.IndexFunc(cfg.Restaurants, func(r configs.Restaurant) bool { return string(r.ID) == id })
	name := cfg.Restaurants[at].Connection
	at = slices.IndexFunc(cfg.Connections, func(c upstream.Config) bool { return c.Name == name })
	service, err := upstream.New(cfg.Connections[at], upstream.Deps{})
	if err != nil {
		return nil, err
	}
	defer service.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), onlineLimit)
	defer cancel()
	view, _, err := fetchMenu(ctx, service, id)
	if err != nil {
		return nil, err
	}
	return menu.Compile(view, menu.RestaurantID(id), menu.DefaultSettings()), nil
}

func printChanges(env *Environment, colours palette, changes menu.Changes, older, newer *menu.Catalogue) {
	if changes.Empty() {
		env.Out.Println("no difference")
		return
	}
	name := func(id string) string {
		for _, catalogue := range []*menu.Catalogue{newer, older} {
			if p, ok := catalogue.Products().ByID(id); ok {
				return id + "  " + catalogue.Products().At(p).Name()
			}
		}
		return id
	}
	for _, id := range changes.Added {
		env.Out.Println(colours.good("+ " + name(id)))
	}
	for _, id := range changes.Removed {
		env.Out.Println(colours.bad("− " + name(id)))
	}
	for _, change := range changes.Changed {
		env.Out.Printf("~ %s: %s\n", name(change.ID), strings.Join(changedFields(change, older, newer), ", "))
	}
	for _, a := range changes.Availability {
		word := "out of stock"
		if a.Available {
			word = "available again"
		}
		env.Out.Printf("! %s: %s\n", name(a.ID), word)
	}
}

// changedFields returns the fields that differ; names and prices with both values.
func changedFields(change menu.Change, older, newer *menu.Catalogue) []string {
	fields := slices.Clone(change.Fields)
	before, had := older.Products().ByID(change.ID)
	after, has := newer.Products().ByID(change.ID)
	if !had || !has {
		return fields
	}
	was, is := older.Products().At(before), newer.Products().At(after)
	for i, field := range fields {
		switch field {
		case "name":
			fields[i] = fmt.Sprintf("name %q → %q", was.Name(), is.Name())
		case "price":
			fields[i] = fmt.Sprintf("price %s → %s", priceOf(was), priceOf(is))
		}
	}
	return fields
}

// noPrice replaces a missing or invalid price (policy W9a).
const noPrice = "no price"

func priceOf(e menu.Entry) string {
	if e.PriceInvalid() {
		return noPrice
	}
	return e.Price().String()
}

// errNoMenu is returned for a response that is not a storefront menu.
var errNoMenu = errors.New("the response is not a menu")
