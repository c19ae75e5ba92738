// Package process starts programs for tests and measurements. Each child's output
// goes to a file, its first lines can be waited for, and it is stopped by its own
// id.
//
// It is test support: only tests, benchmarks and tools import it.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"larder.local/internal/sleep"
)

const (
	// headBytes is how much of a child's first output is searched.
	headBytes = 1 << 20
	// readAgain is the pause before the output is searched again.
	readAgain = 5 * time.Millisecond
	// stopSignal asks a process to end.
	stopSignal = syscall.SIGTERM
	// stopWithin is how long a child may take to exit before it is killed.
	stopWithin = 30 * time.Second
)

// Child is one process that a test or a measurement has started. Its methods may be
// called from several goroutines.
type Child struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	exited  chan struct{} // closed when the process has been reaped
}

// Start starts a program whose output goes to NAME.log in the folder, without this process between them: a load
// generator must not spend its time on the log of the program that it measures. The end of ctx does not stop the
// program. Only Stop and Kill do and, if the system supports it, the end of this process.
func Start(ctx context.Context, dir, name string, env []string, program string, arguments ...string) (*Child, error) {
	c := &Child{name: name, logPath: filepath.Join(dir, name+".log"), exited: make(chan struct{})}
	log, err := os.Create(c.logPath)
	if err != nil {
		return nil, fmt.Errorf("process: log of %s: %w", name, err)
	}
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, arguments...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = dieWithParent()
	started := c.cmd.Start()
	if err := errors.Join(started, log.Close()); err != nil {
		return nil, fmt.Errorf("process: start %s: %w", name, err)
	}
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait() // its log shows how it ended
	}()
	return c, nil
}

// Await waits until the start of the output matches, and returns the first group of
// the match. If the child exits first, the error shows its last output.
func (c *Child) Await(ctx context.Context, pattern *regexp.Regexp) (string, error) {
	for {
		ended := c.Alive() != nil // before the read: then that has all of the output
		head, err := c.head()
		if err != nil {
			return "", fmt.Errorf("process: output of %s: %w", c.name, err)
		}
		if found := pattern.FindSubmatch(head); found != nil {
			return string(found[1]), nil
		}
		if ended {
			return "", c.Alive()
		}
		if sleep.For(ctx, readAgain) != nil {
			return "", fmt.Errorf("process: %s said nothing like %q: %w", c.name, pattern, context.Cause(ctx))
		}
	}
}

// head returns the start of the output.
func (c *Child) head() ([]byte, error) {
	log, err := os.Open(c.logPath)
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(log, headBytes))
	return head, errors.Join(err, log.Close())
}

// tailBytes is how much of a child's last output an error shows.
const tailBytes = 2 << 10

func (c *Child) tail() string {
	content, err := os.ReadFile(c.logPath)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-tailBytes):])
}

// LogPath returns the file that the output goes to.
func (c *Child) LogPath() string { return c.logPath }

// PID returns the process's id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Alive returns an error if the process has exited.
func (c *Child) Alive() error {
	select {
	case <-c.exited:
		return fmt.Errorf("process: %s ended by itself:\n%s", c.name, c.tail())
	default:
		return nil
	}
}

// Stop asks the process to exit, kills it after half a minute, and returns when it
// is gone.
func (c *Child) Stop() {
	_ = c.cmd.Process.Signal(stopSignal) // the only error is that it has exited
	limit := time.NewTimer(stopWithin)
	defer limit.Stop()
	select {
	case <-c.exited:
	case <-limit.C:
		c.Kill()
	}
}

// Kill kills the process and returns when it is gone.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // the only error is that it has exited
	<-c.exited
}
