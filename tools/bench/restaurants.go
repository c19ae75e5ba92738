package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"larder.local/internal/sandbox"
	"larder.local/tools/bench/measure"
)

func restaurantsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restaurants",
		Short: "Measure how one instance grows with the number of restaurants",
		Long: `Measure one instance of larder for each size, with real processes on loopback. The
sandbox is the ordering service, and redis-server comes from the PATH. Redis is filled
directly, with what syncs write, because syncs of 100,000 restaurants take long. The
command measures the start, memory, the first reads, CPU at rest, and how fast a
change is visible. All processes stop and all temporary files are removed when the
command ends. Linux only: times and memory are read from /proc.

--out PAGE writes the figures into a Markdown page, between its marks, and a plot
into the same folder. 100,000 restaurants need 8 GiB of memory.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRestaurants(cmd)
		},
	}
	flags := cmd.Flags()
	flags.IntSlice("restaurants", []int{10_000, 30_000, 100_000}, "the sizes to measure")
	flags.Int("products", 400, "dishes per menu")
	flags.String("schedule", "@every 24h", "schedule of each restaurant")
	flags.Duration("settle", 20*time.Second, "pause after the start, before the measurement at rest")
	flags.Duration("window", 45*time.Second, "duration of the measurement at rest")
	flags.Int("reads", 40, "number of first reads during the start")
	flags.Int("changes", 20, "number of stop-list changes")
	flags.String("out", "", "Markdown page to write the figures into")
	addCommonFlags(cmd)
	return cmd
}

// runRestaurants reads the flags, measures, and shows the figures.
func runRestaurants(cmd *cobra.Command) error {
	flags := cmd.Flags()
	out := page{plot: "restaurants.svg", replace: measure.ReplaceGrowth}
	g := measure.Growth{Scale: measure.Scale{Say: sayTo(cmd.ErrOrStderr())}}
	g.Sizes, _ = flags.GetIntSlice("restaurants")
	g.Products, _ = flags.GetInt("products")
	g.Schedule, _ = flags.GetString("schedule")
	g.SteadyWithin, _ = flags.GetDuration("settle")
	g.Window, _ = flags.GetDuration("window")
	g.Reads, _ = flags.GetInt("reads")
	g.Changes, _ = flags.GetInt("changes")
	out.path, _ = flags.GetString("out")
	slices.Sort(g.Sizes)
	g.Sizes = slices.Compact(g.Sizes)
	switch {
	case len(g.Sizes) == 0 || g.Sizes[0] < 1 || g.Sizes[len(g.Sizes)-1] > maxRestaurants:
		return &usageError{fmt.Sprintf("--restaurants: sizes between 1 and %d", maxRestaurants)}
	case slices.ContainsFunc(g.Sizes[:len(g.Sizes)-1], func(size int) bool { return size%chainSize > 0 }):
		return &usageError{fmt.Sprintf("--restaurants: all sizes but the last are multiples of %d", chainSize)}
	case g.Products < 1 || g.Products > maxProducts:
		return &usageError{fmt.Sprintf("--products: between 1 and %d, not %d", maxProducts, g.Products)}
	case g.Window < time.Second || g.Reads < 1 || g.Changes < 0:
		return &usageError{"--window: at least 1s; --reads: at least 1; --changes: not below 0"}
	}
	var err error
	if g.Program, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return err
	}
	if err := out.check(); err != nil {
		return err
	}
	report, err := measureGrowth(cmd.Context(), cmd, g)
	if err != nil {
		return err
	}
	if err := out.write(report.Section(out.plot), report.Plot()); err != nil {
		return err
	}
	return show(cmd, report, report.Table())
}

// measureGrowth measures in a folder of its own.
func measureGrowth(ctx context.Context, cmd *cobra.Command, g measure.Growth) (report measure.GrowthReport, err error) {
	if report.Machine, err = measure.ThisMachine(ctx, g.Program); err != nil {
		return report, err
	}
	within, _ := cmd.Flags().GetString("dir")
	if g.Dir, err = os.MkdirTemp(within, "larder-bench-"); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.Dir)) }()
	const seed = 1
	largest := g.Sizes[len(g.Sizes)-1]
	g.Generate = sandbox.Generate{Restaurants: largest, Products: g.Products, Seed: seed, ChainSize: chainSize}
	g.Sandbox = []string{"--restaurants", strconv.Itoa(largest), "--products", strconv.Itoa(g.Products), "--seed", strconv.Itoa(seed)}
	if report.Sizes, err = g.Measure(ctx); err != nil {
		return report, err
	}
	report.Machine.Redis = report.Sizes[0].RedisVersion
	return report, nil
}
