package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// lineReader prints a prompt and reads one line. A terminal does not show a secret.
type lineReader func(prompt string, secret bool) (string, error)

// newLineReader returns a reader of standard input. On a terminal, the kernel's echo
// is off until restore is called, and term.Terminal shows the answers that are not
// secret. So the terminal never shows a secret, even if several answers are pasted
// before they are asked for. Ctrl-C still sends a signal (ISIG).
func newLineReader(env *Environment) (read lineReader, restore func(), err error) {
	file, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		in := bufio.NewReader(env.In)
		return func(prompt string, _ bool) (string, error) {
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
	read = func(prompt string, secret bool) (text string, err error) {
		if secret {
			return screen.ReadPassword(Safe(prompt))
		}
		screen.SetPrompt(Safe(prompt))
		text, err = screen.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) { // not an error
			err = nil
		}
		return strings.TrimSpace(text), err
	}
	// Answers that were not read are discarded, so that no shell shows them.
	return read, func() { _ = unix.IoctlSetTermios(fd, flushTermios, before) }, nil
}
