package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strings"
)

// A goPackage is the Go files of a folder with one package name, including those without
// tests, because a test may use their constants.
type goPackage struct {
	files  []*goFile
	values map[string]*variable // constants and variables of the package
	limits map[string]int       // test functions that use a parameter as a time limit, and its index
	shared *shared
}

// shared is what tests use of other packages: "process.Patience".
type shared struct {
	values map[string]*variable
	limits map[string]int // of internal/testkit
}

type goFile struct {
	path    string
	set     *token.FileSet
	file    *ast.File
	content []byte
	test    bool
	p       *goPackage
	locals  []*variable
	columns []*variable // of table tests
	bubbles []ast.Node  // function literals passed to synctest.Test
}

func addGoFile(packages map[string]*goPackage, all *shared, name, relative string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, relative, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	key := path.Dir(relative) + " " + file.Name.Name
	p := packages[key]
	if p == nil {
		p = &goPackage{values: map[string]*variable{}, limits: map[string]int{}, shared: all}
		packages[key] = p
	}
	f := &goFile{path: relative, set: set, file: file, content: content, p: p}
	f.test = strings.HasSuffix(relative, "_test.go") || strings.HasPrefix(relative, "internal/testkit/")
	p.files = append(p.files, f)
	for _, decl := range file.Decls {
		f.declare(decl)
	}
	return nil
}

// share makes the constants of the package known to tests of other packages, and the
// functions of internal/testkit with a time limit.
func (p *goPackage) share() {
	for before := -1; before < len(p.limits); { // a function may pass its limit to another one
		before = len(p.limits)
		for _, f := range p.files {
			f.findLimitFunctions()
		}
	}
	name := p.files[0].file.Name.Name
	for constant, v := range p.values {
		if ast.IsExported(constant) {
			if p.shared.values[name+"."+constant] != nil { // two packages with this name
				v = &variable{}
			}
			p.shared.values[name+"."+constant] = v
		}
	}
	for function, index := range p.limits {
		key := function // of a method: ".Await"
		if ast.IsExported(function) {
			key = name + "." + function
		}
		if ast.IsExported(key[strings.Index(key, ".")+1:]) {
			p.shared.limits[key] = index
		}
	}
}

// check returns the findings in the tests of the package.
func (p *goPackage) check() (findings []finding) {
	for _, f := range p.files {
		if !f.test {
			continue
		}
		found := append(f.waits(), f.ports()...)
		findings = append(findings, without(f.path, found, f.exceptions())...)
	}
	return findings
}

// exceptions returns the comments that allow a finding. A comment on a line of its own
// allows the line below its comment group.
func (f *goFile) exceptions() (all []exception) {
	for _, group := range f.file.Comments {
		for _, comment := range group.List {
			reason, ok := strings.CutPrefix(comment.Text, allow)
			if !ok {
				continue
			}
			at := f.set.Position(comment.Pos())
			e := exception{line: at.Line, target: at.Line, reason: strings.TrimSpace(reason)}
			if strings.TrimSpace(string(f.content[at.Offset-at.Column+1:at.Offset])) == "" {
				e.target = f.line(group.End()) + 1
			}
			all = append(all, e)
		}
	}
	return all
}

func (f *goFile) line(pos token.Pos) int { return f.set.Position(pos).Line }

// hasFakeClock reports whether a place is in a function literal passed to synctest.Test.
func (f *goFile) hasFakeClock(n ast.Node) bool {
	for _, bubble := range f.bubbles {
		if bubble.Pos() <= n.Pos() && n.End() <= bubble.End() {
			return true
		}
	}
	return false
}

// selector returns "time.Sleep" for that expression, and "" for one that is no selector of a name.
func selector(expr ast.Expr) string {
	if s, ok := expr.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// called returns the name of a called function or method without its package or receiver.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	default:
		return ""
	}
}

func last(args []ast.Expr) ast.Expr {
	if len(args) == 0 {
		return nil
	}
	return args[len(args)-1]
}
