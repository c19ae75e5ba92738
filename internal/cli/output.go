package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/spf13/cobra"
)

// AddJSON adds the --json flag.
func AddJSON(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print JSON for programs instead of text for people")
	SetEnv(cmd.Flags(), "json", "LARDER_JSON")
}

// AsJSON reports whether JSON was asked for.
func AsJSON(cmd *cobra.Command) bool {
	return BoolFlag(cmd, "json") // false without the flag
}

// Show prints a value as JSON where that is asked for, else as text does.
func (env *Environment) Show(cmd *cobra.Command, value any, text func()) error {
	if AsJSON(cmd) {
		return PrintJSON(env.Out, value)
	}
	text()
	return nil
}

// PrintJSON writes a value as indented JSON and a line end. What is JSON already
// is only indented: every number stays as it came.
func PrintJSON(out Printer, value any) (err error) {
	text, raw := value.(json.RawMessage)
	if !raw {
		text, err = json.Marshal(value)
	}
	var indented bytes.Buffer
	if err == nil {
		err = json.Indent(&indented, text, "", "  ")
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	indented.WriteByte('\n')
	_, err = indented.WriteTo(out.Raw)
	return err
}

// Printer prints for people. It is no io.Writer, so that nothing reaches a
// terminal without going through Safe (policy H9): names, messages and ids come
// from ordering services and could otherwise clear the screen, set the window's
// title or forge lines.
type Printer struct {
	// Raw takes bytes as they are: JSON, YAML, the log, and what draws on the
	// terminal itself.
	Raw io.Writer
}

// Printf formats as fmt does. What the format itself says is printed as it is,
// and every argument through Safe, unless it is styled already.
// That nobody reads any more is no failure of a command.
func (p Printer) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the formats of callers
	}
	fmt.Fprintf(p.Raw, format, safeArgs(args)...)
}

// Println prints its arguments through Safe, and a line end.
func (p Printer) Println(args ...any) {
	fmt.Fprintln(p.Raw, safeArgs(args)...)
}

// table prints rows in aligned columns.
func (p Printer) table(rows [][]string) {
	columns := tabwriter.NewWriter(p.Raw, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(columns, strings.Join(mapped(row, Safe), "\t"))
	}
	_ = columns.Flush() // as of Printf
}

// styled is text that is safe already and holds colours of the palette.
type styled string

func safeArgs(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		if _, ok := arg.(styled); ok {
			safe[i] = arg
			continue
		}
		safe[i] = safeValue{arg}
	}
	return safe
}

// safeValue is formatted as its value is, and then made safe.
type safeValue struct{ value any }

// Format implements fmt.Formatter.
func (s safeValue) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Safe(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // fmt keeps the error of its writer
}

// Safe is text as a terminal may show it (policy H9): control characters, the
// line end included, and invisible format characters such as those that turn the
// direction of writing become escapes (\x1b, \u202e). The joiners U+200C and
// U+200D stay, which Persian and emoji need.
func Safe(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1: // some terminals take 0x9b for the beginning of a command
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case isUnsafe(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// palette colours words for people. Without on every word stays as it is.
type palette struct{ on bool }

// colours are those of standard output: only on a terminal, never where JSON
// was asked for, nor with NO_COLOR or TERM=dumb.
func (env *Environment) colours(cmd *cobra.Command) palette {
	return palette{on: env.OutTerminal && env.mayColour() && !AsJSON(cmd)}
}

// errorColours are those of standard error.
func (env *Environment) errorColours() palette { return palette{on: env.ColoursErrors()} }

// ColoursErrors reports whether standard error takes colours.
func (env *Environment) ColoursErrors() bool { return env.Terminal && env.mayColour() }

// mayColour reports whether the environment allows colours
// (https://no-color.org: NO_COLOR counts when it is not empty).
func (env *Environment) mayColour() bool {
	noColour, _ := Variable(env.Environ, "NO_COLOR")
	return noColour == "" && !env.dumb()
}

// dumb reports whether the terminal can do no more than print lines.
func (env *Environment) dumb() bool {
	term, _ := Variable(env.Environ, "TERM")
	return term == "dumb"
}

func (p palette) good(text string) styled { return p.as(text, color.FgGreen) }
func (p palette) bad(text string) styled  { return p.as(text, color.FgRed) }
func (p palette) warn(text string) styled { return p.as(text, color.FgYellow) }

func (p palette) as(text string, look color.Attribute) styled {
	text = Safe(text)
	if !p.on || text == "" {
		return styled(text)
	}
	c := color.New(look)
	c.EnableColor() // the library's own guess is about another terminal
	return styled(c.Sprint(text))
}

// Plural is "1 dish" or "2 dishes".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// mapped returns what each makes of every item.
func mapped[T, U any](items []T, each func(T) U) []U {
	made := make([]U, len(items))
	for i, item := range items {
		made[i] = each(item)
	}
	return made
}

// labelled puts a label before a text that is not empty.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// MaxListed is how many ids a line names.
const MaxListed = 5

// FirstOf lists the first ids of total.
func FirstOf(ids []string, total int) string {
	shown := ids[:min(len(ids), MaxListed)]
	text := strings.Join(shown, ", ")
	if total > len(shown) {
		text += fmt.Sprintf(", … (%d more)", total-len(shown))
	}
	return text
}

// stripPackage is an error's text without the name of the package that it comes from,
// which tells a person nothing.
func stripPackage(text string) string {
	for _, name := range []string{"cache: ", "configs: ", "httpapi: ", "menu: ", "ordering: ", "redisdb: ", "sync: ", "upstream: "} {
		text = strings.TrimPrefix(text, name)
	}
	return text
}
