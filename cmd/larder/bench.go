package main

import (
	"github.com/spf13/cobra"
)

func benchCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure larder on this machine, with real processes on loopback",
		Args:  cobra.NoArgs,
		RunE:  needsSubcommand(),
	}
	cmd.AddCommand(benchScaleCommand(w))
	return cmd
}
