// Command sizes checks two limits that golangci-lint has no rule for: source files
// per package and methods per type. doc.go counts as a source file; tests do not,
// neither do their methods. Limits on lines are in .golangci.yml.
//
// Usage: sizes ROOT   (run by make lint, over the product and the tools)
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxFiles: a larger package probably has a second subject.
	maxFiles = 30
	// maxMethods: a larger type does the work of several.
	maxMethods = 40
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sizes ROOT")
		os.Exit(2)
	}
	// A list of key functions: one method for each Redis key keeps all keys in one place.
	findings, err := check(os.Args[1], map[string]bool{"cache.Keys": true})
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(2)
	}
	for _, finding := range findings {
		fmt.Println(finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check returns the violations below root. Exceptions are types that may have more
// methods, by folder and name; an exception that is not needed is a violation.
func check(root string, exceptions map[string]bool) ([]string, error) {
	files, methods := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		files[folder]++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil {
				methods[folder+"."+receiver(method.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	var findings []string
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		if n := files[folder]; n > maxFiles {
			findings = append(findings, fmt.Sprintf("%s: %d source files, at most %d: move a subject to a package of its own", folder, n, maxFiles))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if n := methods[name]; n > maxMethods && !exceptions[name] {
			findings = append(findings, fmt.Sprintf("%s: %d methods, at most %d: split the type by what its methods use", name, n, maxMethods))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		if n := methods[name]; n <= maxMethods {
			findings = append(findings, fmt.Sprintf("%s: %d methods, at most %d: remove its exception in tools/sizes", name, n, maxMethods))
		}
	}
	return findings, err
}

// receiver returns the name of a method's type, without pointer and type parameters.
func receiver(expr ast.Expr) string {
	switch t := expr.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	default:
		return fmt.Sprintf("%T", expr)
	}
}
