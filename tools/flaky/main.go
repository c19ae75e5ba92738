// Command flaky finds tests that fail by chance. It runs tests many times, in random
// order, while all cores are busy, and lists each test that failed with the number of
// its failures and its first message.
//
// Usage: flaky [-count N] [-limit TIME] [-pkg FOLDER [-run PATTERN]] ROOT   (run by make flaky)
//
// Without -pkg it runs all tests of all modules below ROOT N (3) times. With -pkg it
// runs the tests of one package that match PATTERN N (50) times. TIME (20m) is the limit
// of one test program; the whole run takes at most 40 minutes.
// Four test programs for each core run at the same time. Without -pkg, none is started
// while more threads than that are ready to run, and while fewer are, busy threads take
// the place of the missing ones.
//
// It builds with the flags of GOFLAGS and the tags of TAGS. The outputs of failed test
// programs are in ROOT/.cache/flaky. The exit status is 1 if a test failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	// perCore is the load of one core: test programs, and busy threads in their place.
	perCore = 4
	// totalLimit is the limit of the whole run, the build included.
	totalLimit = 40 * time.Minute
	// coreMinutes is the processor time that all tests need for one round, by a
	// measurement. It is for the announcement only.
	coreMinutes = 9
)

// options are the arguments of the command.
type options struct {
	root, pkg, run string
	count          int
	limit          time.Duration // of one test program
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
		if errors.Is(err, errFailed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// errFailed is returned if a test failed.
var errFailed = errors.New("tests failed")

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, totalLimit)
	defer cancel()
	work := filepath.Join(o.root, ".cache", "flaky")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	begun := time.Now()
	announce(out, o)
	programs, err := build(ctx, o, work)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d test programs are built after %v\n", len(programs), time.Since(begun).Round(time.Second))
	r := &report{out: out, all: o.count * len(programs), first: map[string]string{}, failures: map[string]int{}}
	runAll(ctx, o, programs, work, r)
	if errors.Is(ctx.Err(), context.Canceled) {
		fmt.Fprintln(out, "interrupted")
	}
	return r.print(time.Since(begun))
}

// parse reads the arguments.
func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("flaky", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.pkg, "pkg", "", "the folder of one package; the default is all packages")
	flags.StringVar(&o.run, "run", "", "with -pkg: the tests, as for go test -run")
	flags.IntVar(&o.count, "count", 0, "how often each test runs; the default is 3, or 50 with -pkg")
	flags.DurationVar(&o.limit, "limit", 20*time.Minute, "the time limit of one test program")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() != 1 {
		return o, errors.New("usage: flaky [-count N] [-limit TIME] [-pkg FOLDER [-run PATTERN]] ROOT")
	}
	if o.run != "" && o.pkg == "" {
		return o, errors.New("a pattern of tests needs a package: make flaky PKG=./sync RUN=TestX")
	}
	if o.count == 0 {
		o.count = 3
		if o.pkg != "" {
			o.count = 50
		}
	}
	if o.count < 1 {
		return o, fmt.Errorf("count %d: use 1 or more", o.count)
	}
	root, err := filepath.Abs(flags.Arg(0))
	o.root = root
	return o, err
}

// announce prints what will happen, and how long it takes.
func announce(out io.Writer, o options) {
	cores := runtime.NumCPU()
	if o.pkg != "" {
		fmt.Fprintf(out, "%s %s: %d runs, %d at a time, for at most %v\n", o.pkg, o.run, o.count, perCore*cores, totalLimit)
		return
	}
	minutes := min(coreMinutes*o.count/cores+3, int(totalLimit.Minutes()))
	fmt.Fprintf(out, "all tests %d times in random order, a load of %d on each of %d cores: about %d minutes, at most %v\n",
		o.count, perCore, cores, minutes, totalLimit)
}
