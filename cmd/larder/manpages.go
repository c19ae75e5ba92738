//go:build manpages

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"larder.local/cmd/larder/cli"
)

// init adds the command `larder man DIR`, which writes the manual pages of a release into DIR.
func init() {
	if len(os.Args) != 3 || os.Args[1] != "man" {
		return
	}
	root := newRoot(&cli.Environment{})
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // no line with today's date; SOURCE_DATE_EPOCH sets the date of the pages
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "larder", Manual: "Manual of larder"}, os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "larder:", err)
		os.Exit(cli.StatusFailed)
	}
	os.Exit(cli.StatusDone)
}
