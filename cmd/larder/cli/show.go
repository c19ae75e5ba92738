package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/internal/menu"
)

// Storefront contains the printed fields of GET /v1/restaurants/{restaurant}/menu.
type Storefront struct {
	Restaurant struct{ Name string }
	Name       string
	Version    int64
	Categories []struct{ ID, Name string }
	Products   []struct {
		CategoryIDs          []string
		Name                 string
		Price                json.Number
		SchemeID             *string
		Available, Orderable bool
	}
	Schemes []struct {
		ID     string
		Groups []struct {
			ID, Name string
			Min      int
			Max      *int
			Options  []string
		}
	}
}

// showMenu prints the storefront's menu of a file or of the daemon.
func (env *Environment) showMenu(cmd *cobra.Command, args []string) error {
	body, err := env.storefrontOf(cmd, args[0])
	if err != nil {
		return err
	}
	if AsJSON(cmd) {
		return PrintJSON(env.Out, json.RawMessage(body))
	}
	var answer client.Envelope[*Storefront]
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result == nil {
		return fmt.Errorf("%w: %w", errNoMenu, err)
	}
	answer.Result.print(env)
	return nil
}

// neverSynced is the time of a menu that was never synced. It cannot occur inside a
// text of the menu, because quotes are escaped there.
const neverSynced = `,"syncedAt":"0001-01-01T00:00:00.000Z"`

// unsyncedMenu returns the storefront's menu of a catalogue that was never published.
func unsyncedMenu(c *menu.Catalogue, id menu.RestaurantID, name string) []byte {
	body := c.AppendMenu(nil, menu.Head{Restaurant: id, RestaurantName: name})
	return bytes.Replace(body, []byte(neverSynced), []byte(`,"syncedAt":null`), 1)
}

func (env *Environment) storefrontOf(cmd *cobra.Command, arg string) ([]byte, error) {
	if BoolFlag(cmd, "quarantined") {
		daemon := target(cmd, env, auth.ScopeOps)
		return atRestaurant(cmd.Context(), daemon, arg, func(id string) ([]byte, error) {
			quarantined, err := storedCatalogue(cmd, daemon, id, quarantinedView)
			if err != nil {
				return nil, err
			}
			return unsyncedMenu(quarantined, menu.RestaurantID(id), arg), nil
		})
	}
	if isFile(arg) {
		view, id, err := env.menuFile(cmd, arg)
		if err != nil {
			return nil, err
		}
		return unsyncedMenu(menu.Compile(view, id, menu.DefaultSettings()), id, arg), nil
	}
	daemon := target(cmd, env, auth.ScopeMenu)
	answer, err := atRestaurant(cmd.Context(), daemon, arg, func(id string) (*client.Reply, error) {
		return daemon.Get(cmd.Context(), client.RestaurantPath(id)+"/menu")
	})
	if err != nil {
		return nil, neitherFileNorRestaurant(cmd.Context(), daemon, arg, err)
	}
	return answer.Body, nil
}

func (s *Storefront) print(env *Environment) {
	env.Out.Printf("%s, menu view %q", s.Restaurant.Name, s.Name)
	if s.Version > 0 {
		env.Out.Printf(", version %d", s.Version)
	}
	env.Out.Printf(": %s, %s\n", Plural(len(s.Categories), "category", "categories"), Plural(len(s.Products), "dish", "dishes"))
	for _, category := range s.Categories { // a dish in two categories is printed in both (policy W9)
		s.printCategory(env, category.Name, func(of []string) bool { return slices.Contains(of, category.ID) })
	}
	s.printCategory(env, "(no category)", func(of []string) bool { return len(of) == 0 })
}

// printCategory prints the dishes for which is returns true.
func (s *Storefront) printCategory(env *Environment, name string, is func(of []string) bool) {
	title := "\n" + Safe(name) + "\n"
	for i := range s.Products {
		p := &s.Products[i]
		if !is(p.CategoryIDs) {
			continue
		}
		note := ""
		switch {
		case !p.Available:
			note = "  out of stock"
		case !p.Orderable:
			note = "  not orderable"
		}
		env.Out.Printf("%s", styled(title))
		env.Out.Printf("  %-40s %10s%s\n", p.Name, cmp.Or(p.Price.String(), noPrice), note)
		title = ""
		for _, scheme := range s.Schemes {
			if p.SchemeID == nil || scheme.ID != *p.SchemeID {
				continue
			}
			for _, g := range scheme.Groups {
				env.Out.Printf("      %s: %s of %d\n", g.Name, quantityRange(g.Min, g.Max), len(g.Options))
			}
		}
	}
}

// quantityRange describes how many options of a group can be chosen.
func quantityRange(least int, most *int) string {
	switch {
	case most == nil && least == 0:
		return "any number"
	case most == nil:
		return fmt.Sprintf("at least %d", least)
	case *most == least:
		return strconv.Itoa(least)
	case least == 0:
		return fmt.Sprintf("up to %d", *most)
	default:
		return fmt.Sprintf("%d to %d", least, *most)
	}
}
