package main

import "github.com/spf13/cobra"

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
