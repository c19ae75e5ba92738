// Command larder-bench measures larder on this machine with real processes on
// loopback: at scale, under constant load, and against other servers. It has its
// own module, so that neither larder's binary nor its module depends on it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	logging.Disable()            // errors contain all that is needed
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // nil means os.Args
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusDone
	}
	_, _ = fmt.Fprintln(errOut, "larder-bench:", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return statusUsage
	}
	return statusFailed
}

// usageError is an invalid command line.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:               "larder-bench",
		Short:             "Measure larder on this machine, with real processes on loopback",
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              noArguments,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{"missing subcommand: scale, restaurants, soak, peers, orders, instances or compare; see --help"}
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err.Error()} })
	root.AddCommand(scaleCommand(), restaurantsCommand(), soakCommand(), peersCommand(), ordersCommand(), instancesCommand(), compareCommand())
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return &usageError{err.Error()}
	}
	return nil
}

// addCommonFlags adds the flags that all commands have.
func addCommonFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String("larder", "", "the larder binary to measure; default: larder in the folder of this program")
	flags.String("dir", "", "where to create the temporary folder; default: the system's")
	flags.Bool("json", false, "print JSON")
}

// programOf returns the absolute path of the program in a flag, or of the program
// with the given name beside this one. target is the make target that builds it.
func programOf(cmd *cobra.Command, flag, name, target string) (string, error) {
	path, _ := cmd.Flags().GetString(flag)
	if path == "" {
		own, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program: %w", err)
		}
		path = filepath.Join(filepath.Dir(own), name)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("--%s: %w; make %s builds bin/%s", flag, err, target, name)
	}
	return filepath.Abs(path)
}

// sayTo returns a function that prints one line of progress.
func sayTo(out io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format+"\n", args...) // progress that nobody reads changes nothing
	}
}

// show prints the results as JSON or as text.
func show(cmd *cobra.Command, found any, text string) error {
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		encoded, err := json.MarshalIndent(found, "", "  ")
		if err != nil {
			return fmt.Errorf("print JSON: %w", err)
		}
		text = string(encoded) + "\n"
	}
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// page is a Markdown page that contains figures between marks, with a plot beside
// it. An empty path means no page.
type page struct {
	path string
	plot string // file name; empty: no plot
	// replace replaces the section between the marks of a text.
	replace func(text, section string) (string, error)
}

// check returns an error if the page has no marks, before the measurement.
func (p page) check() error {
	if p.path == "" {
		return nil
	}
	text, err := os.ReadFile(p.path)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = p.replace(string(text), "")
	return err
}

// write writes the section into the page, and the plot.
func (p page) write(section, plot string) error {
	if p.path == "" {
		return nil
	}
	before, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	text, err := p.replace(string(before), section)
	if err != nil {
		return err
	}
	err = os.WriteFile(p.path, []byte(text), 0o644) //nolint:gosec // G306: a page for everyone
	if p.plot == "" {
		return err
	}
	return errors.Join(err, os.WriteFile(filepath.Join(filepath.Dir(p.path), p.plot), []byte(plot), 0o644)) //nolint:gosec // G306: a page for everyone
}
