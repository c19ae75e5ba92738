package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// A flag that sets the address or the port on which a program listens, alone or with its value.
var listenFlag = regexp.MustCompile(`^--?(?:[a-z-]+-)?(?:listen|port|bind|addr|address)(?:=(.*))?$`)

// An address with a port, or a port alone.
var port = regexp.MustCompile(`^(?:.*:)?(\d{1,5})$`)

// ports returns the fixed ports on which the tests of a file listen, or which they pass to
// a program. An address in a sample configuration is not one.
func (f *goFile) ports() (findings []finding) {
	report := func(n ast.Node, text string) {
		if number := port.FindStringSubmatch(text); number != nil && strings.Trim(number[1], "0") != "" {
			findings = append(findings, finding{f.path, f.line(n.Pos()), fmt.Sprintf("port %s may be in use: listen on port 0 and read the address", number[1])})
		}
	}
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := called(n); strings.HasPrefix(name, "Listen") {
				for _, arg := range n.Args {
					if text := literal(arg); strings.Contains(text, ":") {
						report(arg, text)
					}
				}
			}
			f.flags(n.Args, report)
		case *ast.CompositeLit:
			f.flags(n.Elts, report)
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && selector(n.Type) == "http.Server" {
					if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Addr" {
						report(pair, literal(pair.Value))
					}
				}
			}
		}
		return true
	})
	return findings
}

// flags reports the value of each flag that sets an address.
func (*goFile) flags(words []ast.Expr, report func(n ast.Node, text string)) {
	for i, word := range words {
		flag := listenFlag.FindStringSubmatch(literal(word))
		switch {
		case flag == nil:
		case flag[1] != "":
			report(word, flag[1])
		case i+1 < len(words):
			report(words[i+1], literal(words[i+1]))
		}
	}
}

// literal returns the text of a string literal, or "".
func literal(expr ast.Expr) string {
	if l, ok := expr.(*ast.BasicLit); ok && l.Kind == token.STRING {
		text, err := strconv.Unquote(l.Value)
		if err == nil {
			return text
		}
	}
	return ""
}
