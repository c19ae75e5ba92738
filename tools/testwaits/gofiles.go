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
	values map[string]ast.Expr // constants and variables of the package
	limits map[string]int      // functions that use a parameter as a time limit, and its index
}

type goFile struct {
	path    string
	set     *token.FileSet
	file    *ast.File
	content []byte
	test    bool
	p       *goPackage
	locals  []local
	bubbles []ast.Node // function literals passed to synctest.Test
}

// A local is a constant or variable of a function.
type local struct {
	name  string
	value ast.Expr
	in    ast.Decl
}

func addGoFile(packages map[string]*goPackage, name, relative string) error {
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
		p = &goPackage{values: map[string]ast.Expr{}, limits: map[string]int{}}
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

// declare records the constants and variables of a declaration, and its fake clocks.
func (f *goFile) declare(decl ast.Decl) {
	_, inFunc := decl.(*ast.FuncDecl)
	set := func(name, value ast.Expr) {
		ident, ok := name.(*ast.Ident)
		switch {
		case !ok:
		case inFunc:
			f.locals = append(f.locals, local{ident.Name, value, decl})
		default:
			f.p.values[ident.Name] = value
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, value := range n.Values {
				if len(n.Values) == len(n.Names) {
					set(n.Names[i], value)
				}
			}
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				if len(n.Rhs) == len(n.Lhs) {
					set(n.Lhs[i], value)
				}
			}
		case *ast.CallExpr:
			if literal, ok := last(n.Args).(*ast.FuncLit); ok && selector(n.Fun) == "synctest.Test" {
				f.bubbles = append(f.bubbles, literal)
			}
		}
		return true
	})
}

// check returns the findings in the tests of the package.
func (p *goPackage) check() (findings []finding) {
	for _, f := range p.files {
		f.findLimitFunctions()
	}
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
