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

// The limits of sandbox.Generate.
const (
	maxRestaurants = sandbox.MaxGenerated
	maxProducts    = sandbox.MaxProducts
)

// chainSize is the number of generated restaurants that share a menu.
const chainSize = 50

func scaleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure how time, memory and CPU grow with the number of restaurants",
		Long: `Measure each size with real processes on loopback: the sandbox as the ordering
service, redis-server from the PATH, and several instances of larder. The command
measures the first fill, the memory and CPU of the replicas, a cold start from a
full Redis, and how fast a change reaches every replica. All processes stop and
all temporary files are removed when the command ends. Linux only: times and
memory are read from /proc.

--out PAGE writes the figures into a Markdown page, between its marks, and a plot
into the same folder. 10,000 restaurants take about 15 minutes on two cores. See also
larder-bench restaurants, which measures one instance with up to 100,000.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := planOf(cmd)
			if err != nil {
				return err
			}
			return plan.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.IntSlice("restaurants", []int{100, 1000}, "the sizes to measure")
	flags.Int("replicas", 3, "number of larder instances")
	flags.Int("products", 400, "dishes per menu")
	flags.Float64("rate", 40, "maximum calls to the ordering service per second, for each instance; 0: no limit")
	flags.String("schedule", "@every 2m", "schedule of each restaurant")
	flags.Duration("window", time.Minute, "duration of the steady-state measurement")
	flags.Duration("limit", 30*time.Minute, "maximum duration of the first fill of a size")
	flags.Duration("steady", 10*time.Minute, "maximum wait for the steady state")
	flags.Duration("polls", 30*time.Second, "duration of the measurement of a replica that only polls")
	flags.Int("reads", 40, "number of first reads after a cold start")
	flags.Int("changes", 100, "number of stop-list changes")
	flags.String("out", "", "Markdown page to write the figures into")
	addCommonFlags(cmd)
	return cmd
}

// plan contains the options of `larder-bench scale`.
type plan struct {
	cmd   *cobra.Command
	sizes []int
	scale measure.Scale
	out   page
	dir   string
}

// planOf reads the flags.
func planOf(cmd *cobra.Command) (*plan, error) {
	flags := cmd.Flags()
	p := &plan{cmd: cmd, out: page{plot: "scale.svg", replace: measure.Replace}}
	p.sizes, _ = flags.GetIntSlice("restaurants")
	p.scale.Replicas, _ = flags.GetInt("replicas")
	p.scale.Products, _ = flags.GetInt("products")
	p.scale.Rate, _ = flags.GetFloat64("rate")
	p.scale.Schedule, _ = flags.GetString("schedule")
	p.scale.Window, _ = flags.GetDuration("window")
	p.scale.FillWithin, _ = flags.GetDuration("limit")
	p.scale.SteadyWithin, _ = flags.GetDuration("steady")
	p.scale.PollWindow, _ = flags.GetDuration("polls")
	p.scale.Reads, _ = flags.GetInt("reads")
	p.scale.Changes, _ = flags.GetInt("changes")
	p.out.path, _ = flags.GetString("out")
	p.dir, _ = flags.GetString("dir")
	p.scale.Compare = measure.Unchanged
	p.scale.Say = sayTo(cmd.ErrOrStderr())
	slices.Sort(p.sizes)
	p.sizes = slices.Compact(p.sizes)
	switch {
	case len(p.sizes) == 0 || p.sizes[0] < 1 || p.sizes[len(p.sizes)-1] > maxRestaurants:
		return nil, &usageError{fmt.Sprintf("--restaurants: sizes between 1 and %d", maxRestaurants)}
	case p.scale.Replicas < 1 || p.scale.Replicas > 16:
		return nil, &usageError{fmt.Sprintf("--replicas: between 1 and 16, not %d", p.scale.Replicas)}
	case p.scale.Products < 1 || p.scale.Products > maxProducts:
		return nil, &usageError{fmt.Sprintf("--products: between 1 and %d, not %d", maxProducts, p.scale.Products)}
	case p.scale.Rate < 0 || p.scale.Window < time.Second || p.scale.FillWithin < time.Second || p.scale.Reads < 1 || p.scale.Changes < 0 || p.scale.PollWindow < time.Second:
		return nil, &usageError{"--rate, --changes: not below 0; --window, --limit, --polls: at least 1s; --reads: at least 1"}
	}
	var err error
	if p.scale.Program, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return nil, err
	}
	return p, p.out.check()
}

// run measures every size and shows the figures.
func (p *plan) run(ctx context.Context) error {
	machine, err := measure.ThisMachine(ctx, p.scale.Program)
	if err != nil {
		return err
	}
	report := measure.Report{Machine: machine}
	for _, size := range p.sizes {
		figures, err := p.measure(ctx, size)
		if err != nil {
			return fmt.Errorf("%d restaurants: %w", size, err)
		}
		report.Machine.Redis = figures.RedisVersion
		report.Sizes = append(report.Sizes, figures)
	}
	if err := p.out.write(report.Section(p.out.plot), report.Plot()); err != nil {
		return err
	}
	return show(p.cmd, report, report.Table())
}

// measure measures one size in its own folder.
func (p *plan) measure(ctx context.Context, size int) (figures measure.Figures, err error) {
	dir, err := os.MkdirTemp(p.dir, "larder-bench-")
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	const seed = 1
	generate := sandbox.Generate{
		Restaurants: size,
		Products:    p.scale.Products,
		Seed:        seed,
		ChainSize:   chainSize,
	}
	scale := p.scale
	scale.Dir = dir
	scale.Sandbox = []string{"--restaurants", strconv.Itoa(size), "--products", strconv.Itoa(scale.Products), "--seed", strconv.Itoa(seed)}
	for i := range size {
		scale.Restaurants = append(scale.Restaurants, generate.RestaurantID(i))
		if i%chainSize == 0 {
			scale.Menus++
			scale.RawBytes += int64(len(generate.Menu(i)))
		}
	}
	return scale.Measure(ctx)
}
