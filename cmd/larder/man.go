package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// deploy/man is what packages install; a test holds it to the commands.
//go:generate go run -tags nomsgpack . man ../../deploy/man

// manDay stands on every page: the day when the command line last changed.
const manDay = "2026-11-22"

func manCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: `Write a manual page for each command into a folder, such as
/usr/local/share/man/man1; "man larder-sync" then shows the one of larder sync.
Pages that are there are replaced.`,
		Args: takes(1, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			written, err := writeManual(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return printJSON(w.out, written)
			}
			w.out.printf("%s in %s\n", plural(len(written), "page", "pages"), args[0])
			return nil
		}),
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	addJSON(cmd)
	return cmd
}

// writeManual writes the pages of a command and of all below it, and gives the
// names of the files.
func writeManual(cmd *cobra.Command, dir string) (written []string, err error) {
	name := manName(cmd) + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(manPage(cmd)), 0o644); err != nil { //nolint:gosec // G306: a manual is for everyone
		return nil, fmt.Errorf("write a manual page: %w", err)
	}
	written = []string{name}
	for _, inner := range cmd.Commands() {
		if !inner.IsAvailableCommand() {
			continue
		}
		below, err := writeManual(inner, dir)
		if err != nil {
			return nil, err
		}
		written = append(written, below...)
	}
	slices.Sort(written)
	return written, nil
}

// manName is larder-order-list for "larder order list".
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page in the words of man(7), which every man understands.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add(`.\" Written by larder man; do not edit.`)
	add(`.TH %s 1 %s larder "Manual of larder"`, roff(strings.ToUpper(manName(cmd))), manDay)
	add(".SH NAME")
	add(`%s \- %s`, roff(manName(cmd)), roff(cmd.Short))
	add(".SH SYNOPSIS")
	add(".B %s", roff(cmd.CommandPath()))
	add("%s", roff(strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))))
	add(".SH DESCRIPTION")
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	prose(add, long)
	manCommands(add, cmd)
	manFlags(add, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(add, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		add(".SH EXAMPLES")
		literal(add, cmd.Example)
	}
	if !cmd.HasParent() {
		add(".SH ENVIRONMENT")
		prose(add, "Options of connection and output can also be set by an environment variable, which\nthe manual names in parentheses; the command line wins. NO_COLOR, when it is not empty, and TERM=dumb turn colours off.")
	}
	add(".SH EXIT STATUS")
	prose(add, "0: done. 1: understood and not done, with the reason and what to try on standard\nerror. 2: the command line itself is wrong.")
	add(".SH SEE ALSO")
	add("%s", seeAlso(cmd))
	return b.String()
}

// prose writes paragraphs; indented lines stay as they are.
func prose(add func(format string, args ...any), text string) {
	paragraph := false // a new one is due before the next line
	var indented []string
	flush := func() {
		if len(indented) > 0 {
			add(".PP")
			literal(add, strings.Join(indented, "\n"))
			indented, paragraph = nil, true
		}
	}
	for text := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch {
		case strings.HasPrefix(text, " "), strings.HasPrefix(text, "\t"):
			indented = append(indented, text)
		case strings.TrimSpace(text) == "":
			flush()
			paragraph = true
		default:
			flush()
			if paragraph {
				add(".PP")
			}
			paragraph = false
			add("%s", roff(text))
		}
	}
	flush()
}

// literal writes lines as they are.
func literal(add func(format string, args ...any), text string) {
	add(".nf")
	for text := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		add("%s", roff(strings.ReplaceAll(strings.TrimRight(text, " \t"), "\t", "    ")))
	}
	add(".fi")
}

// manCommands lists the commands below one.
func manCommands(add func(format string, args ...any), cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	add(".SH COMMANDS")
	for _, inner := range cmd.Commands() {
		if inner.IsAvailableCommand() {
			add(".TP")
			add(".BR %s (1)", roff(manName(inner)))
			add("%s", roff(inner.Short))
		}
	}
}

// manFlags lists flags with their usage.
func manFlags(add func(format string, args ...any), title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	add(".SH %s", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roff(value) + `\fR`
		}
		add(".TP")
		add("%s", name)
		add("%s", roff(usage+usualValue(f)))
	})
}

// usualValue tells a flag's default, where it has one.
func usualValue(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0":
		return ""
	default:
		return "; default: " + f.DefValue
	}
}

// seeAlso names the pages around a command's.
func seeAlso(cmd *cobra.Command) string {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Parent()))
		for _, beside := range cmd.Parent().Commands() {
			if beside != cmd && beside.IsAvailableCommand() && cmd.Parent().HasParent() {
				names = append(names, manName(beside))
			}
		}
	} else {
		for _, inner := range cmd.Commands() {
			if inner.IsAvailableCommand() {
				names = append(names, manName(inner))
			}
		}
	}
	lines := make([]string, len(names))
	for i, name := range names {
		end := " ,"
		if i == len(names)-1 {
			end = ""
		}
		lines[i] = ".BR " + roff(name) + " (1)" + end
	}
	return strings.Join(lines, "\n")
}

// roff is a text with what man(7) would take for its own words escaped.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
