package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/ordertest"
	"larder.local/tools/bench/measure"
	"larder.local/tools/bench/peers"
)

func peersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "Compare reads with nginx, Varnish, HAProxy and Gin on the same bytes",
		Long: `Compare larder with nginx (proxy_cache and files), Varnish, HAProxy, Gin handlers
and a bare epoll loop that serve the same bytes. The servers are measured in
alternation: requests per second, server CPU time per request, latency at a fixed
rate, and the ratios of paired rounds against limits and gates. In pinned mode,
servers run on core 0 and the load generator on core 1. larder uses a real Redis
and the sandbox. All processes stop and all temporary files are removed when the
command ends. Linux only.

nginx, varnishd, haproxy, wrk and redis-server must be installed ("make
bench-peers" does that) and the peer program built:
  make larder-peer

--smoke takes two minutes: short pinned runs. A ratio below its gate is measured
once more, for longer. The command fails if the ratio stays below its gate.
--out PAGE writes the figures into a Markdown page, between its marks, and a plot
into the same folder.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := comparisonOf(cmd)
			if err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.Int("rounds", 5, "how often each server is measured")
	flags.Duration("for", 3*time.Second, "duration of each measurement, in whole seconds")
	flags.StringSlice("modes", []string{peers.Pinned, peers.Unpinned}, "pinned (server and generator on their own cores), unpinned, or both")
	flags.StringSlice("only", nil, "names of scenarios, such as 304 or \"M gzip\"; default: all")
	flags.Bool("smoke", false, "three rounds of one second, pinned, no latencies")
	flags.String("program", "", "the peer program; default: larder-peer in the folder of this program")
	flags.String("out", "", "Markdown page to write the figures into")
	addCommonFlags(cmd)
	return cmd
}

// comparison contains the options of `larder-bench peers`.
type comparison struct {
	cmd     *cobra.Command
	plan    peers.Plan
	out     page
	dir     string
	command string // the command line
	smoke   bool
}

// comparisonOf reads the flags.
func comparisonOf(cmd *cobra.Command) (*comparison, error) {
	flags := cmd.Flags()
	c := &comparison{cmd: cmd, out: page{plot: "peers.svg", replace: peers.Replace}}
	c.plan.Rounds, _ = flags.GetInt("rounds")
	c.plan.For, _ = flags.GetDuration("for")
	c.plan.Modes, _ = flags.GetStringSlice("modes")
	c.plan.Only, _ = flags.GetStringSlice("only")
	c.plan.Warm, c.plan.Tails = true, true
	c.out.path, _ = flags.GetString("out")
	c.dir, _ = flags.GetString("dir")
	c.plan.Say = sayTo(cmd.ErrOrStderr())
	c.command = commandOf(cmd)
	if c.smoke, _ = flags.GetBool("smoke"); c.smoke {
		c.plan.Rounds, c.plan.For, c.plan.Modes = 3, time.Second, []string{peers.Pinned}
		c.plan.Warm, c.plan.Tails, c.plan.Checked = false, false, true
	}
	slices.Sort(c.plan.Modes)
	c.plan.Modes = slices.Compact(c.plan.Modes)
	switch {
	case c.plan.Rounds < 1 || c.plan.Rounds > 100:
		return nil, &usageError{fmt.Sprintf("--rounds: between 1 and 100, not %d", c.plan.Rounds)}
	case c.plan.For < time.Second || c.plan.For > time.Minute || c.plan.For%time.Second != 0:
		return nil, &usageError{fmt.Sprintf("--for: whole seconds, between 1s and 1m, not %v", c.plan.For)}
	case len(c.plan.Modes) == 0:
		return nil, &usageError{"--modes: pinned, unpinned, or both"}
	}
	for _, mode := range c.plan.Modes {
		if mode != peers.Pinned && mode != peers.Unpinned {
			return nil, &usageError{fmt.Sprintf("--modes: pinned, unpinned, or both, not %q", mode)}
		}
	}
	known := peers.Scenarios(peers.Menus{})
	for _, name := range c.plan.Only {
		if !slices.ContainsFunc(known, func(e peers.Scenario) bool { return e.Name == name }) {
			names := make([]string, len(known))
			for i, e := range known {
				names[i] = e.Name
			}
			return nil, &usageError{fmt.Sprintf("--only: unknown scenario %q (valid: %q)", name, names)}
		}
	}
	var err error
	if c.plan.Layout.Program, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return nil, err
	}
	if c.plan.Program, err = programOf(cmd, "program", "larder-peer", "larder-peer"); err != nil {
		return nil, err
	}
	return c, c.out.check()
}

// run measures in a temporary folder, and shows the figures.
func (c *comparison) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(c.dir, "larder-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c.plan.Layout.Dir = dir
	if err := c.stock(dir); err != nil {
		return err
	}
	machine, err := measure.ThisMachine(ctx, c.plan.Layout.Program)
	if err != nil {
		return err
	}
	report, err := c.plan.Measure(ctx)
	if err != nil {
		return err
	}
	machine.Redis = report.Machine.Redis
	report.Machine, report.Command = machine, c.command
	err = errors.Join(show(c.cmd, report, report.Table()), c.out.write(report.Section(c.out.plot), report.Plot()))
	if err != nil || !slices.Contains(c.plan.Modes, peers.Pinned) {
		return err
	}
	if missed := report.Missed(); c.smoke && len(missed) > 0 {
		return c.again(ctx, missed, report.Gates())
	}
	return report.Gates()
}

// again measures scenarios below their gate once more, for longer: another program
// may have used the machine for some seconds.
func (c *comparison) again(ctx context.Context, missed []string, before error) error {
	c.plan.Say("%v\nmeasuring %q once more", before, missed)
	plan := c.plan
	plan.Only, plan.Rounds, plan.Warm = missed, 5, true
	plan.Layout.Dir = filepath.Join(plan.Layout.Dir, "again")
	report, err := plan.Measure(ctx)
	if err != nil {
		return err
	}
	return report.Gates()
}

// The sizes of the menus, in dishes; the order is for the large one.
const (
	smallDishes  = 60
	mediumDishes = 400
)

// stock creates three menus and an order, and adds them to the plan.
func (c *comparison) stock(dir string) error {
	order, err := ordertest.FiveLines(time.Now().Add(24 * time.Hour))
	if err != nil {
		return err
	}
	small := sandbox.Generate{Restaurants: 3, Products: smallDishes, Seed: 1}
	medium := sandbox.Generate{Restaurants: 3, Products: mediumDishes, Seed: 1}
	c.plan.Menus = peers.Menus{
		Small:  small.RestaurantID(1),
		Medium: medium.RestaurantID(2),
		Large:  string(order.Restaurant),
		Order:  order.Body,
	}
	layout := &c.plan.Layout
	// No rate limit for validations: all of them come from the generator's address.
	layout.Env = []string{"LARDER_HTTP_ACCESS_LOG=sampled", "LARDER_HTTP_RATE_VALIDATE=1000000/s"}
	layout.Schedule = "@every 2m"
	for _, m := range []struct {
		id   string
		view []byte
	}{
		{c.plan.Menus.Small, small.Menu(1)},
		{c.plan.Menus.Medium, medium.Menu(2)},
		{c.plan.Menus.Large, order.View},
	} {
		file := filepath.Join(dir, m.id+".json")
		if err := os.WriteFile(file, m.view, 0o600); err != nil {
			return err
		}
		layout.Restaurants = append(layout.Restaurants, m.id)
		layout.Sandbox = append(layout.Sandbox, "--menu", file)
	}
	c.plan.Menus.Dish, err = dishOf(medium.Menu(2), c.plan.Menus.Medium)
	return err
}

// dishBytes is the wanted length of a product's response.
const dishBytes = 2200

// dishOf returns the dish whose response is closest to dishBytes.
func dishOf(view []byte, restaurant string) (string, error) {
	read, err := menu.Decode(view)
	if err != nil {
		return "", err
	}
	catalogue := menu.Compile(read, menu.RestaurantID(restaurant), menu.DefaultSettings())
	least, found := 0, ""
	for i, product := range catalogue.Products().All() {
		length := len(catalogue.AppendProduct(nil, i, 1))
		if off := max(length-dishBytes, dishBytes-length); found == "" || off < least {
			least, found = off, product.ID()
		}
	}
	if found == "" {
		return "", errors.New("the menu has no dish")
	}
	return found, nil
}
