// Command flaky finds tests that fail by chance. It runs tests many times, in random
// order, while all cores are busy, and lists each test that failed with the number of
// its failures and its first message.
//
// Usage: flaky [-count N] [-limit TIME] [-pkg FOLDER [-run PATTERN]] ROOT   (run by make flaky)
//
// Without -pkg it runs all tests of all modules below ROOT N (3) times. With -pkg it
// runs the tests of one package that match PATTERN N (50) times. TIME (20m) is the limit
// of one test program; the whole run takes at most 40 minutes. Tests that run at that moment
// are listed: nothing is known about them.
// Four test programs for each core run at the same time. Without -pkg, none is started
// while more threads than that are ready to run, and while fewer are, busy threads take
// the place of the missing ones.
//
// It builds with the flags of GOFLAGS and the tags of TAGS. The outputs of failed test
// programs are in ROOT/.cache/flaky. The exit status is 1 if a test failed, and 2 if
// nothing can be said: wrong arguments, no matching test, an interrupt, not enough time.
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
	"regexp"
	"runtime"
	"strconv"
	"strings"
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
	// buildMinutes is the time of the build.
	buildMinutes = 3
)

// options are the arguments of the command.
type options struct {
	root, pkg, run string
	folder         string // of the package
	temp           string // the folder for temporary files of tests
	count          int
	limit          time.Duration // of one test program
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
		if errors.Is(err, errFailed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// cores is the number of processors that this program may use.
var cores = runtime.GOMAXPROCS(0)

// errFailed is returned if a test failed.
var errFailed = errors.New("tests failed")

// errTimeIsOver is the cause of a context that ends after totalLimit.
var errTimeIsOver = errors.New("the time limit of the whole run is reached")

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, totalLimit, errTimeIsOver)
	defer cancel()
	work := filepath.Join(o.root, ".cache", "flaky")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	begun := time.Now()
	if err := announce(out, o); err != nil {
		return err
	}
	programs, err := build(ctx, o, work)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d test programs are built after %v\n", len(programs), time.Since(begun).Round(time.Second))
	// Tests that are stopped leave their files.
	if o.temp, err = os.MkdirTemp("", "flaky"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(o.temp) }()
	r := &report{out: out, all: o.count * len(programs), first: map[string]string{}, failures: map[string]int{}}
	runAll(ctx, o, programs, work, r)
	nothing := r.done == r.all && len(r.failures) == 0 && r.ran == 0
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeIsOver):
		_ = r.print(time.Since(begun))
		return fmt.Errorf("interrupted after %d of %d runs; %d tests failed in these", r.done, r.all, len(r.failures))
	case nothing && r.skipped > 0:
		return fmt.Errorf("every test of %s that matches %q was skipped", o.pkg, o.run)
	case nothing:
		return fmt.Errorf("no test of %s matches %q: see go test -list . %s", o.pkg, o.run, o.pkg)
	}
	return r.print(time.Since(begun))
}

// parse reads the arguments.
func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("flaky", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says what is wrong
	var o options
	var count string
	flags.StringVar(&o.pkg, "pkg", "", "the folder of one package; the default is all packages")
	flags.StringVar(&o.run, "run", "", "with -pkg: the tests, as for go test -run")
	flags.StringVar(&count, "count", "", "how often each test runs; the default is 3, or 50 with -pkg")
	flags.DurationVar(&o.limit, "limit", 20*time.Minute, "the time limit of one test program")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() != 1 {
		return o, errors.New("usage: flaky [-count N] [-limit TIME] [-pkg FOLDER [-run PATTERN]] ROOT; FOLDER is one package")
	}
	var err error
	if o.root, err = filepath.Abs(flags.Arg(0)); err != nil {
		return o, err
	}
	switch number, err := strconv.Atoi(count); {
	case count == "" && o.pkg == "":
		o.count = 3
	case count == "":
		o.count = 50
	case err != nil || number < 1:
		return o, fmt.Errorf("count (FLAKY_COUNT) is %q: use a number, 1 or more", count)
	default:
		o.count = number
	}
	if o.run != "" && o.pkg == "" {
		return o, errors.New("a pattern of tests needs a package: make flaky PKG=./sync RUN=TestX")
	}
	if _, err := regexp.Compile(o.run); err != nil {
		return o, fmt.Errorf("the pattern of tests (RUN) is not valid: %w", err)
	}
	if o.pkg == "" {
		return o, nil
	}
	if o.folder = o.pkg; !filepath.IsAbs(o.pkg) {
		o.folder = filepath.Join(o.root, o.pkg)
	}
	if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
		return o, fmt.Errorf("there is no folder %s: PKG is the folder of one package, such as ./sync", o.pkg)
	}
	return o, nil
}

// announce prints what will happen, and how long it takes. It returns an error if that is too long.
func announce(out io.Writer, o options) error {
	limit := int(totalLimit.Minutes())
	if o.pkg != "" {
		fmt.Fprintf(out, "%s: %d runs, %d at a time, for at most %d minutes\n",
			strings.TrimSpace(o.pkg+" "+o.run), o.count, perCore*cores, limit)
		return nil
	}
	minutes := coreMinutes*o.count/cores + buildMinutes
	if minutes > limit {
		return fmt.Errorf("all tests %d times take about %d minutes, and the limit is %d: at most %d times (FLAKY_COUNT)",
			o.count, minutes, limit, (limit-buildMinutes)*cores/coreMinutes)
	}
	fmt.Fprintf(out, "all tests %d times in random order, a load of %d on each of %d cores: about %d minutes, at most %d\n",
		o.count, perCore, cores, minutes, limit)
	return nil
}
