package main

import (
	"github.com/fatih/color"
	"github.com/spf13/cobra"
)

// palette colours words for people. Without on every word stays as it is.
type palette struct{ on bool }

// colours are those of standard output: only on a terminal, never where JSON
// was asked for, nor with NO_COLOR or TERM=dumb.
func (w *world) colours(cmd *cobra.Command) palette {
	return palette{on: w.outTerminal && w.mayColour() && !asJSON(cmd)}
}

// errorColours are those of standard error.
func (w *world) errorColours() palette { return palette{on: w.terminal && w.mayColour()} }

// mayColour tells whether the environment leaves colours to the program
// (https://no-color.org: NO_COLOR counts when it is not empty).
func (w *world) mayColour() bool {
	noColour, _ := variable(w.env, "NO_COLOR")
	return noColour == "" && !w.dumb()
}

// dumb tells whether the terminal can do no more than print lines.
func (w *world) dumb() bool {
	term, _ := variable(w.env, "TERM")
	return term == "dumb"
}

func (p palette) good(text string) styled { return p.as(text, color.FgGreen) }
func (p palette) bad(text string) styled  { return p.as(text, color.FgRed) }
func (p palette) odd(text string) styled  { return p.as(text, color.FgYellow) }

func (p palette) as(text string, look color.Attribute) styled {
	text = safe(text)
	if !p.on || text == "" {
		return styled(text)
	}
	c := color.New(look)
	c.EnableColor() // the library's own guess is about another terminal
	return styled(c.Sprint(text))
}
