// Command mutants runs the mutants that gremlins found but did not run: gremlins
// considers the expressions of cases, and of declarations, not covered by tests. It
// reads the output of gremlins, applies each of these mutants to a copy of the tree,
// runs the package's tests, and prints the survivors and the totals.
//
// Usage: mutants ROOT PACKAGE PRINTED...   (run by make mutation)
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	workers = 2
	// testLimit is the timeout of the tests of one mutant, for endless loops.
	testLimit = time.Minute
)

// mutant is a line of gremlins' output: "KILLED INVERT_NEGATIVES at a.go:1:2".
type mutant struct {
	Status, Type string
	File         string
	Line, Column int
}

func (m mutant) String() string {
	return fmt.Sprintf("%-11s %-22s %s:%d:%d", m.Status, m.Type, m.File, m.Line, m.Column)
}

// swaps maps each kind of mutant to its replacements of operators, longest first.
var swaps = map[string][][2]string{
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}},
	"CONDITIONALS_BOUNDARY": {{"<=", "<"}, {">=", ">"}, {"<", "<="}, {">", ">="}},
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
}

var line = regexp.MustCompile(`([A-Z][A-Z ]*[A-Z]) ([A-Z_]+) at (\S+\.go):(\d+):(\d+)`)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: mutants ROOT PACKAGE PRINTED...")
	}
	root, pkg := args[0], args[1]
	var all, left []mutant
	for _, name := range args[2:] {
		printed, err := os.ReadFile(name) //nolint:gosec // named by who runs it
		if err != nil {
			return err
		}
		for _, found := range line.FindAllSubmatch(printed, -1) {
			m := mutant{Status: string(found[1]), Type: string(found[2]), File: filepath.Join(pkg, string(found[3]))}
			m.Line, _ = strconv.Atoi(string(found[4]))
			m.Column, _ = strconv.Atoi(string(found[5]))
			if m.Status == "NOT COVERED" {
				left = append(left, m)
			} else {
				all = append(all, m)
			}
		}
	}
	results, err := runAll(ctx, root, pkg, left)
	if err != nil {
		return err
	}
	all = append(all, results...)
	counts := map[string]int{}
	for _, m := range all {
		counts[m.Status]++
		if m.Status == "LIVED" {
			fmt.Println(m)
		}
	}
	noticed := counts["KILLED"] + counts["TIMED OUT"]
	fmt.Printf("%s: %d mutants, %d killed, %d timed out, %d not viable, %d lived: %.1f %% noticed\n", pkg, len(all), counts["KILLED"],
		counts["TIMED OUT"], counts["NOT VIABLE"], counts["LIVED"], 100*float64(noticed)/float64(max(1, noticed+counts["LIVED"])))
	return nil
}

// runAll runs the mutants. Each worker uses its own copy of the tree.
func runAll(ctx context.Context, root, pkg string, left []mutant) ([]mutant, error) {
	queue := make(chan int)
	results := slices.Clone(left)
	faults := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			faults[w] = worker(ctx, root, pkg, results, queue)
			for range queue { // so that the sender does not block
			}
		})
	}
	for i := range results {
		queue <- i
	}
	close(queue)
	group.Wait()
	return results, errors.Join(faults...)
}

func worker(ctx context.Context, root, pkg string, results []mutant, queue <-chan int) error {
	tree, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	for _, part := range []string{"go.mod", "go.sum", "cache", "configs", "httpapi", "internal", "ordering", "sync", "docs", "README.md"} {
		if err := exec.CommandContext(ctx, "cp", "-r", filepath.Join(root, part), tree).Run(); err != nil { //nolint:gosec // names of this tree
			return fmt.Errorf("copy %s: %w", part, err)
		}
	}
	for i := range queue {
		if results[i].Status, err = tryMutant(ctx, tree, pkg, results[i]); err != nil {
			return fmt.Errorf("%v: %w", results[i], err)
		}
		fmt.Println(results[i])
	}
	return nil
}

// tryMutant applies a mutant, runs the tests and restores the file.
func tryMutant(ctx context.Context, tree, pkg string, m mutant) (status string, err error) {
	path := filepath.Join(tree, m.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	broken, err := m.apply(whole)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, whole, 0o600)) }()
	test := exec.CommandContext(ctx, "go", "test", "-tags", os.Getenv("TAGS"), "-failfast", "-timeout", testLimit.String(), "./"+pkg) //nolint:gosec // own words
	test.Dir = tree
	output, failed := test.CombinedOutput()
	switch {
	case failed == nil:
		return "LIVED", nil
	case bytes.Contains(output, []byte("[build failed]")):
		return "NOT VIABLE", nil
	case bytes.Contains(output, []byte("panic: test timed out")):
		return "TIMED OUT", nil
	default:
		return "KILLED", nil
	}
}

// apply replaces the operator at the mutant's place.
func (m mutant) apply(whole []byte) ([]byte, error) {
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if m.Line < 1 || m.Line > len(lines) || m.Column < 1 || m.Column > len(lines[m.Line-1]) {
		return nil, errors.New("the report is of another tree")
	}
	text := string(lines[m.Line-1])
	before, rest := text[:m.Column-1], text[m.Column-1:]
	for _, swap := range swaps[m.Type] {
		if after, ok := strings.CutPrefix(rest, swap[0]); ok {
			lines[m.Line-1] = []byte(before + swap[1] + after)
			return bytes.Join(lines, nil), nil
		}
	}
	return nil, fmt.Errorf("no operator at the place: %q", rest)
}
