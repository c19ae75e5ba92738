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

// lockFileOnce takes the lock of a file; file is nil when another process has
// it, whose number holder is if it has signed. The lock ends with the last
// process that has the file open, however it ends.
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
	if err != nil {
		return nil, "", errors.Join(err, file.Close())
	}
	return file, "", nil
}

// sign writes into a locked file whose lock it is.
func sign(file *os.File, pid int) error {
	err := file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0)
	}
	return err
}

// locked tells whether a process has the lock of a file.
func locked(path string) bool {
	file, _, err := lockFileOnce(path)
	if file != nil {
		_ = file.Close() // it was only asked
	}
	return err == nil && file == nil
}

// spawn starts a program in a session of its own, so that neither the
// terminal's Ctrl-C nor its end reaches it, and with its output in a file, so
// that it outlives this process. It inherits an open file, and with it the
// file's lock. reaped waits for it.
func spawn(binary string, arguments []string, dir, logPath string, inherits *os.File) (pid int, err error) {
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
	cmd.ExtraFiles = []*os.File{inherits}
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
