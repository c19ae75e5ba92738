package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"larder/internal/doctest"
)

var (
	flagWord   = regexp.MustCompile(`^--?([a-z-]+)`)
	targetForm = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// TestCommandsInSentences: what pages name in passing (`larder sync --all`,
// `make test`) is there too. Commands in blocks are run by TestDocs.
func TestCommandsInSentences(t *testing.T) {
	t.Parallel()
	pages, err := doctest.Find(root, "README.md", "CHANGELOG.md", "docs", "deploy")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, target := range targetForm.FindAllStringSubmatch(string(makefile), -1) {
		targets[target[1]] = true
	}
	seen := 0
	for _, page := range pages {
		for _, span := range page.Spans() {
			words := strings.Fields(span)
			switch {
			case len(words) < 2:
			case words[0] == "larder":
				seen++
				if wrong := noCommand(words[1:]); wrong != "" {
					t.Errorf("%s: `%s`: %s", page.Path, span, wrong)
				}
			case words[0] == "make" && !targets[words[1]]:
				t.Errorf("%s: `%s`: the Makefile has no such target", page.Path, span)
			}
		}
	}
	if least := 30; seen < least {
		t.Errorf("%d commands found, there were %d once", seen, least)
	}
}

// noCommand tells what of a command line larder does not have.
func noCommand(words []string) string {
	cmd, rest, err := newRoot(&world{}).Find(words)
	if err != nil {
		return err.Error()
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range rest {
		name := flagWord.FindStringSubmatch(word)
		if name == nil {
			if cmd.HasSubCommands() && word == strings.ToLower(word) {
				return cmd.CommandPath() + " has no " + word
			}
			continue
		}
		if cmd.Flags().Lookup(name[1]) == nil && cmd.InheritedFlags().Lookup(name[1]) == nil && cmd.Flags().ShorthandLookup(name[1][:1]) == nil {
			return cmd.CommandPath() + " has no --" + name[1]
		}
	}
	return ""
}
