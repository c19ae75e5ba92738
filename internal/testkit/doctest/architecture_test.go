package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// architecture is the page that lists the packages and the code paths.
const architecture = "docs/architecture.md"

var (
	packageRow = regexp.MustCompile("^\\| `([^`]+)` \\|")
	pathRow    = regexp.MustCompile("^\\| (?:(\\d+)|(return))( ↑)? \\| `([^`]+)` \\| `([^`]+)` \\|")
	placeRow   = regexp.MustCompile("^\\| [A-Z][^|]+\\? \\| `([^`]+)` \\| `([^`]+)` \\|$")
	counts     = regexp.MustCompile(`(\d+) file entries, (\d+) returns?, (\d+) calls? upwards`)
	besideFile = regexp.MustCompile("`([^`.]+\\.)?([^`.]+)` (?:in|of) `([^`]+\\.go)`")
	folderList = regexp.MustCompile("the folders at the top level import .*: ((?:`\\w+`(?:, )?)+)")
	filePath   = regexp.MustCompile(`^[\w-]+(/[\w.-]+)*(/|\.(go|md|yml|yaml|json|ts))$`)
)

// sections returns the lines of a page below each of its headings.
func sections(text string) map[string][]string {
	found, heading := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); isHeading && strings.HasPrefix(line, "#") {
			heading = name
		}
		found[heading] = append(found[heading], line)
	}
	return found
}

// packageFaults compares the table of packages with the existing packages and their
// imports: each is listed once, below what it imports.
func packageFaults(rows []string, imports map[string][]string) (faults []string) {
	at := map[string]int{}
	for i, row := range rows {
		match := packageRow.FindStringSubmatch(row)
		if match == nil {
			continue
		}
		name := match[1]
		if _, twice := at[name]; twice {
			faults = append(faults, name+" is listed twice")
		}
		if _, exists := imports[name]; !exists {
			faults = append(faults, name+" is listed and does not exist")
		}
		at[name] = i
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		own, listed := at[name]
		if !listed {
			faults = append(faults, name+" is not listed")
		}
		for _, imported := range imports[name] {
			if above, ok := at[imported]; listed && ok && above > own {
				faults = append(faults, fmt.Sprintf("%s imports %s, which is listed below it", name, imported))
			}
		}
	}
	return faults
}

// folderFaults checks that the folders at the top level import each other in one direction only: a folder imports only
// folders before it in order.
func folderFaults(order []string, imports map[string][]string) (faults []string) {
	at := func(name string) int {
		folder, _, _ := strings.Cut(name, "/")
		return slices.Index(order, folder)
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if at(name) < 0 {
			faults = append(faults, "the folder of "+name+" is not listed")
		}
		for _, imported := range imports[name] {
			if at(imported) > at(name) {
				faults = append(faults, fmt.Sprintf("%s imports %s, whose folder is listed after its own", name, imported))
			}
		}
	}
	return faults
}

