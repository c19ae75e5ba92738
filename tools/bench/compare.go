package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"larder.local/tools/bench/compare"
)

func compareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare what two builds of larder do with the same orders, menus, faults and configurations",
		Long: `Give two builds of larder the same random orders, changes of orders, menus, faults of
the ordering service and broken configurations. The command compares the answers, the
bytes that they send to the ordering service, the events of the log, the names of the
metrics, and the output and exit status of commands. Ids, times and addresses may
differ. Each build has its own redis-server. Differences that are decided stand in
tools/bench/decided.txt; any other ends the command with exit status 1. Linux only.`,
		Args: noArguments,
		RunE: comparePrograms,
	}
	flags := cmd.Flags()
	flags.String("old", "", "the older larder binary")
	flags.Int("orders", 10000, "number of orders and changes")
	flags.Int("menus", 300, "number of menus")
	flags.Int("configs", 300, "number of broken configurations")
	flags.Uint64("seed", 1, "seed of the random steps")
	addCommonFlags(cmd)
	return cmd
}

func comparePrograms(cmd *cobra.Command, _ []string) (err error) {
	flags := cmd.Flags()
	plan := compare.Plan{Say: sayTo(cmd.ErrOrStderr())}
	plan.Orders, _ = flags.GetInt("orders")
	plan.Menus, _ = flags.GetInt("menus")
	plan.Configs, _ = flags.GetInt("configs")
	plan.Seed, _ = flags.GetUint64("seed")
	if plan.New, err = programOf(cmd, "larder", "larder", "build"); err != nil {
		return err
	}
	if plan.Old, err = programOf(cmd, "old", "larder-old", "compare"); err != nil {
		return err
	}
	within, _ := flags.GetString("dir")
	if plan.Dir, err = os.MkdirTemp(within, "larder-compare-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(plan.Dir)) }()
	report, err := plan.Run(cmd.Context())
	if err != nil {
		return err
	}
	decided, err := decidedDifferences(decidedText)
	if err != nil {
		return err
	}
	open := report.Without(decided)
	if err := show(cmd, open, open.Text()); err != nil {
		return err
	}
	if len(open.Differences) > 0 {
		return fmt.Errorf("%d differences that are not decided", len(open.Differences))
	}
	return nil
}

//go:embed decided.txt
var decidedText string

// decidedDifferences reads a list: one pattern in a line, comments begin with #.
func decidedDifferences(text string) ([]*regexp.Regexp, error) {
	var found []*regexp.Regexp
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("decided.txt: %w", err)
		}
		found = append(found, pattern)
	}
	return found, lines.Err()
}
