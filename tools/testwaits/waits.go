package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"time"
)

// least is the shortest time limit that a busy machine keeps.
const least = 10 * time.Second

const (
	sleepAdvice = "wait for a condition with a limit of a minute, or use testing/synctest"
	limitAdvice = "use a minute, which a passing test does not wait for, or testing/synctest"
	tookAdvice  = "compare with a reference in the same run, or use testing/synctest"
)

// limitCalls are the functions with a time limit, and the index of this argument.
func limitCalls() map[string]int {
	return map[string]int{
		"context.WithTimeout": 1, "context.WithTimeoutCause": 1, "net.DialTimeout": 2,
		"time.After": 0, "time.AfterFunc": 0, "time.NewTimer": 0,
	}
}

// waits returns the sleeps and the short limits of a file.
func (f *goFile) waits() (findings []finding) {
	report := func(n ast.Node, format string, args ...any) {
		if !f.hasFakeClock(n) {
			findings = append(findings, finding{f.path, f.line(n.Pos()), fmt.Sprintf(format, args...)})
		}
	}
	for _, decl := range f.file.Decls {
		cases := map[ast.Stmt]bool{} // of select statements, which wait for other events too
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CommClause:
				cases[n.Comm] = true
			case *ast.ExprStmt:
				if !cases[n] && isPause(n.X) {
					report(n, "<-time.After is a sleep: %s", sleepAdvice)
					return false
				}
			case *ast.CallExpr:
				if selector(n.Fun) == "time.Sleep" {
					report(n, "time.Sleep: %s", sleepAdvice)
				}
				if limit := f.limitOf(n); limit != nil {
					if d, ok := f.short(limit, decl); ok {
						report(n, "%s with a limit of %v: %s", nameOf(n), d, limitAdvice)
					}
				}
			case *ast.CompositeLit:
				if d, ok := f.clientTimeout(n, decl); ok {
					report(n, "a client with a timeout of %v: %s", d, limitAdvice)
				}
			case *ast.ForStmt:
				if d, ok := f.compared(n.Cond, token.LSS, token.LEQ, decl); ok {
					report(n, "a loop that ends after %v: %s", d, limitAdvice)
				}
			case *ast.BinaryExpr:
				if d, ok := f.compared(n, token.GTR, token.GEQ, decl); ok {
					report(n, "fails after %v: %s", d, tookAdvice)
				}
			}
			return true
		})
	}
	return findings
}

// isPause reports whether an expression is <-time.After(d).
func isPause(expr ast.Expr) bool {
	receive, ok := expr.(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return false
	}
	call, ok := receive.X.(*ast.CallExpr)
	return ok && selector(call.Fun) == "time.After"
}

// limitOf returns the time limit that a call sets, or nil.
func (f *goFile) limitOf(call *ast.CallExpr) ast.Expr {
	index, ok := limitCalls()[selector(call.Fun)]
	if !ok {
		index, ok = f.p.limits[called(call)]
	}
	switch name := called(call); {
	case ok && index < len(call.Args):
		return call.Args[index]
	case name == "Add" && len(call.Args) == 1 && isNow(call.Fun):
		return call.Args[0]
	case strings.HasPrefix(name, "Set") && strings.HasSuffix(name, "Deadline") || strings.HasPrefix(name, "WithDeadline"):
		// A deadline after another time than now: begun.Add(limit).
		for _, arg := range call.Args {
			if add, ok := arg.(*ast.CallExpr); ok && called(add) == "Add" && len(add.Args) == 1 && !isNow(add.Fun) {
				return add.Args[0]
			}
		}
	}
	return nil
}

// nameOf returns the name of a call for a finding.
func nameOf(call *ast.CallExpr) string {
	if isNow(call.Fun) {
		return "time.Now().Add"
	}
	return cmp.Or(selector(call.Fun), called(call))
}

// isNow reports whether a method is called on time.Now().
func isNow(method ast.Expr) bool {
	if s, ok := method.(*ast.SelectorExpr); ok {
		if now, ok := s.X.(*ast.CallExpr); ok {
			return selector(now.Fun) == "time.Now"
		}
	}
	return false
}

// findLimitFunctions records the functions that use a parameter as a time limit. A
// parameter for a timer may be a pause, and is not taken for one.
func (f *goFile) findLimitFunctions() {
	for _, decl := range f.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !f.test {
			continue
		}
		var params []string
		for _, field := range function.Type.Params.List {
			for _, name := range field.Names {
				params = append(params, name.Name)
			}
		}
		ast.Inspect(function, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !f.hasFakeClock(n) && !strings.HasPrefix(selector(call.Fun), "time.") {
				if limit, ok := f.limitOf(call).(*ast.Ident); ok {
					if i := slices.Index(params, limit.Name); i >= 0 {
						f.p.limits[function.Name.Name] = i
					}
				}
			}
			return true
		})
	}
}

