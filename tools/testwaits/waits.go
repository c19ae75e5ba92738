package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
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

// A parameter with a time limit.
var limitName = regexp.MustCompile(`(?i)limit|timeout|within|patience|deadline`)

// A helper whose timer is a pause.
var pauseName = regexp.MustCompile(`(?i)pause|pass|sleep|delay`)

// The types of clients, and their fields with a time limit.
var (
	clientType  = regexp.MustCompile(`^(?:http\.(?:Client|DefaultClient|Transport)|net\.Dialer|redis\.\w*Options|\w+\.[cC]lient)$`)
	clientField = regexp.MustCompile(`^(?:Timeout|(?:Dial|Read|Write|Pool|ResponseHeader|TLSHandshake)Timeout)$`)
)

// Methods of a measured time, and their unit in nanoseconds.
func elapsedMethods() map[string]float64 {
	return map[string]float64{
		"Seconds": 1e9, "Minutes": 60e9, "Milliseconds": 1e6, "Microseconds": 1e3, "Nanoseconds": 1, "Round": 1, "Truncate": 1, "Abs": 1,
	}
}

// A program that only waits, alone or in a script.
var sleepProgram = regexp.MustCompile(`^(?:/bin/)?sleep$|\bsleep +[\d.]`)

// waits returns the sleeps and the short limits of a file.
func (f *goFile) waits() (findings []finding) {
	report := func(n ast.Node, format string, args ...any) {
		if !f.hasFakeClock(n) {
			findings = append(findings, finding{f.path, f.line(n.Pos()), fmt.Sprintf(format, args...)})
		}
	}
	cases := map[ast.Stmt]bool{}   // of select statements, which wait for other events too
	atLeast := map[ast.Expr]bool{} // comparisons that find a time that was too short
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CommClause:
			cases[n.Comm] = true
		case *ast.ExprStmt:
			if !cases[n] && isPause(n.X) {
				report(n, "<-time.After is a sleep: %s", sleepAdvice)
				return false
			}
		case *ast.CallExpr:
			f.call(n, report)
		case *ast.CompositeLit, *ast.AssignStmt:
			for _, field := range f.fields(n) { // settings of the program under test have other types, and may be short on purpose
				if d, ok := f.short(field.value); ok && clientType.MatchString(field.typ) && clientField.MatchString(field.name) {
					report(field.value, "a client with a timeout of %v: %s", d, limitAdvice)
				}
			}
		case *ast.IfStmt:
			markAtLeast(atLeast, n.Cond, n.Body.List)
		case *ast.CaseClause:
			for _, condition := range n.List {
				markAtLeast(atLeast, condition, n.Body)
			}
		case *ast.ForStmt:
			if d, more := f.compared(n.Cond); d > 0 && !more {
				report(n, "a loop that ends after %v: %s", d, limitAdvice)
				atLeast[n.Cond] = true
			}
		case *ast.BinaryExpr:
			if d, more := f.compared(n); d > 0 && (more || !atLeast[n]) {
				report(n, "fails after %v: %s", d, tookAdvice)
			}
		}
		return true
	})
	return findings
}

