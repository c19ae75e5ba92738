package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
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
}

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output string
}

// add adds the output and the error of one run of a program, prints the progress, and stores the
// output of a failed run in a file.
func (r *report) add(name string, output []byte, err error, took time.Duration, file string) {
	failed := failuresOf(name, output, err)
	ran, skipped := countTests(output)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	r.ran += ran
	r.skipped += skipped
	state := "ok"
	if len(failed) > 0 {
		state = "FAILED, output in " + file
		if err := os.WriteFile(file, output, 0o644); err != nil {
			state = "FAILED, output not stored: " + err.Error()
		}
	}
	fmt.Fprintf(r.out, "%4d of %d  %s  %.1f s  %s\n", r.done, r.all, name, took.Seconds(), state)
	for test, message := range failed {
		r.failures[test]++
		if r.first[test] == "" {
			r.first[test] = message
		}
		fmt.Fprintf(r.out, "      %s: %s\n", test, message)
	}
}

// print lists the failed tests and returns errFailed if there are any.
func (r *report) print(took time.Duration) error {
	took = took.Round(time.Second)
	switch {
	case len(r.failures) > 0:
	case r.done < r.all:
		return fmt.Errorf("%w: %d of %d test programs did not run to their end", errFailed, r.all-r.done, r.all)
	default:
		fmt.Fprintf(r.out, "no test failed; runs of test programs: %d, %v\n", r.done, took)
		return nil
	}
	fmt.Fprintf(r.out, "\nfailures  test, and its first message, %v\n", took)
	for _, test := range slices.Sorted(maps.Keys(r.failures)) {
		fmt.Fprintf(r.out, "%8d  %s\n          %s\n", r.failures[test], test, r.first[test])
	}
	return fmt.Errorf("%w: %d, in %d of %d runs of test programs", errFailed, len(r.failures), r.done, r.all)
}

// countTests returns how many tests of one run have run and how many were skipped.
func countTests(output []byte) (ran, skipped int) {
	for line := range bytes.Lines(output) {
		var e event
		switch _ = json.Unmarshal(line, &e); {
		case e.Test == "" || strings.Contains(e.Test, "/"):
		case e.Action == "skip":
			skipped++
		case e.Action == "pass" || e.Action == "fail":
			ran++
		}
	}
	return ran, skipped
}

// failuresOf returns the failed tests of one run, each with its first message. A test
// with failed subtests is left out. A test that did not end is named as hanging, or as
// running if the program crashed. If no test failed and the program did, it failed itself: its
// TestMain may check something after the tests.
func failuresOf(name string, output []byte, err error) map[string]string {
	texts, failed, running := map[string][]string{}, map[string]bool{}, map[string]bool{}
	ended := false
	var rest []string // lines of no test
	for line := range bytes.Lines(output) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			rest = append(rest, string(line))
			continue
		}
		switch e.Action {
		case "run", "cont":
			running[e.Test] = true
		case "pause": // until the sequential tests have ended
			delete(running, e.Test)
		case "output":
			texts[e.Test] = append(texts[e.Test], e.Output)
		case "pass", "skip", "fail":
			delete(running, e.Test)
			ended = ended || e.Test == "" && e.Action != "fail"
			failed[e.Test] = e.Action == "fail"
		}
	}
	all := append(rest, flatten(texts)...)
	cause := "it was running when the test program ended: " + message(all)
	if slices.ContainsFunc(all, func(line string) bool {
		return strings.Contains(line, "test timed out after") || strings.Contains(line, "SIGQUIT")
	}) {
		cause = "it HANGS: it did not end within the time limit"
	}
	found := map[string]string{}
	for test := range running {
		if !hasSubtest(running, test) {
			found[name+" "+test] = cause
		}
	}
	for test, isFailed := range failed {
		if isFailed && test != "" && !hasSubtest(failed, test) && !hasSubtest(running, test) {
			found[name+" "+test] = message(texts[test])
		}
	}
	if len(found) == 0 && (err != nil || !ended) {
		found[name] = fmt.Sprintf("the test program failed, no test did (%v): %s", err, message(all))
	}
	return found
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

func flatten(texts map[string][]string) []string {
	var all []string
	for _, test := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, texts[test]...)
	}
	return all
}

// message returns the first line that reports an error: one with a file and a line, or a
// panic; otherwise the first line that the testing package did not write.
func message(lines []string) string {
	otherwise := "no message"
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case strings.Contains(line, "_test.go:") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:"):
			return line
		case otherwise == "no message" && line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- "):
			otherwise = line
		}
	}
	return otherwise
}
