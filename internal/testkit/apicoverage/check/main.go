// Command check fails if no test of a complete run of httpapi's tests saw a response of the API document. make test
// runs it after the tests.
//
// Usage: check ROOT FOLDER. FOLDER is LARDER_API_COVERAGE of the tests.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"larder.local/internal/testkit/apicoverage"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: check ROOT FOLDER")
		os.Exit(2)
	}
	faults, err := check(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if len(faults) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: the API document and what the tests saw:\n  %s\n", strings.Join(faults, "\n  "))
		os.Exit(1)
	}
}

// check lists the packages whose tests did not write what they saw, and the responses that none of them saw.
func check(root, folder string) ([]string, error) {
	document, err := apicoverage.Document()
	if err != nil {
		return nil, err
	}
	packages, err := covering(root)
	if err != nil {
		return nil, err
	}
	var faults []string
	saw := map[string]bool{}
	for _, name := range packages {
		lines, err := os.ReadFile(filepath.Join(folder, apicoverage.File("larder.local/"+name)))
		if errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, name+": its tests did not write what they saw")
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(lines)) {
			saw[strings.TrimSpace(line)] = true
		}
	}
	return append(faults, document.Uncovered(saw)...), nil
}

// covering returns the packages whose TestMain calls apicoverage.Main. A file of another package in the folder is from
// an earlier state of the project, and does not count.
func covering(root string) (packages []string, err error) {
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, "httpapi", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "main_test.go" {
			return err
		}
		source, err := fs.ReadFile(tree, file)
		if bytes.Contains(source, []byte("apicoverage.Main(")) {
			packages = append(packages, path.Dir(file))
		}
		return err
	})
	return packages, err
}
