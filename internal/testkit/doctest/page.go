// Package doctest runs the examples of the project's pages: commands in `sh`
// blocks, requests in `http` blocks. It compares the results with those on the
// page, and checks the links between pages.
//
// A block runs as written, except for addresses. A block that cannot run has a
// comment above it with a reason that the test knows:
//
//	<!-- not run: kubernetes -->
//
// A page may name its setup (`<!-- setup: redis -->`), and a command its exit
// status (`<!-- status: 1 -->`). The output of a command is in a `text` or `json`
// block directly after it. The response to a request is in a second `http` block.
// "…" in them matches anything.
//
// Only tests use the package.
package doctest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Page is one Markdown page.
type Page struct {
	Path  string // of the page's file, relative to the root of Find
	Setup string // the page's setup; empty if it names none

	prose  []string // the lines outside blocks
	blocks []block
}

// block is one fenced block of a page.
type block struct {
	language, text string
	line           int
	follows        bool   // only empty lines are between it and the previous block
	mark, value    string // of the comment above it: "not run", "kubernetes"
}

var (
	fenceForm = regexp.MustCompile("^ {0,3}(`{3,}|~{3,}) *([^ `]*)[^`]*$")
	markForm  = regexp.MustCompile(`^<!-- (setup|status|not run): (.+) -->$`)
)

// Find reads the pages below root: files, and every page in folders. A name that
// does not exist has no pages.
func Find(root string, names ...string) ([]*Page, error) {
	var pages []*Page
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && entry == nil:
				return nil
			case err != nil:
				return err
			case entry.IsDir() && isForeign(entry.Name()):
				return fs.SkipDir
			case entry.IsDir() || filepath.Ext(path) != ".md":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(root, path)
			pages = append(pages, parse(filepath.ToSlash(below), string(text)))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("doctest: find pages: %w", err)
		}
	}
	return pages, nil
}

// isForeign reports whether the pages of a folder do not belong to the project.
func isForeign(folder string) bool {
	return folder == "node_modules" || folder == "testdata" || len(folder) > 1 && folder[0] == '.' && folder != ".."
}

// parse separates a page into prose and blocks.
func parse(path, text string) *Page {
	p := &Page{Path: path}
	lines := strings.Split(text, "\n")
	follows := false
	for i := 0; i < len(lines); i++ {
		fence := fenceForm.FindStringSubmatch(lines[i])
		if fence == nil {
			if mark := markForm.FindStringSubmatch(lines[i]); mark != nil && mark[1] == "setup" {
				p.Setup = mark[2]
			}
			p.prose = append(p.prose, lines[i])
			follows = follows && lines[i] == ""
			continue
		}
		b := block{language: fence[2], line: i + 1, follows: follows}
		if mark := markForm.FindStringSubmatch(lines[max(i-1, 0)]); mark != nil && mark[1] != "setup" {
			b.mark, b.value = mark[1], mark[2]
		}
		for i++; i < len(lines) && !closes(lines[i], fence[1]); i++ {
			b.text += lines[i] + "\n"
		}
		follows = true
		p.blocks = append(p.blocks, b)
	}
	return p
}

// closes reports whether a line ends the block that the fence opened.
func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// Step is a command or a request on a page.
type Step struct {
	Line   int    // of the page, counted from 1
	NotRun string // why it cannot run; empty if it can

	script  string // of a command
	status  int    // the exit status of the command
	request string
	answer  *block // the expected result; nil if the page has none
}

var requestForm = regexp.MustCompile(`^[A-Z]+ \S+`)

// Steps returns the steps of the page in order. It returns an error for a block
// that would be skipped: a command in a language other than sh, or a response
// without its request.
func (p *Page) Steps() ([]Step, error) {
	var steps []Step
	for i := range p.blocks {
		b, step, wrong := &p.blocks[i], Step{}, ""
		last := len(steps) - 1
		isAnswer := b.language == "http" && strings.HasPrefix(b.text, "HTTP/")
		switch {
		case isAnswer && (last < 0 || steps[last].request == "" || steps[last].answer != nil):
			wrong = "an answer without its request before it"
		case isAnswer:
			steps[last].answer = b
		case b.language == "sh":
			step.script = b.text
		case b.language == "http" && requestForm.MatchString(b.text):
			step.request = b.text
		case b.language == "http":
			wrong = "neither a request (GET /path) nor an answer (HTTP/1.1 200 OK)"
		case b.language == "bash" || b.language == "shell" || b.language == "console":
			wrong = "write commands in ```sh, without prompts: those are run"
		case b.mark != "":
			wrong = "only blocks of sh and http are run; leave out " + b.mark
		case b.follows && p.blocks[i-1].language == "sh" && (b.language == "text" || b.language == "json"):
			steps[last].answer = b
		}
		switch b.mark {
		case "not run":
			step.NotRun = b.value
		case "status":
			var err error
			if step.status, err = strconv.Atoi(b.value); err != nil || step.script == "" {
				wrong = strconv.Quote(b.value) + " is no status of a command"
			}
		}
		if wrong != "" {
			return nil, fmt.Errorf("%s:%d: %s", p.Path, b.line, wrong)
		}
		if step.script != "" || step.request != "" {
			step.Line = b.line
			steps = append(steps, step)
		}
	}
	return steps, nil
}
