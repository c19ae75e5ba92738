package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build links larder for a platform, with nothing of this machine in it, and
// gives the path of the program.
func (r *release) build(ctx context.Context, system, processor string) (string, error) {
	program := filepath.Join(r.temp, system+"-"+processor)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "nomsgpack", //nolint:gosec // G204: the version's form is checked
		"-ldflags", "-s -w -X main.version="+r.version, "-o", path, "./cmd/larder")
	build.Dir = r.root
	// What else a machine may have set would show in the bytes.
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor,
		"CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return program, nil
}

// common are the files that every archive has, those that larder itself prints
// among them: here is one that runs on this machine.
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
	pages, err := filepath.Glob(filepath.Join(r.root, "deploy", "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		file, err := read(page, "man/man1/"+filepath.Base(page), 0o644)
		if err != nil {
			return nil, err
		}
		entries = append(entries, file)
	}
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