// productPackages returns the packages of the program, each with the product
// packages that it imports.
func productPackages(t *testing.T) map[string][]string {
	t.Helper()
	const form = `{{if .GoFiles}}{{.ImportPath}} {{join .Imports " "}}{{end}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-tags", "nomsgpack", "-f", form, "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		var ours []string
		for name := range strings.FieldsSeq(line) {
			if own, found := strings.CutPrefix(name, "larder.local/"); found {
				ours = append(ours, own)
			}
		}
		if len(ours) > 0 && !strings.HasPrefix(ours[0], "internal/testkit/") {
			packages[ours[0]] = ours[1:]
		}
	}
	return packages
}

// declared returns the functions, methods, types and variables of a file, with the
// page's names.
func declared(path string) (map[string]bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			names[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					names[s.Names[0].Name] = true
				}
			}
		}
	}
	return names, nil
}

// receiver returns the type of a method with a full stop, empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if pointer, ok := typ.(*ast.StarExpr); ok {
		typ = pointer.X
	}
	switch generic := typ.(type) {
	case *ast.IndexExpr:
		typ = generic.X
	case *ast.IndexListExpr:
		typ = generic.X
	}
	name, _ := typ.(*ast.Ident)
	return name.Name + "."
}

// functionFault reports a file that does not exist or does not have the function.
func functionFault(file, function string) string {
	names, err := declared(filepath.Join(root, file))
	switch {
	case err != nil:
		return err.Error()
	case !names[function]:
		return fmt.Sprintf("%s has no %s", file, function)
	default:
		return ""
	}
}

// pathFaults checks the table of one code path: the numbers of its entries, that
// each file is entered once and returned to afterwards, and the counts in the text.
func pathFaults(lines []string) (faults []string) {
	entered := map[string]bool{}
	entries, returns, upwards := 0, 0, 0
	before := ""
	for _, line := range lines {
		row := pathRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		file := row[4]
		if row[2] == "" {
			if entries++; row[1] != strconv.Itoa(entries) || entered[file] {
				faults = append(faults, fmt.Sprintf("row %s, %s: entry %d of another file is due", row[1], file, entries))
			}
		} else if returns++; !entered[file] || before == file {
			faults = append(faults, file+": a return to a file that was not left")
		}
		if row[3] != "" {
			upwards++
		}
		entered[file], before = true, file
		if fault := functionFault(file, row[5]); fault != "" {
			faults = append(faults, fault)
		}
	}
	want := []string{strconv.Itoa(entries), strconv.Itoa(returns), strconv.Itoa(upwards)}
	said := counts.FindStringSubmatch(strings.Join(lines, "\n"))
	if said == nil || !slices.Equal(said[1:], want) {
		faults = append(faults, fmt.Sprintf("the table has %s entries, returns and calls upwards, the text says %q", strings.Join(want, ", "), said))
	}
	return faults
}

// TestArchitecture compares docs/architecture.md with the code.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, architecture))
	if err != nil {
		t.Fatal(err)
	}
	all := sections(string(text))
	packages := productPackages(t)
	folders := folderList.FindStringSubmatch(string(text))
	if folders == nil {
		t.Fatal("the page does not list the folders at the top level")
	}
	order := strings.FieldsFunc(folders[1], func(r rune) bool { return strings.ContainsRune("`, ", r) })
	for _, fault := range append(packageFaults(all["Packages"], packages), folderFaults(order, packages)...) {
		t.Error("packages: " + fault)
	}
	paths := 0
	for heading, lines := range all {
		if !slices.ContainsFunc(lines, pathRow.MatchString) {
			continue
		}
		paths++
		for _, fault := range pathFaults(lines) {
			t.Errorf("%s: %s", heading, fault)
		}
	}
	if want := 5; paths != want {
		t.Errorf("%d code paths, want %d", paths, want)
	}
	places := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if row := placeRow.FindStringSubmatch(line); row != nil {
			places++
			if fault := functionFault(row[1], row[2]); fault != "" {
				t.Error(fault)
			}
		}
		for _, match := range besideFile.FindAllStringSubmatch(line, -1) {
			if fault := functionFault(match[3], match[1]+match[2]); fault != "" && !strings.HasSuffix(match[3], "_test.go") {
				t.Error(fault)
			}
		}
	}
	if least := 10; places < least {
		t.Errorf("%d places of decisions found, want at least %d", places, least)
	}
	for _, span := range parse(architecture, string(text)).Spans() {
		if !filePath.MatchString(span) {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, span)); err != nil {
			t.Error(err)
		}
	}
}

func TestFaultsOfAnArchitecturePage(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}}
	rows := []string{"| `b` | text | none |", "| `a` | text | none |", "| `a` | again | none |", "| `d` | gone | none |"}
	want := []string{"a is listed twice", "d is listed and does not exist", "b imports a, which is listed below it", "c is not listed"}
	if got := packageFaults(rows, imports); !slices.Equal(got, want) {
		t.Errorf("faults of packages\n%q, want\n%q", got, want)
	}
	imports = map[string][]string{"low": {"high/a"}, "high/b": {"low"}, "other": nil}
	want = []string{"low imports high/a, whose folder is listed after its own", "the folder of other is not listed"}
	if got := folderFaults([]string{"low", "high"}, imports); !slices.Equal(got, want) {
		t.Errorf("faults of folders\n%q, want\n%q", got, want)
	}
	const file = "internal/testkit/doctest/page.go"
	got := pathFaults([]string{
		"2 file entries, 1 return, 0 calls upwards.",
		"| 1 | `" + file + "` | `Find` | step |",
		"| return ↑ | `" + file + "` | `Page.Missing` | step |",
		"| 3 | `internal/testkit/doctest/missing.go` | `Find` | step |",
	})
	if len(got) != 5 {
		t.Errorf("%d faults of a path, want 5:\n%s", len(got), strings.Join(got, "\n"))
	}
}
