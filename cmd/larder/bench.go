package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func benchCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure larder on this machine, with real processes on loopback",
		Args:  takes(0, 0),
		RunE:  needsSubcommand(),
	}
	cmd.AddCommand(benchScaleCommand(w), benchSoakCommand(w), benchPeersCommand(w))
	return cmd
}

// benchEnv gives the flags of a measurement variables of their own: those of
// the configuration mean larders that serve.
func benchEnv(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		setEnv(cmd, f.Name, "LARDER_BENCH_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	})
}
