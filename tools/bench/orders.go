package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder.local/tools/bench/measure"
	"larder.local/tools/bench/orders"
)

func ordersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "orders",
		Short: "Compare placing and changing orders with the usual implementation",
		Long: `Compare larder with the usual implementation of the same routes: Gin binds the
JSON, SET NX takes the idempotency key, net/http sends the order, and SET stores the
answer. It validates and records nothing. Both use the same redis-server and the
same sandbox, and are loaded in turn over 64 connections: create, replay (the same
keys again), pay, complete and reject. The command measures requests per second and
the CPU time of each program per request, with appendfsync everysec, and with always
and one replica. Then it measures latencies at 300 and 1,000 orders per second. A response
with another status ends the command. All processes stop and all temporary files are
removed when the command ends. Linux only.

redis-server must be installed and the peer program built:
  make larder-peer

--smoke takes half a minute: short runs of create and replay. A ratio that misses its
gate is measured once more, for longer. The command fails if it misses it again.
--out PAGE writes the figures into a Markdown page, between its marks.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := orderComparisonOf(cmd)
			if err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.Int("rounds", 5, "how often each server is measured")
	flags.Duration("for", 2*time.Second, "duration of a run that places orders; other runs take half of it")
	flags.Bool("latencies", true, "also measure latencies at fixed rates")
	flags.Bool("only-latencies", false, "measure nothing else")
	flags.Bool("no-reuse", false, "larder opens a TCP connection for each order (connections[].timeouts.reuse: 0)")
	flags.Bool("smoke", false, "three rounds of one second, create and replay")
	flags.String("program", "", "the peer program; default: larder-peer in the folder of this program")
	flags.String("out", "", "Markdown page to write the figures into")
	addCommonFlags(cmd)
	return cmd
}

// orderComparison contains the options of `larder-bench orders`.
type orderComparison struct {
	cmd     *cobra.Command
	plan    orders.Plan
	out     page
	dir     string
	command string // the command line
	smoke   bool
}

// orderComparisonOf reads the flags.
func orderComparisonOf(cmd *cobra.Command) (*orderComparison, error) {
	flags := cmd.Flags()
	c := &orderComparison{cmd: cmd, out: page{replace: orders.Replace}, command: commandOf(cmd)}
	c.plan.Rounds, _ = flags.GetInt("rounds")
	c.plan.For, _ = flags.GetDuration("for")
	c.plan.Latencies, _ = flags.GetBool("latencies")
	c.plan.OnlyLatencies, _ = flags.GetBool("only-latencies")
	c.plan.Operations = []string{orders.Create, orders.Replay, orders.Pay, orders.Complete, orders.Reject}
	c.plan.Say = sayTo(cmd.ErrOrStderr())
	c.plan.NoReuse, _ = flags.GetBool("no-reuse")
	c.out.path, _ = flags.GetString("out")
	c.dir, _ = flags.GetString("dir")
	if c.smoke, _ = flags.GetBool("smoke"); c.smoke {
		c.plan.Rounds, c.plan.For, c.plan.Latencies = 3, time.Second, false
		c.plan.Operations = []string{orders.Create, orders.Replay}
	}
	if err := checkRounds(c.plan.Rounds, c.plan.For); err != nil {
		return nil, err
	}
	var err error
	if c.plan.Larder, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return nil, err
	}
	if c.plan.Peer, err = programOf(cmd, "program", "larder-peer", "larder-peer"); err != nil {
		return nil, err
	}
	return c, c.out.check()
}

// checkRounds checks --rounds and --for.
func checkRounds(rounds int, d time.Duration) error {
	switch {
	case rounds < 1 || rounds > 100:
		return &usageError{fmt.Sprintf("--rounds: between 1 and 100, not %d", rounds)}
	case d < 100*time.Millisecond || d > time.Minute:
		return &usageError{fmt.Sprintf("--for: between 100ms and 1m, not %v", d)}
	}
	return nil
}

// commandOf returns the command line without the flags that depend on this machine.
func commandOf(cmd *cobra.Command) string {
	line := "larder-bench " + cmd.Name()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "larder" && f.Name != "program" && f.Name != "dir" {
			line += " --" + f.Name + "=" + f.Value.String()
		}
	})
	return line
}

// run measures, and shows the figures.
func (c *orderComparison) run(ctx context.Context) error {
	report, err := c.measure(ctx, c.plan)
	if err != nil {
		return err
	}
	if err := errors.Join(show(c.cmd, report, report.Table()), c.out.write(report.Section(), "")); err != nil {
		return err
	}
	gates := report.Gates()
	if !c.smoke || gates == nil {
		return gates
	}
	// Another program may have used the machine for some seconds.
	c.plan.Say("%v\nmeasuring once more", gates)
	longer := c.plan
	longer.Rounds, longer.For = 5, 2*time.Second
	if report, err = c.measure(ctx, longer); err != nil {
		return err
	}
	return report.Gates()
}

// measure measures in a temporary folder.
func (c *orderComparison) measure(ctx context.Context, plan orders.Plan) (report orders.Report, err error) {
	machine, err := measure.ThisMachine(ctx, plan.Larder)
	if err != nil {
		return report, err
	}
	if plan.Dir, err = os.MkdirTemp(c.dir, "larder-orders-"); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(plan.Dir)) }()
	if report, err = plan.Measure(ctx); err != nil {
		return report, err
	}
	machine.Redis = report.Machine.Redis
	report.Machine, report.Command = machine, c.command
	return report, nil
}
