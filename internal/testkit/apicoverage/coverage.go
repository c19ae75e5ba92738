package httpapi_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"larder/internal/testkit/leaktest"
)

// TestMain checks that the tests of the package together cover the API document.
func TestMain(m *testing.M) { leaktest.Main(checkedRun{m}) }

type checkedRun struct{ *testing.M }

// Run runs the tests. If all tests ran, it fails if a response of the document was never seen. The
// opposite is checked by watched: a test fails if it sees a response that the document does not
// have.
func (r checkedRun) Run() int {
	status := r.M.Run()
	if status != 0 || !allTestsRun() {
		return status
	}
	document, err := theContract()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if faults := document.uncovered(); len(faults) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: the API document and what the tests of this package saw:\n  %s\n", strings.Join(faults, "\n  "))
		return 1
	}
	return status
}

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

// neverSeen lists the responses that no test sees, as "operation status" or only the status, with
// the reason.
var neverSeen = map[string]string{
	"500": "a fault of larder's own: TestUnexpectedErrorsLeakNothing provokes some",
}

// uncovered lists the responses of the document that no test saw and that neverSeen does not list,
// and the entries of neverSeen that a test saw.
func (c *contract) uncovered() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var faults []string
	used := map[string]bool{}
	for _, item := range c.doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				answer := operation.OperationID + " " + status
				seen := c.sawAny(answer)
				for _, name := range []string{answer, status} {
					if _, named := neverSeen[name]; named {
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
	for name := range maps.Keys(neverSeen) {
		if !used[name] {
			faults = append(faults, name+": neverSeen names it, and it is seen, or not in the document")
		}
	}
	slices.Sort(faults)
	return faults
}

// sawAny reports whether a response was seen; 4XX means any of these statuses.
func (c *contract) sawAny(answer string) bool {
	class, whole := strings.CutSuffix(answer, "XX")
	if !whole {
		return c.seen[answer]
	}
	for status := http.StatusOK; status < 600; status++ {
		if code := strconv.Itoa(status); strings.HasSuffix(class, code[:1]) && c.seen[class+code[1:]] {
			return true
		}
	}
	return false
}
