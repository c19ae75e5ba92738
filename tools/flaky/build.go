package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// program is the test program of one package.
type program struct {
	Name string // import path
	Dir  string // the folder of the package, in which its tests run
	File string
}

// build compiles the test programs of one package, or of all packages of all modules.
func build(ctx context.Context, o options, work string) ([]program, error) {
	folders, pattern := []string{o.folder}, "."
	if o.pkg == "" {
		var err error
		if folders, err = modules(o.root); err != nil {
			return nil, err
		}
		pattern = "./..."
	}
	var all []program
	for _, folder := range folders {
		listed, err := list(ctx, folder, pattern)
		if err != nil {
			return nil, err
		}
		for _, p := range listed {
			p.File = filepath.Join(work, strconv.Itoa(len(all))+".test")
			if _, err := goCommand(ctx, p.Dir, "test", "-c", "-vet=off", "-ldflags=-w", "-tags", os.Getenv("TAGS"), "-o", p.File, "."); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no tests in %s", folders)
	}
	return all, nil
}

// modules returns the folders below root that have a go.mod, root included.
func modules(root string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (entry.Name()[0] == '.' || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			folders = append(folders, filepath.Dir(path))
		}
		return nil
	})
	return folders, err
}

// list returns the packages with tests that match a pattern.
func list(ctx context.Context, dir, pattern string) ([]program, error) {
	out, err := goCommand(ctx, dir, "list", "-tags", os.Getenv("TAGS"), "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", pattern)
	if err != nil {
		return nil, err
	}
	var found []program
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		err := decoder.Decode(&p)
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		case len(p.TestGoFiles)+len(p.XTestGoFiles) > 0:
			found = append(found, program{Name: p.ImportPath, Dir: p.Dir})
		}
	}
}

// goCommand runs go in a folder and returns its output. The error has what it printed.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s%s", args[0], dir, err, stderr.Bytes(), stdout.Bytes())
	}
	return stdout.Bytes(), nil
}
