//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// lockFileOnce takes the lock of a file and writes this process's number into
// it; file is nil when another process, whose number holder is, has the lock.
// The lock ends with the process, however it ends.
func lockFileOnce(path string) (file *os.File, holder string, err error) {
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the configuration's
	if err != nil {
		return nil, "", err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		said, _ := io.ReadAll(io.LimitReader(file, 32)) // unknown is said below
		if holder = strings.TrimSpace(string(said)); holder == "" {
			holder = "unknown"
		}
		return nil, holder, file.Close()
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, "", errors.Join(err, file.Close())
	}
	return file, "", nil
}

// spawn starts a program in a session of its own, so that neither the
// terminal's Ctrl-C nor its end reaches it, and with its output in a file, so
// that it outlives this process. reaped waits for it.
func spawn(binary string, arguments []string, dir, logPath string) (pid int, err error) {
	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if stat, err := os.Stat(logPath); err == nil && stat.Size() > maxLog {
		mode |= os.O_TRUNC
	}
	output, err := os.OpenFile(logPath, mode, 0o600) //nolint:gosec // the path is the configuration's
	if err != nil {
		return 0, fmt.Errorf("open its log: %w", err)
	}
	// No context ends it: it is stopped, or left for the next larder.
	cmd := exec.Command(binary, arguments...) //nolint:gosec,noctx // found by a fixed name; see above
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), output.Close()); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release() // from here on it is known by its number
}

// reaped tells whether a process started here has ended, and takes its status.
func reaped(pid int) bool {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid || errors.Is(err, syscall.ECHILD)
}

// exists tells whether there is a process of that number.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// terminate asks a process to end; that it has ended already is no fault.
func terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }

// kill ends a process, a frozen one too.
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
