// Command testwaits finds what makes tests fail by chance on a slow or busy machine:
//
//   - a sleep: time.Sleep, <-time.After as a statement, a program such as sleep,
//     waitForTimeout in a browser scenario;
//   - a time limit below ten seconds, in a call such as context.WithTimeout, in a helper with a
//     limit, as the Timeout of a client, or in a comparison such as time.Since(start) > limit;
//   - a fixed port on which a test listens, to which it connects, or which it passes to a
//     program. Tests use port 1 for a service that is down.
//
// It reads the Go files of tests and of internal/testkit, and the modules (.mjs) below
// tools/browser, without the types of Go. It knows a value if a constant, a variable or the
// row of a table test shows it. Settings of the program under test may be short. A function
// literal passed to synctest.Test runs with a fake clock, so sleeps and limits in it are
// allowed, although deadlines of real sockets are real. Functions that it calls are not
// recognised.
//
// An exception is a comment with a reason, behind the code or on the line above:
//
//	time.Sleep(delay) //testwaits:allow the service under test is slow
//
// An exception without a reason or without a finding is reported.
//
// Usage: testwaits ROOT   (run by make lint, over the product and the tools)
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// allow starts the comment of an exception.
const allow = "//testwaits:allow"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: testwaits ROOT")
		os.Exit(2)
	}
	findings, err := check(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testwaits:", err)
		os.Exit(2)
	}
	for _, found := range findings {
		fmt.Println(found)
	}
	if len(findings) > 0 {
		fmt.Printf("%d findings. An exception is a comment with a reason: %s REASON\n", len(findings), allow)
		os.Exit(1)
	}
}

// A finding is a place and what to do about it.
type finding struct {
	path string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.text) }

// An exception allows the findings of one line.
type exception struct {
	line   int // of the comment
	target int // the line that it allows
	reason string
}

// check returns the findings below root, by path and line.
func check(root string) ([]finding, error) {
	packages := map[string]*goPackage{}
	all := &shared{values: map[string]*variable{}, limits: map[string]int{}}
	var findings []finding
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		switch {
		case strings.HasSuffix(name, ".go"):
			return addGoFile(packages, all, path, relative)
		case strings.HasSuffix(name, ".mjs") && strings.HasPrefix(relative, "tools/browser/"):
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			findings = append(findings, checkModule(relative, string(content))...)
		}
		return nil
	})
	for _, key := range slices.Sorted(maps.Keys(packages)) {
		packages[key].share()
	}
	for _, p := range packages {
		findings = append(findings, p.check()...)
	}
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line), strings.Compare(a.text, b.text))
	})
	return slices.Compact(findings), err
}

// without returns the findings of a file that no exception allows, and a finding for each
// exception without a reason or without a finding.
func without(path string, findings []finding, exceptions []exception) (left []finding) {
	used := map[int]bool{}
	for _, found := range findings {
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.target == found.line })
		if i < 0 {
			left = append(left, found)
			continue
		}
		used[i] = true
	}
	for i, e := range exceptions {
		switch {
		case !used[i]:
			left = append(left, finding{path, e.line, "an exception without a finding: remove the comment"})
		case e.reason == "":
			left = append(left, finding{path, e.line, "an exception without a reason: write " + allow + " REASON"})
		}
	}
	return left
}
