package apicoverage

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"larder.local/internal/testkit/leaktest"
)

// Main runs the tests of a package and exits. It fails if a goroutine is left after them. If all tests of the package
// ran and passed, it writes the responses that they saw to File in the folder LARDER_API_COVERAGE.
func Main(m *testing.M) { leaktest.Main(recordedRun{m}) }

type recordedRun struct{ *testing.M }

// Run runs the tests.
func (r recordedRun) Run() int {
	status := r.M.Run()
	path := ownFile()
	if status != 0 || path == "" || !allTestsRun() {
		return status
	}
	document, err := Document()
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, document.sawLines(), 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// ownFile returns the path of the file of this package, or "" without LARDER_API_COVERAGE. Watch calls it first: what a
// process reads while its tests run decides whether go test may repeat their result. So it is repeated only while the
// variable is the same, and the file is as that run left it.
var ownFile = sync.OnceValue(func() string { //nolint:gochecknoglobals // does not change
	folder := os.Getenv("LARDER_API_COVERAGE")
	info, ok := debug.ReadBuildInfo()
	if folder == "" || !ok {
		return ""
	}
	path := filepath.Join(folder, File(strings.TrimSuffix(info.Path, ".test")))
	_, _ = os.Stat(path)
	return path
})

// File returns the name of the file to which Main writes what the tests of a package saw: one response a line.
func File(importPath string) string { return strings.ReplaceAll(importPath, "/", ".") }

// allTestsRun reports whether all tests were selected.
func allTestsRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if one := flag.Lookup(name); one != nil && one.Value.String() != "" {
			return false
		}
	}
	worker := flag.Lookup("test.fuzzworker")
	return !testing.Short() && (worker == nil || worker.Value.String() == "false")
}

// sawLines returns the responses that the tests saw.
func (c *Contract) sawLines() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []byte(strings.Join(slices.Sorted(maps.Keys(c.seen)), "\n") + "\n")
}

// neverSeen returns the responses that no test sees, as "operation status" or only the status, with
// the reason.
func neverSeen() map[string]string {
	return map[string]string{
		"500": "a fault of larder's own: TestUnexpectedErrorsLeakNothing provokes some",
	}
}

// Uncovered lists the responses of the document that are neither seen nor in neverSeen, and the entries of neverSeen
// that are seen. The opposite is checked by Transport: a test fails if it sees a response that the document does not have.
func (c *Contract) Uncovered(saw map[string]bool) []string {
	var faults []string
	never, used := neverSeen(), map[string]bool{}
	for _, item := range c.Doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				answer := operation.OperationID + " " + status
				seen := sawAny(saw, answer)
				for _, name := range []string{answer, status} {
					if _, named := never[name]; named {
						used[name] = used[name] || !seen
						seen = true
					}
				}
				if !seen {
					faults = append(faults, answer+": no test sees it")
				}
			}
		}
	}
	for name := range maps.Keys(never) {
		if !used[name] {
			faults = append(faults, name+": neverSeen names it, and it is seen, or not in the document")
		}
	}
	slices.Sort(faults)
	return faults
}

// sawAny reports whether a response was seen; 4XX means any of these statuses.
func sawAny(saw map[string]bool, answer string) bool {
	class, whole := strings.CutSuffix(answer, "XX")
	if !whole {
		return saw[answer]
	}
	for status := http.StatusOK; status < 600; status++ {
		if code := strconv.Itoa(status); strings.HasSuffix(class, code[:1]) && saw[class+code[1:]] {
			return true
		}
	}
	return false
}
