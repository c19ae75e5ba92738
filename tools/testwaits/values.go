package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A variable is a constant, a variable or a parameter, with what one statement makes of it.
type variable struct {
	name     string
	value    ast.Expr // nil if unknown
	typ      ast.Expr // nil if not written
	file     *goFile
	from, to token.Pos // where it has this value, if it belongs to a function
}

// declare records the constants and variables of a declaration, and its fake clocks.
func (f *goFile) declare(decl ast.Decl) {
	var open []ast.Node // the nodes around the current one
	add := func(name, value, typ ast.Expr, from, to token.Pos) {
		switch ident, ok := name.(*ast.Ident); {
		case !ok:
		case to == token.NoPos:
			f.p.values[ident.Name] = &variable{name: ident.Name, value: value, typ: typ, file: f}
		default:
			f.locals = append(f.locals, &variable{ident.Name, value, typ, f, from, to})
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if n == nil {
			open = open[:len(open)-1]
			return true
		}
		open = append(open, n)
		end := scope(open)
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				add(name, only(n.Values, i, len(n.Names)), n.Type, n.End(), end)
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && end != token.NoPos {
				end = decl.End()
			}
			for i, name := range n.Lhs {
				value := only(n.Rhs, i, len(n.Lhs))
				if n.Tok != token.DEFINE && n.Tok != token.ASSIGN { // as in limit *= 2
					value = nil
				}
				add(name, value, nil, n.End(), end)
			}
		case *ast.RangeStmt:
			add(n.Key, nil, nil, n.X.End(), end)
			add(n.Value, nil, nil, n.X.End(), end)
		case *ast.FuncType:
			for _, field := range n.Params.List {
				for _, name := range field.Names {
					add(name, nil, field.Type, n.Pos(), end)
				}
			}
		case *ast.CompositeLit:
			f.table(n, decl)
		case *ast.CallExpr:
			if literal, ok := last(n.Args).(*ast.FuncLit); ok && selector(n.Fun) == "synctest.Test" {
				f.bubbles = append(f.bubbles, literal)
			}
		}
		return true
	})
}

// table records the durations in the rows of a table test: each field is a variable with
// several values.
func (f *goFile) table(literal *ast.CompositeLit, decl ast.Decl) {
	var row ast.Expr
	switch list := literal.Type.(type) {
	case *ast.ArrayType:
		row = list.Elt
	case *ast.MapType:
		row = list.Value
	}
	var names []string // if the type is written here
	if fields, ok := row.(*ast.StructType); ok {
		for _, field := range fields.Fields.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			element = pair.Value
		}
		values, ok := element.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, set := range f.fields(values) {
			f.columns = append(f.columns, &variable{set.name, set.value, nil, f, decl.Pos(), decl.End()})
		}
		for i, name := range names {
			if value := only(values.Elts, i, len(names)); value != nil {
				f.columns = append(f.columns, &variable{name, value, nil, f, decl.Pos(), decl.End()})
			}
		}
	}
}

// shortest returns the shortest time in a column of a table above.
func (f *goFile) shortest(column *ast.SelectorExpr) (least float64, ok bool) {
	for _, v := range f.columns {
		if v.name == column.Sel.Name && v.from <= column.Pos() && column.Pos() < v.to && v.value.End() < column.Pos() {
			if d, is := f.eval(v.value); is && d > 0 && (!ok || d < least) {
				least, ok = d, true
			}
		}
	}
	return least, ok
}

// scope returns the end of the innermost open node that limits a name, or NoPos outside of functions.
func scope(open []ast.Node) token.Pos {
	for _, n := range slices.Backward(open) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt,
			*ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.FuncLit, *ast.FuncDecl:
			return n.End()
		}
	}
	return token.NoPos
}

// only returns value i if there is one for each name.
func only(values []ast.Expr, i, names int) ast.Expr {
	if len(values) != names {
		return nil
	}
	return values[i]
}

// lookup returns what a name means at its place: the last value that its function gives
// it above, or that of the package. It returns nil for a name that is not known.
func (f *goFile) lookup(name *ast.Ident) *variable {
	for _, v := range slices.Backward(f.locals) {
		if v.name == name.Name && v.from <= name.Pos() && name.Pos() < v.to {
			return v
		}
	}
	return f.p.values[name.Name]
}

// short returns the value of a constant duration if it is a limit that a busy machine
// may exceed. A limit of zero or less has ended before the test goes on.
func (f *goFile) short(expr ast.Expr) (time.Duration, bool) {
	d, ok := f.eval(expr)
	return time.Duration(d), ok && d > 0 && time.Duration(d) < least
}

