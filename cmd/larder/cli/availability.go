package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
)

// restriction is what an operator has said about a restaurant.
type restriction struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	LeadTime string     `json:"leadTime"`
	Until    *time.Time `json:"until"`
	Note     string     `json:"note"`
}

// availability is what holds now.
type availability struct {
	Pause   map[string]*restriction `json:"pause"`
	Busy    *restriction            `json:"busy"`
	Snoozed []restriction           `json:"snoozed"`
	// LeadTime is how long an order takes at least, by its type.
	LeadTime map[string]string `json:"leadTime"`
}

// restrictionCommands returns the commands of larder restaurant and of larder menu that restrict orders.
func restrictionCommands(env *Environment) (ofRestaurant, ofMenu []*cobra.Command) {
	pause := daemonCommand("larder restaurant", "pause RESTAURANT", func(cmd *cobra.Command, args []string) error {
		fields := map[string]any{}
		if kind := StringFlag(cmd, "type"); kind != "" {
			fields["expeditionTypes"] = []string{kind}
		}
		return env.restrict(cmd, args[0], http.MethodPost, fields, "/pause")
	})
	pause.Flags().String("type", "", "only orders of this type: delivery or pickup")
	open := daemonCommand("larder restaurant", "open RESTAURANT", func(cmd *cobra.Command, args []string) error {
		return env.restrict(cmd, args[0], http.MethodDelete, nil, "/pause", "/busy")
	})
	busy := daemonCommand("larder restaurant", "busy RESTAURANT LEADTIME", func(cmd *cobra.Command, args []string) error {
		return env.restrict(cmd, args[0], http.MethodPost, map[string]any{"leadTime": args[1]}, "/busy")
	})
	snooze := daemonCommand("larder menu", "snooze RESTAURANT DISH…", func(cmd *cobra.Command, args []string) error {
		ids, err := env.itemIDs(cmd, args[0], args[1:])
		if err != nil {
			return err
		}
		return env.restrict(cmd, args[0], http.MethodPost, map[string]any{"ids": ids}, "/snooze")
	})
	wake := daemonCommand("larder menu", "wake RESTAURANT DISH…", func(cmd *cobra.Command, args []string) error {
		ids, err := env.itemIDs(cmd, args[0], args[1:])
		if err != nil {
			return err
		}
		paths := Mapped(ids, func(id string) string { return "/snooze/" + url.PathEscape(id) })
		return env.restrict(cmd, args[0], http.MethodDelete, nil, paths...)
	})
	for _, c := range []*cobra.Command{snooze, wake} {
		c.Args = argRange(2, 100)
	}
	for _, c := range []*cobra.Command{pause, busy, snooze} {
		c.Flags().String("until", "", "the end: a time of the day, a duration, or a time with its offset; default: until you end it")
		c.Flags().String("note", "", "why; only for operators")
	}
	return []*cobra.Command{pause, open, busy}, []*cobra.Command{snooze, wake}
}

// restrict sends a request to each path of a restaurant, and prints what holds then.
func (env *Environment) restrict(cmd *cobra.Command, restaurant, method string, fields map[string]any, paths ...string) error {
	var body []byte
	if fields != nil {
		until, err := untilOf(StringFlag(cmd, "until"), time.Now())
		if err != nil {
			return err
		}
		fields["until"], fields["note"] = until, StringFlag(cmd, "note")
		if body, err = json.Marshal(fields); err != nil {
			return err
		}
	}
	daemon := target(cmd, env, auth.ScopeOps)
	answer, err := atRestaurant(cmd.Context(), daemon, restaurant, func(id string) (answer *client.Reply, err error) {
		for _, path := range paths {
			if answer, err = daemon.Call(cmd.Context(), method, client.OpsRestaurantPath(id)+path, body); err != nil {
				break
			}
		}
		return answer, err
	})
	if err != nil {
		return err
	}
	_, err = printAnswer(cmd, env, answer, func(now client.Envelope[availability]) { now.Result.print(env) })
	return err
}

// untilOf returns the value of --until as the daemon reads it.
func untilOf(text string, now time.Time) (*string, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no end
	}
	at, err := time.ParseInLocation("15:04", text, now.Location())
	if err == nil {
		at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
	} else if length, wrong := time.ParseDuration(text); wrong == nil {
		at, err = now.Add(length).Truncate(time.Second), nil
	}
	if err == nil {
		text = at.Format(time.RFC3339)
	} else if _, err = time.Parse(time.RFC3339, text); err != nil && text != "next_open" {
		return nil, &usageError{fmt.Sprintf("--until: %q is no time: write a time of the day such as 19:00, "+
			"a duration such as 45m, or 2026-12-31T19:00:00+03:00", text)}
	}
	return &text, nil
}

// print prints what holds, one restriction in each line.
func (a *availability) print(env *Environment) {
	said := func(what string, r *restriction) {
		end := ", until you end it"
		if r.Until != nil {
			end = " until " + r.Until.Local().Format("2006-01-02 15:04 -07:00")
		}
		env.Out.Println(joined(": ", what+end, r.Note))
	}
	for _, kind := range []string{"delivery", "pickup"} {
		if r := a.Pause[kind]; r != nil {
			said("no orders for "+kind, r)
			lead, err := time.ParseDuration(a.LeadTime[kind]) // an older daemon does not send it
			if err == nil && r.Until != nil && !r.Until.After(time.Now().Add(lead)) {
				env.Out.Println("  This pause changes nothing for guests now: an order for " + kind + " takes at least " + a.LeadTime[kind] + ".")
			}
		}
	}
	if a.Busy != nil {
		said("orders take at least "+a.Busy.LeadTime, a.Busy)
	}
	for i := range a.Snoozed {
		said("not sold: "+a.Snoozed[i].Name, &a.Snoozed[i])
	}
	ends := func(r *restriction) bool { return r != nil && r.Until != nil }
	switch {
	case ends(a.Pause["delivery"]) || ends(a.Pause["pickup"]):
		env.Out.Println("Orders for the end of a pause or later are still accepted.")
	case a.Pause["delivery"] == nil && a.Pause["pickup"] == nil && a.Busy == nil && len(a.Snoozed) == 0:
		env.Out.Println("open: no operator restricts orders")
	}
}

// itemIDs returns the ids of dishes and options that are given by id, or by the name of only one of them. What the menu does not
// have stays as it is given.
func (env *Environment) itemIDs(cmd *cobra.Command, restaurant string, given []string) ([]string, error) {
	type items struct{ Products, Ingredients []struct{ ID, Name string } }
	daemon := target(cmd, env, auth.ScopeMenu)
	served, err := atRestaurant(cmd.Context(), daemon, restaurant, func(id string) (items, error) {
		return client.Get[items](cmd.Context(), daemon, client.RestaurantPath(id)+"/menu")
	})
	if err != nil {
		return nil, err
	}
	ids := slices.Clone(given)
	for i, name := range given {
		var named []string
		for _, item := range slices.Concat(served.Products, served.Ingredients) {
			if item.ID == name {
				named = []string{name}
				break
			}
			if strings.EqualFold(item.Name, name) && !slices.Contains(named, item.ID) {
				named = append(named, item.ID)
			}
		}
		switch len(named) {
		case 0:
		case 1:
			ids[i] = named[0]
		default:
			ids := FirstOf(named, len(named))
			return nil, &usageError{fmt.Sprintf("%d dishes and options have the name %q: use the ids %s", len(named), name, ids)}
		}
	}
	return ids, nil
}
