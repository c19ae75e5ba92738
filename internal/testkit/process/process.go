// Package process starts programs for tests and measurements. Each child's output
// goes to a file, its first lines can be waited for, and it is stopped by its own
// id.
//
// It is test support: only tests, benchmarks and tools import it.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

const (
	// headBytes is how much of a child's first output is kept for matching.
	headBytes = 1 << 20
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

	mu    sync.Mutex
	file  *os.File
	head  bytes.Buffer
	grown chan struct{} // closed at the next output
}

// Start starts a program whose output goes to NAME.log in the folder. The end of
// ctx does not stop it. Only Stop and Kill do and, if the system supports it, the
// end of this process.
func Start(ctx context.Context, dir, name string, env []string, program string, arguments ...string) (*Child, error) {
	c := &Child{
		name:    name,
		logPath: filepath.Join(dir, name+".log"),
		exited:  make(chan struct{}),
		grown:   make(chan struct{}),
	}
	var err error
	if c.file, err = os.Create(c.logPath); err != nil {
		return nil, fmt.Errorf("process: log of %s: %w", name, err)
	}
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, arguments...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = c, c
	c.cmd.SysProcAttr = dieWithParent()
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("process: start %s: %w", name, err), c.file.Close())
	}
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait() // its log shows how it ended
		_ = c.file.Close()
	}()
	return c, nil
}

// Write receives the child's output.
func (c *Child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := headBytes - c.head.Len(); left > 0 {
		c.head.Write(p[:min(left, len(p))])
		close(c.grown)
		c.grown = make(chan struct{})
	}
	return c.file.Write(p)
}

// Await waits until the start of the output matches, and returns the first group of
// the match. If the child exits first, the error shows its last output.
func (c *Child) Await(ctx context.Context, pattern *regexp.Regexp) (string, error) {
	for {
		c.mu.Lock()
		found, grown := pattern.FindSubmatch(c.head.Bytes()), c.grown
		if found != nil {
			text := string(found[1])
			c.mu.Unlock()
			return text, nil
		}
		c.mu.Unlock()
		select {
		case <-grown:
		case <-c.exited:
			return "", fmt.Errorf("process: %s ended by itself:\n%s", c.name, c.tail())
		case <-ctx.Done():
			return "", fmt.Errorf("process: %s said nothing like %q: %w", c.name, pattern, context.Cause(ctx))
		}
	}
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
