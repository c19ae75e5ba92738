package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// licence matches the files of a module that must be distributed with it.
var licence = regexp.MustCompile(`^(?i)(licen[cs]e|notice|copying|patents)([.-].*)?$`)

// licences returns the licences and notices of all modules of a program, which must be
// distributed with it. A module without one is an error.
func (r *release) licences(ctx context.Context, program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	folders, err := r.folders(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "larder is linked from Go's own library and %d modules. Their licences:\n", len(info.Deps))
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if err := gather(&text, "Go "+info.GoVersion, string(bytes.TrimSpace(goroot))); err != nil {
		return nil, err
	}
	for _, each := range info.Deps {
		if err := gather(&text, each.Path+" "+each.Version, folders[each.Path]); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// gather adds the licences in a module's folder.
func gather(text *bytes.Buffer, name, folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", name, err)
	}
	found := false
	for _, file := range files {
		if file.IsDir() || !licence.MatchString(file.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, file.Name())) //nolint:gosec // G304: the module cache
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(text, "\n==== %s: %s\n\n%s\n", name, file.Name(), bytes.TrimSpace(bytes.ReplaceAll(content, []byte("\r"), nil)))
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s: it cannot be passed on", name, folder)
	}
	return nil
}

// folders returns the folders of the modules on this machine.
func (r *release) folders(ctx context.Context) (map[string]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-json=Path,Dir", "all")
	list.Dir = r.root
	list.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m all: %w", err)
	}
	folders := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var each struct{ Path, Dir string }
		if err := decoder.Decode(&each); errors.Is(err, io.EOF) {
			return folders, nil
		} else if err != nil {
			return nil, err
		}
		folders[each.Path] = each.Dir
	}
}
