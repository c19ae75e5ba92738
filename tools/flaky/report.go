package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// report collects the failures of all runs.
type report struct {
	out       io.Writer
	all, done int // runs of test programs

	ran, skipped int // tests of all runs

	mu       sync.Mutex
	failures map[string]int    // by package and test
	first    map[string]string // the message of the first failure

	unfinished []string // tests that were running when the whole run ended
}

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output string
}

// add adds the output and the error of one run of a program, prints the progress, and stores the
// output of a failed run in a file. If the whole run ended before the program (stopped), the tests
// that were running have not failed.
func (r *report) add(p program, output []byte, err error, stopped bool, took time.Duration, file string) {
	o := parseOutput(output)
	failed := o.failures(p, err, stopped)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran += o.ran
	r.skipped += o.skipped
	state := "ok"
	if stopped {
		state = "not finished"
		for _, test := range o.stillRunning() {
			r.unfinished = append(r.unfinished, fmt.Sprintf("%s %s (its test program ran for %v)", p.Name, test, took.Round(time.Second)))
		}
	} else {
		r.done++
	}
	if len(failed) > 0 {
		state = "FAILED, output in " + file
		if err := os.WriteFile(file, output, 0o644); err != nil {
			state = "FAILED, output not stored: " + err.Error()
		}
	}
	fmt.Fprintf(r.out, "%4d of %d  %s  %.1f s  %s\n", r.done, r.all, p.Name, took.Seconds(), state)
	for test, message := range failed {
		r.failures[test]++
		if r.first[test] == "" {
			r.first[test] = message
		}
		fmt.Fprintf(r.out, "      %s: %s\n", test, message)
	}
}

// say prints a line between the results.
func (r *report) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format, args...)
}

// print lists the failed tests and returns errFailed if there are any. Otherwise it returns an
// error if not all programs ran to their end.
func (r *report) print(took time.Duration) error {
	took = took.Round(time.Second)
	if len(r.failures) > 0 {
		fmt.Fprintf(r.out, "\nfailures  test, and its first message, %v\n", took)
		for _, test := range slices.Sorted(maps.Keys(r.failures)) {
			fmt.Fprintf(r.out, "%8d  %s\n          %s\n", r.failures[test], test, r.first[test])
		}
	}
	if len(r.unfinished) > 0 {
		fmt.Fprintf(r.out, "\nnot finished, nothing is known about these runs:\n  %s\n", strings.Join(r.unfinished, "\n  "))
	}
	switch {
	case len(r.failures) > 0:
		return fmt.Errorf("%w: %d, in %d of %d runs of test programs", errFailed, len(r.failures), r.done, r.all)
	case r.done < r.all:
		return fmt.Errorf("%w: %d of %d runs of test programs did not end", errTimeIsOver, r.all-r.done, r.all)
	}
	fmt.Fprintf(r.out, "no test failed; runs of test programs: %d, %v\n", r.done, took)
	return nil
}

// output is what one run of a test program has printed.
type output struct {
	ran, skipped int                 // tests, without subtests
	texts        map[string][]string // lines of each test
	failed       map[string]bool     // tests that ended: true if it failed
	running      map[string]bool     // tests that did not end
	rest         []string            // lines of no test
	ended        bool                // the program has ended and says that all tests passed
}

// parseOutput reads the lines of test2json.
func parseOutput(lines []byte) output {
	o := output{texts: map[string][]string{}, failed: map[string]bool{}, running: map[string]bool{}}
	for line := range bytes.Lines(lines) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			o.rest = append(o.rest, string(line))
			continue
		}
		topLevel := e.Test != "" && !strings.Contains(e.Test, "/")
		switch e.Action {
		case "run", "cont":
			o.running[e.Test] = true
		case "pause": // until the sequential tests have ended
			delete(o.running, e.Test)
		case "output":
			o.texts[e.Test] = append(o.texts[e.Test], e.Output)
		case "pass", "skip", "fail":
			delete(o.running, e.Test)
			o.ended = o.ended || e.Test == "" && e.Action != "fail"
			o.failed[e.Test] = e.Action == "fail"
			if topLevel && e.Action == "skip" {
				o.skipped++
			} else if topLevel {
				o.ran++
			}
		}
	}
	return o
}

// failures returns the failed tests of one run, each with its first message. A test with failed
// subtests is left out. A test that did not end is named as hanging, or as running if the program
// crashed, unless the whole run ended (stopped). If no test failed and the program did, it failed
// itself: its TestMain may check something after the tests.
func (o output) failures(p program, err error, stopped bool) map[string]string {
	found := map[string]string{}
	for test, failed := range o.failed {
		if failed && test != "" && !hasSubtest(o.failed, test) && !hasSubtest(o.running, test) {
			found[p.Name+" "+test] = message(p.Dir, o.texts[test])
		}
	}
	if stopped {
		return found
	}
	all := slices.Clone(o.rest)
	for _, test := range slices.Sorted(maps.Keys(o.texts)) {
		all = append(all, o.texts[test]...)
	}
	cause := "it was running when the test program ended: " + message(p.Dir, all)
	if slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, "test timed out after") }) {
		cause = "it HANGS: it did not end within the time limit"
	}
	for _, test := range o.stillRunning() {
		found[p.Name+" "+test] = cause
	}
	if len(found) == 0 && (err != nil || !o.ended) {
		found[p.Name] = fmt.Sprintf("the test program failed, no test did (%v): %s", err, message(p.Dir, all))
	}
	return found
}

// stillRunning returns the tests that did not end, without those whose subtests did not.
func (o output) stillRunning() []string {
	var names []string
	for _, test := range slices.Sorted(maps.Keys(o.running)) {
		if test != "" && !hasSubtest(o.running, test) {
			names = append(names, test)
		}
	}
	return names
}

// hasSubtest reports whether a subtest of a test is in the set.
func hasSubtest(set map[string]bool, test string) bool {
	for other, in := range set {
		if in && strings.HasPrefix(other, test+"/") {
			return true
		}
	}
	return false
}

// place is the file and the line at the beginning of a message of a test.
var place = regexp.MustCompile(`^(\w+_test\.go):(\d+): `)

// message returns the first line that reports an error: one with a file and a line, or a
// panic; otherwise the first line that the testing package did not write. Messages of t.Log, which
// the source of the test in a folder shows, report none. The message of a program that the test has
// run ("Error: …") is added.
func message(folder string, lines []string) string {
	first, otherwise := "", "no message"
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch at := place.FindStringSubmatch(line); {
		case first != "":
			if at == nil && strings.Contains(line, "Error: ") {
				return first + " … " + line
			}
		case at != nil && isLog(folder, at[1], at[2]):
		case at != nil || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:"):
			first = line
		case otherwise == "no message" && line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- "):
			otherwise = line
		}
	}
	return cmp.Or(first, otherwise)
}

// logs is a call of t.Log, tb.Logf and others.
var logs = regexp.MustCompile(`\b\w+\.Logf?\(`)

// isLog reports whether a line of a source file calls t.Log or t.Logf.
func isLog(folder, file, line string) bool {
	text, err := os.ReadFile(filepath.Join(folder, file))
	n, _ := strconv.Atoi(line)
	lines := bytes.Split(text, []byte("\n"))
	return err == nil && n <= len(lines) && logs.Match(lines[max(n, 1)-1])
}
