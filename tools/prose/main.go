// Command prose checks comments and pages for words and phrases that the
// project does not use, and pages for sentences that are too long. It prints one
// line for each place and exits with 1 if there is any.
//
// It reads the comments of Go, TypeScript, JavaScript, CSS, Lua, YAML, shell
// scripts, the Makefile and the Dockerfile, and all text of Markdown pages and of
// the API document.
//
// The phrases, with what to write instead and the exceptions, are in rules.txt.
//
// Usage: prose ROOT   (run by make lint)
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// maxWords is the longest sentence of a page, maxMean the longest mean.
	maxWords = 35
	maxMean  = 15.0
	// meanFrom is the number of sentences from which a page's mean counts.
	meanFrom = 20
)

//go:embed rules.txt
var ruleText string

// A rule is a phrase and what to write instead.
type rule struct {
	phrase *regexp.Regexp
	write  string
}

// rules are the rules of one text and the files that they leave out.
type rules struct {
	phrases  []rule
	excepted []*regexp.Regexp
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: prose ROOT")
		os.Exit(2)
	}
	found, err := run(os.Args[1], ruleText, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if found > 0 {
		fmt.Printf("%d places. The rules and their exceptions are in tools/prose/rules.txt.\n", found)
		os.Exit(1)
	}
}

// run checks the files that git tracks below root, prints the findings, and returns
// their number.
func run(root, text string, out io.Writer) (found int, err error) {
	r, err := parse(text)
	if err != nil {
		return 0, err
	}
	listed, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		return 0, fmt.Errorf("list the files of %s: %w", root, err)
	}
	for name := range strings.Lines(string(listed)) {
		name = strings.TrimSpace(name)
		if r.except(name) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not committed yet
		}
		if err != nil {
			return found, err
		}
		text := prose(name, content)
		if strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "docs/decisions/") {
			found += sentences(out, name, text)
		}
		found += r.check(out, name, text)
	}
	return found, nil
}

// parse reads rules: "phrase => what to write", or "except REGEXP: reason".
func parse(text string) (r rules, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch phrase, write, ok := strings.Cut(line, " => "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "except "):
			pattern, reason, _ := strings.Cut(strings.TrimPrefix(line, "except "), ": ")
			path, err := regexp.Compile(pattern)
			if err != nil || reason == "" {
				return r, fmt.Errorf("rules.txt: %q needs a regular expression and a reason", line)
			}
			r.excepted = append(r.excepted, path)
		case !ok:
			return r, fmt.Errorf("rules.txt: %q is neither a rule nor an exception", line)
		default:
			expression, err := regexp.Compile(phrase)
			if err != nil {
				return r, fmt.Errorf("rules.txt: %w", err)
			}
			r.phrases = append(r.phrases, rule{expression, write})
		}
	}
	return r, nil
}

func (r rules) except(name string) bool {
	for _, path := range r.excepted {
		if path.MatchString(name) {
			return true
		}
	}
	return false
}

// check prints the phrases that a text has and returns their number.
func (r rules) check(out io.Writer, name, text string) (found int) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		for _, rule := range r.phrases {
			if phrase := rule.phrase.FindString(line); phrase != "" {
				fmt.Fprintf(out, "%s:%d: %q: write %s\n", name, number, strings.TrimSpace(phrase), rule.write)
				found++
			}
		}
	}
	return found
}

// prose returns the text of a page or of the API document, or the comments of a
// source file. It returns "" for other files.
func prose(name string, content []byte) string {
	if strings.HasPrefix(name, "httpapi/openapi/document/") {
		return string(content)
	}
	switch extension := filepath.Ext(name); extension {
	case ".md":
		return withoutCode(string(content))
	case ".go":
		return comments(content)
	case ".ts", ".js", ".mjs", ".css":
		return marked(slashComment, string(content))
	case ".lua":
		return marked(dashComment, string(content))
	case ".yaml", ".yml", ".sh":
		return marked(hashComment, string(content))
	default:
		base := filepath.Base(name)
		if base == "Makefile" || base == "Dockerfile" || extension == "" && strings.HasPrefix(string(content), "#!") {
			return marked(hashComment, string(content))
		}
		return ""
	}
}

// Comments of languages other than Go. A marker inside a word, as in a URL, is no
// comment. A marker after a space in a string is taken for one, which is rare.
var (
	slashComment = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^|[ \t])//.*$)`)
	dashComment  = regexp.MustCompile(`(?m:(?:^|[ \t])--.*$)`)
	hashComment  = regexp.MustCompile(`(?m:(?:^|[ \t])#.*$)`)
)

// marked returns the comments of a text, each on the line where it is.
func marked(comment *regexp.Regexp, text string) string {
	var all strings.Builder
	from := 0
	for _, at := range comment.FindAllStringIndex(text, -1) {
		all.WriteString(strings.Repeat("\n", strings.Count(text[from:at[0]], "\n")) + text[at[0]:at[1]])
		from = at[1]
	}
	return all.String()
}

// comments returns the comments of a Go file, each on the line where it is.
func comments(content []byte) string {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(content))
	var s scanner.Scanner
	s.Init(file, content, func(token.Position, string) {}, scanner.ScanComments)
	lines := make([]string, strings.Count(string(content), "\n")+2)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return strings.Join(lines[1:], "\n")
		}
		if kind != token.COMMENT || strings.HasPrefix(text, "//nolint") || strings.HasPrefix(text, "//go:") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			lines[file.Line(pos)+i] += line
		}
	}
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```|<!--.*?-->")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	link      = regexp.MustCompile(`\[([^\]]*)\]\([^)\n]*\)`)
	notProse  = regexp.MustCompile(`(?m)^( {4}|\t|#|\|).*$`)
	sentence  = regexp.MustCompile(`[.!?:]\s+|\n\s*[-*]\s+|\n\s*\n`)
	word      = regexp.MustCompile(`[\pL\d'’]+`)
)

// withoutCode returns a page's text with its lines, and without code and the
// targets of links.
func withoutCode(page string) string {
	page = codeBlock.ReplaceAllStringFunc(page, func(block string) string {
		return strings.Repeat("\n", strings.Count(block, "\n"))
	})
	return link.ReplaceAllString(codeSpan.ReplaceAllString(page, "x"), "$1")
}

// sentences prints the sentences of a page that are too long, and the page if its
// mean is. Headings, tables and indented code do not count.
func sentences(out io.Writer, name, text string) (found int) {
	text = notProse.ReplaceAllString(text, "")
	words, count, from := 0, 0, 0
	for _, end := range append(sentence.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		one := text[from:end[0]]
		n := len(word.FindAllString(one, -1))
		line := 1 + strings.Count(text[:end[0]], "\n")
		from = end[1]
		if n <= 2 {
			continue
		}
		words, count = words+n, count+1
		if n > maxWords {
			fmt.Fprintf(out, "%s:%d: a sentence of %d words ends here: at most %d\n", name, line, n, maxWords)
			found++
		}
	}
	if mean := float64(words) / float64(max(count, 1)); count >= meanFrom && mean > maxMean {
		fmt.Fprintf(out, "%s: %.1f words in a sentence on average: at most %.0f\n", name, mean, maxMean)
		found++
	}
	return found
}