// eval returns the value of a constant number, or of a constant duration in nanoseconds.
func (f *goFile) eval(expr ast.Expr) (v float64, ok bool) {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64)
		return v, err == nil
	case *ast.SelectorExpr:
		if d, ok := f.shortest(e); ok {
			return d, ok
		}
		unit, ok := map[string]time.Duration{
			"time.Nanosecond": 1, "time.Microsecond": time.Microsecond, "time.Millisecond": time.Millisecond,
			"time.Second": time.Second, "time.Minute": time.Minute, "time.Hour": time.Hour,
		}[selector(e)]
		if v := f.p.shared.values[selector(e)]; v != nil && v.value != nil && v.file.p != f.p { // else a package imports one with its own name
			return v.file.eval(v.value)
		}
		return float64(unit), ok
	case *ast.CallExpr: // a conversion
		if name := cmp.Or(selector(e.Fun), called(e)); len(e.Args) == 1 && slices.Contains([]string{"time.Duration", "int", "int64", "float64"}, name) {
			return f.eval(e.Args[0])
		}
	case *ast.Ident:
		if v := f.lookup(e); v != nil && v.value != nil {
			return v.file.eval(v.value)
		}
	case *ast.BinaryExpr:
		return f.evalBinary(e)
	}
	return 0, false
}

func (f *goFile) evalBinary(e *ast.BinaryExpr) (v float64, ok bool) {
	x, xOK := f.eval(e.X)
	y, yOK := f.eval(e.Y)
	switch e.Op {
	case token.ADD:
		v = x + y
	case token.SUB:
		v = x - y
	case token.MUL:
		v = x * y
	case token.QUO:
		v = x / y
	default:
		return 0, false
	}
	return v, xOK && yOK
}

// text returns the value of a constant text. In the place of an unknown part it has a "?".
func (f *goFile) text(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.text(e.X)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		if v := f.lookup(e); v != nil && v.value != nil {
			return v.file.text(v.value)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return f.text(e.X) + f.text(e.Y)
		}
	case *ast.CallExpr:
		return f.formatted(e)
	}
	return "?"
}

// formatted returns the text that a function makes of constants.
func (f *goFile) formatted(call *ast.CallExpr) string {
	switch name := selector(call.Fun); {
	case name == "fmt.Sprintf" && len(call.Args) > 0:
		var args []any
		for _, arg := range call.Args[1:] {
			if number, ok := f.eval(arg); ok {
				args = append(args, int(number))
			} else {
				args = append(args, f.text(arg))
			}
		}
		return fmt.Sprintf(f.text(call.Args[0]), args...)
	case name == "strconv.Itoa" && len(call.Args) == 1:
		if number, ok := f.eval(call.Args[0]); ok {
			return strconv.Itoa(int(number))
		}
	case name == "net.JoinHostPort" && len(call.Args) == 2:
		return net.JoinHostPort(f.text(call.Args[0]), f.text(call.Args[1]))
	}
	return "?"
}

// typeOf returns the type of an expression, such as "http.Client", if the file shows it.
func (f *goFile) typeOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.UnaryExpr: // &http.Client{}
		return f.typeOf(e.X)
	case *ast.StarExpr:
		return f.typeOf(e.X)
	case *ast.CompositeLit:
		return selector(e.Type)
	case *ast.SelectorExpr:
		return selector(e)
	case *ast.CallExpr:
		switch name := called(e); {
		case name == "new" && len(e.Args) == 1:
			return f.typeOf(e.Args[0])
		case name == "Client" && len(e.Args) == 0: // of an httptest.Server
			return "http.Client"
		}
	case *ast.Ident:
		switch v := f.lookup(e); {
		case v == nil:
		case v.typ != nil:
			return v.file.typeOf(v.typ)
		case v.value != nil:
			return v.file.typeOf(v.value)
		}
	}
	return ""
}

// A field is a field of a struct that a literal or an assignment sets.
type field struct {
	typ, name string
	value     ast.Expr
}

// fields returns the fields that a node sets.
func (f *goFile) fields(n ast.Node) (fields []field) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					fields = append(fields, field{selector(n.Type), key.Name, pair.Value})
				}
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
				fields = append(fields, field{f.typeOf(s.X), s.Sel.Name, n.Rhs[i]})
			}
		}
	}
	return fields
}
