//go:build manpages

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"larder/internal/cli"
)

// `larder man DIR` writes a manual page for each command. A release builds it once,
// with the tag manpages. The released program does not have this command.
func init() {
	if len(os.Args) != 3 || os.Args[1] != "man" {
		return
	}
	root := newRoot(&cli.Environment{})
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // the date is SOURCE_DATE_EPOCH
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "larder", Manual: "Manual of larder"}, os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "larder:", err)
		os.Exit(cli.StatusFailed)
	}
	os.Exit(cli.StatusDone)
}
