package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"larder.local/tools/bench/measure"
	"larder.local/tools/bench/orders"
)

// maxInstances limits the processes that are started.
const maxInstances = 16

func instancesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "instances",
		Short: "Measure how many orders several instances place, and what limits them",
		Long: `Measure orders per second and the CPU time of each program per order with several
instances of larder: on one Redis, and on a cluster of three masters with eight
connections (tenants), each without and with a replica that every order waits for.
The generator has 64 connections. The command names the first bottleneck and
estimates what 10,000 orders per second require. All processes stop and all temporary
files are removed when the command ends. Linux only; needs redis-server 7 or newer.

--out PAGE writes the figures into a Markdown page, between its marks, and a plot
into the same folder.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := growthOf(cmd)
			if err != nil {
				return err
			}
			return g.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.IntSlice("instances", []int{1, 2, 4}, "numbers of instances to measure")
	flags.Int("rounds", 3, "how often each number is measured")
	flags.Duration("for", 2*time.Second, "duration of each run")
	flags.String("out", "", "Markdown page to write the figures into")
	addCommonFlags(cmd)
	return cmd
}

// growth contains the options of `larder-bench instances`.
type growth struct {
	cmd     *cobra.Command
	plan    orders.Instances
	out     page
	dir     string
	command string
}

// growthOf reads the flags.
func growthOf(cmd *cobra.Command) (*growth, error) {
	flags := cmd.Flags()
	g := &growth{cmd: cmd, out: page{plot: "instances.svg", replace: orders.ReplaceGrowth}, command: commandOf(cmd)}
	g.plan.Counts, _ = flags.GetIntSlice("instances")
	g.plan.Rounds, _ = flags.GetInt("rounds")
	g.plan.For, _ = flags.GetDuration("for")
	g.plan.Setups = orders.Setups()
	g.plan.Say = sayTo(cmd.ErrOrStderr())
	g.out.path, _ = flags.GetString("out")
	g.dir, _ = flags.GetString("dir")
	slices.Sort(g.plan.Counts)
	g.plan.Counts = slices.Compact(g.plan.Counts)
	if n := len(g.plan.Counts); n == 0 || g.plan.Counts[0] < 1 || g.plan.Counts[n-1] > maxInstances {
		return nil, &usageError{fmt.Sprintf("--instances: numbers between 1 and %d", maxInstances)}
	}
	if err := checkRounds(g.plan.Rounds, g.plan.For); err != nil {
		return nil, err
	}
	var err error
	if g.plan.Larder, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return nil, err
	}
	return g, g.out.check()
}

// run measures in a temporary folder, and shows the figures.
func (g *growth) run(ctx context.Context) (err error) {
	machine, err := measure.ThisMachine(ctx, g.plan.Larder)
	if err != nil {
		return err
	}
	if g.plan.Dir, err = os.MkdirTemp(g.dir, "larder-instances-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.plan.Dir)) }()
	report, err := g.plan.Measure(ctx)
	if err != nil {
		return err
	}
	machine.Redis = report.Machine.Redis
	report.Machine, report.Command = machine, g.command
	return errors.Join(show(g.cmd, report, report.Table()), g.out.write(report.Section(g.out.plot), report.Plot()))
}
