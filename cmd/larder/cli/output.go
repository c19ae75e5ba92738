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
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"larder.local/configs"
)

// AddJSON adds the --json flag.
func AddJSON(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print JSON instead of text")
	SetEnv(cmd.Flags(), "json", "LARDER_JSON")
}

// AsJSON reports whether --json is set.
func AsJSON(cmd *cobra.Command) bool {
	return BoolFlag(cmd, "json") // false without the flag
}

// Show prints a value as JSON with --json, otherwise as text.
func (env *Environment) Show(cmd *cobra.Command, value any, text func()) error {
	if AsJSON(cmd) {
		return PrintJSON(env.Out, value)
	}
	text()
	return nil
}

// PrintJSON writes a value as indented JSON with a line break. It does not change the numbers of a json.RawMessage. It
// escapes the characters that Safe escapes (policy H9); JSON has them only in strings.
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
	var safe []byte
	for _, r := range indented.String() { // invalid UTF-8 becomes U+FFFD
		if r == '\n' || !isUnsafe(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	_, err = out.Raw.Write(append(safe, '\n'))
	return err
}

// withMember returns a JSON object with one more member at its end. Anything else is unchanged.
func withMember(object []byte, name string, value any) json.RawMessage {
	text, err := json.Marshal(value)
	inside, isObject := bytes.CutSuffix(bytes.TrimSpace(object), []byte("}"))
	if err != nil || !isObject {
		return object
	}
	return fmt.Appendf(nil, `%s,%q:%s}`, inside, name, text)
}

// Printer prints text for people. It is not an io.Writer, so that all text goes through Safe (policy H9): names,
// messages and ids from ordering services could clear the screen, set the window's title or forge lines.
type Printer struct {
	// Raw writes bytes unchanged: JSON, YAML, the log, and terminal control.
	Raw io.Writer
}

// Printf formats like fmt.Printf. Arguments go through Safe unless they are styled;
// the format does not. It ignores write errors, because nobody reads the output.
func (p Printer) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the formats of callers
	}
	fmt.Fprintf(p.Raw, format, safeArgs(args)...)
}

// Println prints its arguments through Safe, and a line break.
func (p Printer) Println(args ...any) {
	fmt.Fprintln(p.Raw, safeArgs(args)...)
}

// PrintLines prints the lines of a text.
func (p Printer) PrintLines(text string) {
	for line := range strings.Lines(text) {
		p.Println(strings.TrimSuffix(line, "\n"))
	}
}

// table prints rows in aligned columns.
func (p Printer) table(rows [][]string) {
	columns := tabwriter.NewWriter(p.Raw, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(columns, strings.Join(Mapped(row, Safe), "\t"))
	}
	_ = columns.Flush() // ignored, as in Printf
}

// styled is safe text with colours.
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

// safeValue is formatted like its value, through Safe.
type safeValue struct{ value any }

// Format implements fmt.Formatter.
func (s safeValue) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Safe(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // fmt returns the writer's error
}

// Safe returns text that is safe for a terminal (policy H9). It escapes control characters,
// including line breaks, and invisible format characters such as changes of the writing direction
// (\x1b, \u202e). It keeps the joiners U+200C and U+200D, which Persian and emoji need.
func Safe(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1: // some terminals interpret 0x9b as the start of a command
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

// palette colours text if on is set.
type palette struct{ on bool }

// colours is the palette of standard output: only on a terminal, without --json, NO_COLOR and TERM=dumb.
func (env *Environment) colours(cmd *cobra.Command) palette {
	return palette{on: env.OutTerminal && env.mayColour() && !AsJSON(cmd)}
}

// errorColours is the palette of standard error.
func (env *Environment) errorColours() palette { return palette{on: env.ColoursErrors()} }

// ColoursErrors reports whether standard error has colours.
func (env *Environment) ColoursErrors() bool { return env.Terminal && env.mayColour() }

// mayColour reports whether the environment allows colours: NO_COLOR is empty
// (https://no-color.org), and the terminal is not dumb.
func (env *Environment) mayColour() bool {
	noColour, _ := configs.Variable(env.Environ, "NO_COLOR")
	return noColour == "" && !env.dumb()
}

// dumb reports whether the terminal can only print lines.
func (env *Environment) dumb() bool {
	term, _ := configs.Variable(env.Environ, "TERM")
	return term == "dumb"
}

func (p palette) good(text string) styled { return p.as(text, "\x1b[32m") }
func (p palette) bad(text string) styled  { return p.as(text, "\x1b[31m") }
func (p palette) warn(text string) styled { return p.as(text, "\x1b[33m") }

func (p palette) as(text, colour string) styled {
	text = Safe(text)
	if !p.on || text == "" {
		return styled(text)
	}
	return styled(colour + text + "\x1b[0m")
}

// Plural returns, for example, "1 dish" or "2 dishes".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Mapped returns the results of each for all items.
func Mapped[T, U any](items []T, each func(T) U) []U {
	made := make([]U, len(items))
	for i, item := range items {
		made[i] = each(item)
	}
	return made
}

// labelled returns the label and the text, or "" if the text is empty.
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

// MaxListed limits the ids on a line.
const MaxListed = 5

// FirstOf returns the first ids of a list with total elements.
func FirstOf(ids []string, total int) string {
	shown := ids[:min(len(ids), MaxListed)]
	text := strings.Join(shown, ", ")
	if total > len(shown) {
		text += fmt.Sprintf(", … (%d more)", total-len(shown))
	}
	return text
}

// stripPackage removes the name of the package from an error text.
func stripPackage(text string) string {
	for _, name := range []string{"cache: ", "configs: ", "httpapi: ", "menu: ", "ordering: ", "redisdb: ", "sync: ", "upstream: "} {
		text = strings.TrimPrefix(text, name)
	}
	return text
}
