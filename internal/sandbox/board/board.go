// Package board is the sandbox's board, what a developer of a storefront keeps
// open beside it: orders as the kitchen sees them, stop lists, faults to
// inject, settings and counters. It is TypeScript (src), bundled into dist,
// which is committed and embedded.
//
// Its one invariant: the page loads and asks for nothing but what its own
// address gives; [Policy] says so. Only the sandbox serves it.
package board

//go:generate go test -tags nomsgpack -run ^TestBundle$ . -update

import (
	"embed"
	"path"
)

//go:embed dist
var dist embed.FS

// Page is the name of the page itself.
const Page = "board.html"

// Policy is the page's Content-Security-Policy.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// File is one file of the board and its Content-Type; false where there is none.
func File(name string) (body []byte, kind string, found bool) {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	}
	body, err := dist.ReadFile("dist/" + path.Base(name))
	return body, kinds[path.Ext(name)], err == nil
}
