package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printer prints for people. It is no io.Writer, so that nothing reaches a
// terminal without going through safe (policy H9): names, messages and ids come
// from ordering services and could otherwise clear the screen, set the window's
// title or forge lines.
type printer struct {
	// raw takes bytes as they are: JSON, YAML, the log, and what draws on the
	// terminal itself.
	raw io.Writer
}

// printf formats as fmt does. What the format itself says is printed as it is,
// and every argument through safe, unless it is styled already.
// That nobody reads any more is no failure of a command.
func (p printer) printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the formats of callers
	}
	fmt.Fprintf(p.raw, format, safeArgs(args)...)
}

// println prints its arguments through safe, and a line end.
func (p printer) println(args ...any) {
	fmt.Fprintln(p.raw, safeArgs(args)...)
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
	_, _ = io.WriteString(f, safe(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // fmt keeps the error of its writer
}

// safe is text as a terminal may show it (policy H9): control characters, the
// line end included, and invisible format characters such as those that turn the
// direction of writing become escapes (\x1b, \u202e). The joiners U+200C and
// U+200D stay, which Persian and emoji need.
func safe(text string) string {
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

// linesError is an error that takes several lines. Line ends anywhere else in an
// error come from outside, and are escaped.
type linesError struct {
	lines []string
	err   error // the cause, which the lines already tell
}

func (e *linesError) Error() string { return strings.Join(e.lines, "\n") }

func (e *linesError) Unwrap() error { return e.err }

// errorLines are the lines that an error is printed as.
func errorLines(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each wrapper is taken off by itself
	case *linesError:
		return e.lines
	case *hintError:
		return errorLines(e.err)
	case interface{ Unwrap() []error }:
		var all, texts []string
		for _, each := range e.Unwrap() {
			all, texts = append(all, errorLines(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == err.Error() { // joined, not wrapped in a sentence
			return all
		}
	}
	return []string{err.Error()}
}
