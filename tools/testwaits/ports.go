package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// A flag that sets the address or the port on which a program listens, alone or with its value.
var listenFlag = regexp.MustCompile(`^--?(?:[a-z-]+-)?(?:listen|port|bind|addr|address)(?:=(.*))?$`)

// A variable of the environment with such an address.
var listenVariable = regexp.MustCompile(`^(?:[A-Z0-9_]+_)?(?:LISTEN|PORT|BIND|ADDR|ADDRESS)=(.*)$`)

// Functions that start a program, or add to its environment.
var starts = regexp.MustCompile(`^(?i:start|run|exec|launch|spawn|serve|append$)`)

// An address with a port, or a port alone.
var port = regexp.MustCompile(`^(?:.*:)?(\d{1,5})$`)

// An address or a URL of this machine. Tests use port 1 if nothing must listen there.
var local = regexp.MustCompile(`^(?:\w+://)?(?:localhost|127[\d.]+|0\.0\.0\.0|\[::1?\])?(:(?:[02-9]|1\d)\d*)(?:[/?].*)?$`)

// Functions that connect to an address, or give it to a program.
var dials = regexp.MustCompile(`^(?:[dD]ial\w*|Get|Head|Post|PostForm|NewRequest|NewRequestWithContext|Command|CommandContext)$`)

// ports returns the fixed ports on which the tests of a file listen, to which they connect,
// or which they pass to a program. An address in a sample configuration is not one.
func (f *goFile) ports() (findings []finding) {
	report := func(n ast.Node, text string) {
		if number := port.FindStringSubmatch(text); number != nil && strings.Trim(number[1], "0") != "" {
			findings = append(findings, finding{f.path, f.line(n.Pos()), fmt.Sprintf("port %s may be in use: listen on port 0 and read the address", number[1])})
		}
	}
	connects := func(n ast.Node, text string) {
		if at := local.FindStringSubmatch(text); at != nil {
			report(n, at[1])
		}
	}
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := called(n)
			switch {
			case strings.HasPrefix(name, "Listen"):
				for _, arg := range n.Args {
					if text := f.address(arg); strings.Contains(text, ":") {
						report(arg, text)
					}
				}
			case dials.MatchString(name) && selector(n.Fun) != "httptest.NewRequest":
				for _, arg := range n.Args {
					connects(arg, f.address(arg))
				}
			case name == "Setenv" && len(n.Args) == 2 && listenVariable.MatchString(f.text(n.Args[0])+"="):
				report(n, f.text(n.Args[1]))
			}
			if starts.MatchString(name) {
				f.variables(n.Args, report)
			}
			f.flags(n.Args, report)
		case *ast.CompositeLit:
			f.flags(n.Elts, report)
		}
		for _, field := range f.fields(n) {
			switch {
			case field.name == "Env":
				f.variables([]ast.Expr{field.value}, report)
			case field.name == "Addr" && field.typ == "http.Server":
				report(field.value, f.text(field.value))
			case field.name == "Addr" && field.typ == "redis.Options":
				connects(field.value, f.text(field.value))
			}
		}
		return true
	})
	return findings
}

// flags reports the value of each flag that sets an address.
func (f *goFile) flags(words []ast.Expr, report func(n ast.Node, text string)) {
	for i, word := range words {
		flag := listenFlag.FindStringSubmatch(f.text(word))
		switch {
		case flag == nil:
		case flag[1] != "":
			report(word, flag[1])
		case i+1 < len(words):
			report(words[i+1], f.text(words[i+1]))
		}
	}
}

// variables reports the variables of the environment that set an address.
func (f *goFile) variables(words []ast.Expr, report func(n ast.Node, text string)) {
	for _, word := range words {
		if list, ok := word.(*ast.CompositeLit); ok {
			f.variables(list.Elts, report)
		}
		if set := listenVariable.FindStringSubmatch(f.text(word)); set != nil {
			report(word, set[1])
		}
	}
}

// address returns an address that is a text, or a net.TCPAddr or net.UDPAddr.
func (f *goFile) address(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.UnaryExpr:
		return f.address(e.X)
	case *ast.Ident:
		if v := f.lookup(e); v != nil && v.value != nil {
			return v.file.address(v.value)
		}
	case *ast.CompositeLit:
		for _, field := range f.fields(e) {
			number, ok := f.eval(field.value)
			if ok && field.name == "Port" && (field.typ == "net.TCPAddr" || field.typ == "net.UDPAddr") {
				return fmt.Sprintf(":%d", int(number))
			}
		}
	}
	return f.text(expr)
}
