// Package doctest runs what the project's pages show: commands in `sh` blocks,
// requests in `http` blocks. It compares what comes with what the page says
// comes, and looks after the links between pages.
//
// A block is run as it stands, but for addresses; nothing is left out without a
// word, for a block that cannot be run says so above itself, with one of the
// reasons that the test knows:
//
//	<!-- not run: kubernetes -->
//
// A page may name what it wants to run against (`<!-- setup: redis -->`), a
// command the status that it ends with (`<!-- status: 1 -->`). What a command
// prints stands in a `text` block behind it, or in a `json` block, and the answer
// to a request in a second `http` block; "…" in them is whatever comes there.
//
// The package is for tests alone.
package doctest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is one Markdown page.
type Page struct {
	// Path of the page's file, below the root that it was found in.
	Path string
	// Setup is what the page wants to run against; empty where it does not say.
	Setup string

	lines  []string
	blocks []block
}

// block is one fenced block of a page.
type block struct {
	language string
	text     string
	from, to int    // its lines are lines[from:to], without the fences
	mark     string // what the comment above it says: "not run"
	value    string // and of what: "kubernetes"
}

// line is where the block begins, counted from 1, for messages.
func (b *block) line() int { return b.from }

var (
	fenceForm = regexp.MustCompile("^ {0,3}(`{3,}|~{3,}) *([^ `]*)[^`]*$")
	markForm  = regexp.MustCompile(`^<!-- (setup|status|not run): (.+) -->$`)
)

// Find reads the pages below the root: files, and every page in folders, in the
// order of their names.
func Find(root string, names ...string) ([]*Page, error) {
	var paths []string
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && entry == nil:
				return nil // a folder that is not there has no pages
			case err != nil:
				return err
			case entry.IsDir() && unread(entry.Name()):
				return fs.SkipDir
			case !entry.IsDir() && filepath.Ext(path) == ".md":
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("doctest: find pages: %w", err)
		}
	}
	pages := make([]*Page, 0, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path) //nolint:gosec // the project's own pages
		if err != nil {
			return nil, fmt.Errorf("doctest: %w", err)
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return nil, fmt.Errorf("doctest: %w", err)
		}
		pages = append(pages, parse(filepath.ToSlash(below), string(text)))
	}
	return pages, nil
}

// unread are folders whose pages are not the project's.
func unread(folder string) bool {
	return folder == "node_modules" || folder == "testdata" || len(folder) > 1 && folder[0] == '.' && folder != ".."
}

// parse cuts a page into its blocks.
func parse(path, text string) *Page {
	p := &Page{Path: path, lines: strings.Split(text, "\n")}
	for i := 0; i < len(p.lines); i++ {
		if mark := markForm.FindStringSubmatch(p.lines[i]); mark != nil && mark[1] == "setup" {
			p.Setup = mark[2]
		}
		fence := fenceForm.FindStringSubmatch(p.lines[i])
		if fence == nil {
			continue
		}
		b := block{language: fence[2], from: i + 1}
		if i > 0 {
			if mark := markForm.FindStringSubmatch(p.lines[i-1]); mark != nil && mark[1] != "setup" {
				b.mark, b.value = mark[1], mark[2]
			}
		}
		for i++; i < len(p.lines) && !closes(p.lines[i], fence[1]); i++ {
		}
		b.to = min(i, len(p.lines))
		b.text = strings.Join(p.lines[b.from:b.to], "\n") + "\n"
		p.blocks = append(p.blocks, b)
	}
	return p
}

// closes tells whether a line ends the block that the fence opened.
func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// write puts other lines into blocks of the page, and gives its whole text.
func (p *Page) write(into map[*block]string) string {
	lines := slices.Clone(p.lines)
	for i := len(p.blocks) - 1; i >= 0; i-- {
		b := &p.blocks[i]
		if text, changed := into[b]; changed {
			lines = slices.Replace(lines, b.from, b.to, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
		}
	}
	return strings.Join(lines, "\n")
}
