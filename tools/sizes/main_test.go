package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write creates a package with these numbers of source files and methods of a type.
func write(t *testing.T, root, folder string, files, methods int) {
	t.Helper()
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	fmt.Fprint(&body, "package p\n\ntype T[V any] struct{}\n")
	for i := range methods {
		fmt.Fprintf(&body, "\nfunc (t *T[V]) m%d() {}\n", i)
	}
	texts := map[string]string{"doc.go": body.String(), "p_test.go": "package p\n\nfunc (T[V]) test() {}\n"}
	for i := range files - 1 {
		texts[fmt.Sprintf("f%d.go", i)] = "package p\n"
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files, methods int
		exceptions     map[string]bool
		want           []string
	}{
		"at the limits": {30, 40, nil, nil},
		"files":         {31, 1, nil, []string{"a/b: 31 source files, at most 30: move a subject to a package of its own"}},
		"methods":       {1, 41, nil, []string{"a/b.T: 41 methods, at most 40: split the type by what its methods use"}},
		"exception":     {1, 41, map[string]bool{"a/b.T": true}, nil},
		"no need of it": {1, 40, map[string]bool{"a/b.T": true}, []string{"a/b.T: 40 methods, at most 40: remove its exception in tools/sizes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, "a/b", test.files, test.methods)
			write(t, root, ".cache", 31, 41)
			got, err := check(root, test.exceptions)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("check = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
