package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// The size that is taken for granted where a terminal does not tell its own.
const (
	usualColumns = 80
	usualRows    = 24
)

// sizeOf gives a terminal's size; nil for what is no terminal.
func sizeOf(file *os.File) func() (columns, rows int) {
	fd := int(file.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() (int, int) {
		columns, rows, err := term.GetSize(fd)
		if err != nil || columns < 1 || rows < 1 {
			return usualColumns, usualRows
		}
		return columns, rows
	}
}

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
