// Command check fails if a response of the API document was seen by no test of a complete test run. make test runs it
// after the tests.
//
// Usage: check ROOT FOLDER   (FOLDER is LARDER_API_COVERAGE of the tests)
package main

import (
	"fmt"
	"os"
	"strings"

	"larder/internal/testkit/apicoverage"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: check ROOT FOLDER")
		os.Exit(2)
	}
	faults, err := apicoverage.Uncovered(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if len(faults) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: the API document and what the tests saw:\n  %s\n", strings.Join(faults, "\n  "))
		os.Exit(1)
	}
}
