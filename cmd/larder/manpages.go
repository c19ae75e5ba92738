//go:build manpages

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"larder/internal/cli"
)

// A release builds larder with the tag manpages once, to run `larder man DIR`,
// which writes a manual page for each command. No shipped program has it.
func init() {
	if len(os.Args) != 3 || os.Args[1] != "man" {
		return
	}
	root := newRoot(&cli.Environment{})
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // its date is SOURCE_DATE_EPOCH
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "larder", Manual: "Manual of larder"}, os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "larder:", err)
		os.Exit(cli.StatusFailed)
	}
	os.Exit(cli.StatusDone)
}