// call reports a call that sleeps or sets a short limit.
func (f *goFile) call(call *ast.CallExpr, report func(n ast.Node, format string, args ...any)) {
	switch name := selector(call.Fun); name {
	case "time.Sleep":
		report(call, "time.Sleep: %s", sleepAdvice)
	case "exec.Command", "exec.CommandContext":
		if slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return sleepProgram.MatchString(f.text(arg)) }) {
			report(call, "a process that sleeps: let it wait for its input, or for a signal")
		}
	}
	if limit := f.limitOf(call); limit != nil {
		if d, ok := f.short(limit); ok {
			report(call, "%s with a limit of %v: %s", nameOf(call), d, limitAdvice)
		}
	}
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
	name := called(call)
	index, ok := -1, false
	switch call.Fun.(type) {
	case *ast.Ident:
		index, ok = f.p.limits[name]
	case *ast.SelectorExpr:
		for _, limits := range []map[string]int{limitCalls(), f.p.shared.limits, f.p.limits} {
			for _, key := range []string{selector(call.Fun), "." + name} {
				if !ok {
					index, ok = limits[key]
				}
			}
		}
	}
	switch {
	case ok && index < len(call.Args):
		return call.Args[index]
	case name == "Add" && len(call.Args) == 1 && isNow(call.Fun):
		return call.Args[0]
	case strings.HasPrefix(name, "Set") && strings.HasSuffix(name, "Deadline") || strings.HasPrefix(name, "WithDeadline") || isNow(call.Fun):
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
		return "time.Now()." + called(call)
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

// findLimitFunctions records the functions with a time limit: a parameter with such a name,
// or one that is used as a limit.
func (f *goFile) findLimitFunctions() {
	for _, decl := range f.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !f.test {
			continue
		}
		key := function.Name.Name
		if function.Recv != nil {
			key = "." + key
		}
		var params []string // of type time.Duration
		for _, field := range function.Type.Params.List {
			for _, name := range field.Names {
				if selector(field.Type) != "time.Duration" {
					params = append(params, "")
					continue
				}
				if limitName.MatchString(name.Name) {
					f.p.limits[key] = len(params)
				}
				params = append(params, name.Name)
			}
		}
		timers := !pauseName.MatchString(function.Name.Name)
		ast.Inspect(function, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || f.hasFakeClock(n) || strings.HasPrefix(selector(call.Fun), "time.") && !timers {
				return true
			}
			if limit, ok := f.limitOf(call).(*ast.Ident); ok {
				if i := slices.Index(params, limit.Name); i >= 0 {
					f.p.limits[key] = i
				}
			}
			return true
		})
	}
}

// markAtLeast marks the parts of a condition that a failing body follows: a test that fails
// if something took less than a limit does not fail on a slow machine.
func markAtLeast(marked map[ast.Expr]bool, condition ast.Expr, body []ast.Stmt) {
	if !slices.ContainsFunc(body, fails) {
		return
	}
	ast.Inspect(condition, func(n ast.Node) bool {
		if compare, ok := n.(*ast.BinaryExpr); ok {
			marked[compare] = true
		}
		not, ok := n.(*ast.UnaryExpr)
		return !ok || not.Op != token.NOT
	})
}

// fails reports whether a statement makes a test fail.
func fails(statement ast.Stmt) (found bool) {
	ast.Inspect(statement, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && failing.MatchString(called(call))
		return !found
	})
	return found
}

// The functions that make a test fail.
var failing = regexp.MustCompile(`^(?:Fatal|Error|Fail|panic|wrong)`)

// compared returns the short limit that a measured time is compared with, or 0, and whether
// the comparison holds if the time is longer.
func (f *goFile) compared(expr ast.Expr) (limit time.Duration, more bool) {
	compare, ok := expr.(*ast.BinaryExpr)
	if !ok {
		return 0, false
	}
	greater := compare.Op == token.GTR || compare.Op == token.GEQ
	if less := compare.Op == token.LSS || compare.Op == token.LEQ; !greater && !less {
		return 0, false
	}
	unit, bound := f.elapsed(compare.X), compare.Y
	if unit == 0 {
		unit, bound, greater = f.elapsed(compare.Y), compare.X, !greater
	}
	v, ok := f.eval(bound)
	limit = time.Duration(v * unit)
	if !ok || limit < 0 || limit >= least {
		return 0, false
	}
	return limit, greater
}

// elapsed returns the unit of a measured time, or 0 for another expression. A measured time is
// time.Since(start), end.Sub(start), a variable with such a value, or a method such as Seconds of it.
func (f *goFile) elapsed(expr ast.Expr) float64 {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.elapsed(e.X)
	case *ast.CallExpr:
		if selector(e.Fun) == "time.Since" || called(e) == "Sub" {
			return 1
		}
		if method, ok := e.Fun.(*ast.SelectorExpr); ok {
			return elapsedMethods()[method.Sel.Name] * f.elapsed(method.X)
		}
	case *ast.Ident:
		if v := f.lookup(e); v != nil && v.value != nil {
			return v.file.elapsed(v.value)
		}
	}
	return 0
}
