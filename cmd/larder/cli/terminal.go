package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// lineReader prints a prompt and reads one line. A terminal hides the line from the
// first key after which shown returns false, and completely if shown is nil.
type lineReader func(prompt string, shown func(line string) bool) (string, error)

// newLineReader returns a reader of standard input. On a terminal, the kernel's echo is off until
// restore is called, and term.Terminal shows the answers that are not secret. So the terminal never
// shows a secret, even if several answers are pasted before they are asked for. Ctrl-C still sends
// a signal (ISIG). Ctrl-Z stops the program with the terminal's original settings.
func newLineReader(env *Environment) (read lineReader, restore func(), err error) {
	file, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		in := bufio.NewReader(env.In)
		return func(prompt string, _ func(string) bool) (string, error) {
			env.Err.Printf("%s", prompt)
			text, err := in.ReadString('\n')
			return strings.TrimSpace(text), err
		}, func() {}, nil
	}
	fd := int(file.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, nil, err
	}
	settings := *before
	settings.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN
	settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &settings); err != nil {
		return nil, nil, err
	}
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, env.Err.Raw}, "")
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = screen.SetSize(width, height) // nothing is drawn yet
	}
	read = func(prompt string, shown func(string) bool) (text string, err error) {
		screen.AutoCompleteCallback = nil
		if shown == nil {
			return screen.ReadPassword(Safe(prompt))
		}
		hidden := ""
		screen.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
			if key < ' ' || utf16.IsSurrogate(key) || hidden == "" && shown(line[:at]+string(key)+line[at:]) {
				return "", 0, false
			}
			hidden += line + string(key)
			return "", 0, true
		}
		screen.SetPrompt(Safe(prompt))
		text, err = screen.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) { // not an error
			err = nil
		}
		return strings.TrimSpace(hidden + text), err
	}
	end := onSuspend(func() {
		_ = unix.IoctlSetTermios(fd, setTermios, before)
	}, func() {
		_ = unix.IoctlSetTermios(fd, setTermios, &settings)
		_, _ = screen.Write(nil) // draws the prompt again
	})
	// Unread answers are discarded, so that no shell shows them.
	return read, func() { end(); _ = unix.IoctlSetTermios(fd, flushTermios, before) }, nil
}

// onSuspend makes Ctrl-Z call stopped before it stops the program, and continued afterwards, until end is called.
func onSuspend(stopped, continued func()) (end func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, unix.SIGTSTP)
	go func() {
		defer close(done)
		for range signals {
			stopped()
			_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // no effect on the first process of a container
			time.Sleep(50 * time.Millisecond)          // the stop may take effect after the call
			continued()
		}
	}()
	return func() { signal.Stop(signals); close(signals); <-done }
}
