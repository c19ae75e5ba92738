// Package leaktest checks that the tests of a package leave no goroutine. It waits longer
// than goleak alone: a net/http server keeps a connection for half a second after its last
// response (rstAvoidanceDelay), also if the server is closed.
package leaktest

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// limit is the time in which all goroutines must end after the tests.
const limit = time.Minute

// Main runs the tests of a package and exits with their status, or with 1 if a goroutine is left.
func Main(m interface{ Run() int }) { os.Exit(Check(m.Run())) }

// Check returns the status of the tests, or 1 if they passed and a goroutine is left. It
// returns as soon as none is left, and after a minute at the latest. Goroutines in the functions
// allowed do not count.
func Check(status int, allowed ...string) int {
	if status != 0 {
		return status
	}
	var options []goleak.Option
	for _, function := range allowed {
		options = append(options, goleak.IgnoreTopFunction(function))
	}
	err := goleak.Find(options...)
	for begun := time.Now(); err != nil && time.Since(begun) < limit; {
		err = goleak.Find(options...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left after the tests:", err)
		return 1
	}
	return 0
}