// clientTimeout returns the short Timeout of an http.Client or a net.Dialer.
func (f *goFile) clientTimeout(literal *ast.CompositeLit, in ast.Decl) (time.Duration, bool) {
	if name := selector(literal.Type); name != "http.Client" && name != "net.Dialer" {
		return 0, false
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Timeout" {
				return f.short(pair.Value, in)
			}
		}
	}
	return 0, false
}

// compared returns the short limit that an elapsed time is compared with, by one of the
// operators: time.Since(start) > limit, or the same with the sides exchanged.
func (f *goFile) compared(expr ast.Expr, more, orEqual token.Token, in ast.Decl) (time.Duration, bool) {
	compare, ok := expr.(*ast.BinaryExpr)
	if !ok {
		return 0, false
	}
	exchanged := map[token.Token]token.Token{token.GTR: token.LSS, token.GEQ: token.LEQ, token.LSS: token.GTR, token.LEQ: token.GEQ}
	elapsed, limit := compare.X, compare.Y
	if op := exchanged[compare.Op]; op == more || op == orEqual {
		elapsed, limit = compare.Y, compare.X
	} else if compare.Op != more && compare.Op != orEqual {
		return 0, false
	}
	if !f.isElapsed(elapsed, in) {
		return 0, false
	}
	return f.short(limit, in)
}

// isElapsed reports whether an expression is a measured time: time.Since(start),
// end.Sub(start), or a variable with such a value.
func (f *goFile) isElapsed(expr ast.Expr, in ast.Decl) bool {
	switch e := expr.(type) {
	case *ast.CallExpr:
		return selector(e.Fun) == "time.Since" || called(e) == "Sub"
	case *ast.Ident:
		value := f.value(e, in)
		return value != nil && f.isElapsed(value, in)
	default:
		return false
	}
}

// short returns the value of a constant duration if it is a limit that a busy machine
// may exceed. A limit of zero or less has ended before the test goes on.
func (f *goFile) short(expr ast.Expr, in ast.Decl) (time.Duration, bool) {
	d, isTime, ok := f.eval(expr, in)
	return time.Duration(d), ok && isTime && d > 0 && time.Duration(d) < least
}

// eval returns the value of a constant number or duration.
func (f *goFile) eval(expr ast.Expr, in ast.Decl) (v float64, isTime, ok bool) {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X, in)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64)
		return v, false, err == nil
	case *ast.SelectorExpr:
		unit, ok := map[string]time.Duration{
			"time.Nanosecond": 1, "time.Microsecond": time.Microsecond, "time.Millisecond": time.Millisecond,
			"time.Second": time.Second, "time.Minute": time.Minute, "time.Hour": time.Hour,
		}[selector(e)]
		return float64(unit), ok, ok
	case *ast.CallExpr:
		if selector(e.Fun) != "time.Duration" || len(e.Args) != 1 {
			return 0, false, false
		}
		v, _, ok := f.eval(e.Args[0], in)
		return v, true, ok
	case *ast.Ident:
		value := f.value(e, in)
		if value == nil {
			return 0, false, false
		}
		return f.eval(value, in)
	case *ast.BinaryExpr:
		return f.evalBinary(e, in)
	default:
		return 0, false, false
	}
}

func (f *goFile) evalBinary(e *ast.BinaryExpr, in ast.Decl) (v float64, isTime, ok bool) {
	x, xTime, xOK := f.eval(e.X, in)
	y, yTime, yOK := f.eval(e.Y, in)
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
		return 0, false, false
	}
	return v, xTime || yTime, xOK && yOK
}

// value returns the value that a name has at its place: the last one that the function
// gives it above, or that of the package.
func (f *goFile) value(name *ast.Ident, in ast.Decl) ast.Expr {
	for _, l := range slices.Backward(f.locals) {
		if l.in == in && l.name == name.Name && l.value.End() < name.Pos() {
			return l.value
		}
	}
	if function, ok := in.(*ast.FuncDecl); ok {
		for _, field := range function.Type.Params.List {
			if slices.ContainsFunc(field.Names, func(n *ast.Ident) bool { return n.Name == name.Name }) {
				return nil
			}
		}
	}
	return f.p.values[name.Name]
}
