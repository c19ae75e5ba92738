package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// secretOf reads from a terminal without showing what is typed; nil for what is
// no terminal. When ctx ends first, the terminal shows again what is typed, and
// the read is left to the end of the program: nothing can interrupt it.
func secretOf(file *os.File) func(ctx context.Context) (string, error) {
	fd := int(file.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		shown, err := term.GetState(fd)
		if err != nil {
			return "", err
		}
		type line struct {
			text []byte
			err  error
		}
		read := make(chan line, 1)
		go func() {
			text, err := term.ReadPassword(fd)
			read <- line{text, err}
		}()
		select {
		case got := <-read:
			return string(got.text), got.err
		case <-ctx.Done():
			return "", errors.Join(context.Cause(ctx), term.Restore(fd, shown))
		}
	}
}
