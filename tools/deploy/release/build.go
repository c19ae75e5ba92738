package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// build links larder for a platform, independent of this machine, and returns the path
// of the program. more are additional build tags.
func (r *release) build(ctx context.Context, system, processor string, more ...string) (string, error) {
	tags := strings.Join(append([]string{"nomsgpack"}, more...), ",")
	program := filepath.Join(r.temp, system+"-"+processor+"-"+tags)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, //nolint:gosec // G204: the version's form is checked
		"-gcflags", "all=-dwarf=false", // no debug information, as -s -w; the Makefile has the same flag, so that packages are compiled once
		"-ldflags", "-s -w -X main.version="+r.version, "-o", path, "./cmd/larder")
	build.Dir = r.root
	// Other settings of the machine would change the bytes.
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor,
		"CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return program, nil
}

// common returns the files of every archive, including those that larder prints; here
// is a program for this machine.
func (r *release) common(ctx context.Context, here string) ([]entry, error) {
	var entries []entry
	for _, each := range [][2]string{
		{"LICENSE", "LICENSE"},
		{"README.md", "README.md"},
		{"CHANGELOG.md", "CHANGELOG.md"},
		{"configs/larder.yaml", "larder.yaml"},
		{"deploy/systemd/larder.service", "systemd/larder.service"},
		{"deploy/systemd/larder.yaml", "systemd/larder.yaml"},
	} {
		file, err := read(filepath.Join(r.root, each[0]), each[1], 0o644)
		if err != nil {
			return nil, err
		}
		entries = append(entries, file)
	}
	pages, err := r.manualPages(ctx)
	if err != nil {
		return nil, err
	}
	entries = append(entries, pages...)
	for _, each := range [][2]string{
		{"bash", "completions/larder.bash"},
		{"zsh", "completions/_larder"},
		{"fish", "completions/larder.fish"},
	} {
		script := exec.CommandContext(ctx, here, "completion", each[0]) //nolint:gosec // G204: the program was built here
		script.Env = []string{"PATH=" + os.Getenv("PATH")}
		text, err := script.Output()
		if err != nil {
			return nil, fmt.Errorf("larder %s: %w", strings.Join(script.Args[1:], " "), err)
		}
		entries = append(entries, entry{name: each[1], mode: 0o644, content: text})
	}
	return entries, nil
}

// manualPages returns the manual pages of all commands. A program with the build tag
// manpages, for this machine, writes them.
func (r *release) manualPages(ctx context.Context) ([]entry, error) {
	program, err := r.build(ctx, runtime.GOOS, runtime.GOARCH, "manpages")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.temp, "man-")
	if err != nil {
		return nil, err
	}
	write := exec.CommandContext(ctx, program, "man", dir) //nolint:gosec // G204: the program was built here
	write.Env = []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.at.Unix(), 10)}
	if output, err := write.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("larder man: %w\n%s", err, output)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return nil, err
	}
	pages := make([]entry, 0, len(files))
	for _, file := range files {
		page, err := read(file, "man/man1/"+filepath.Base(file), 0o644)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}
