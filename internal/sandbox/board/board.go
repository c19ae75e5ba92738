// Package board is the sandbox's board, for developers of storefronts: orders in the kitchen, stop lists, faults,
// settings and counters. It is written in TypeScript (src) and bundled into dist, which is committed and embedded. The
// page never loads data from another origin; [Policy] enforces that. internal/sandbox serves it.
package board

//go:generate go test -tags nomsgpack -run ^TestBundle$ . -update

import (
	"embed"
	"path"
)

//go:embed dist
var dist embed.FS

// Page is the name of the HTML page.
const Page = "board.html"

// Policy is the page's Content-Security-Policy.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// File returns a file of the board and its Content-Type, and whether it exists.
func File(name string) (body []byte, kind string, found bool) {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	}
	body, err := dist.ReadFile("dist/" + path.Base(name))
	return body, kinds[path.Ext(name)], err == nil
}
