package doctest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// World is what a page's steps are run against.
type World struct {
	// Addresses as pages have them, and as they are: "127.0.0.1:8080" first,
	// which is where a request goes that names no Host.
	Addresses [][2]string
	// Commands are programs by the name that pages call them by, each a line of
	// sh that ends in the program's arguments: `exec redis-cli -p 4711 "$@"`.
	Commands map[string]string
	// Texts are words of commands that are something else here.
	Texts [][2]string
	// Env is added to the environment of commands.
	Env []string
	// Token gives a bearer token for a client of the configuration, which stands
	// as `Bearer {client}` in requests.
	Token func(ctx context.Context, client string) (string, error)

	folder   string            // where commands run
	here     *strings.Replacer // from the page's words to those of here
	back     *strings.Replacer
	answered map[string]string // fields of answers so far
}

// open makes the folder of the page's files and the one of its commands.
func (w *World) open(folder string) error {
	var here, back []string
	for _, pair := range append(append([][2]string{}, w.Texts...), w.Addresses...) {
		here = append(here, pair[0], pair[1])
	}
	for _, pair := range w.Addresses {
		back = append(back, pair[1], pair[0])
	}
	w.here, w.back = strings.NewReplacer(here...), strings.NewReplacer(back...)
	w.answered = map[string]string{}
	w.folder = filepath.Join(folder, "page")
	programs := filepath.Join(folder, "programs")
	for _, dir := range []string{w.folder, programs} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("doctest: %w", err)
		}
	}
	for name, line := range w.Commands {
		script := "#!/bin/sh\n" + line + "\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil { //nolint:gosec // a program
			return fmt.Errorf("doctest: %w", err)
		}
	}
	path := "PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH")
	w.Env = append(append(os.Environ(), w.Env...), path)
	return nil
}

// Left are the files that the commands have left behind.
func (w *World) Left() ([]string, error) {
	entries, err := os.ReadDir(w.folder)
	if err != nil {
		return nil, fmt.Errorf("doctest: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}
