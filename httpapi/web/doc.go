// Package web is what browsers load from larder: the components of storefronts
// and the pages, bundled from TypeScript (src) into dist, which is committed and
// embedded.
//
// Its one invariant: no page of it runs or loads anything that does not come
// from larder's own address; each has a Content-Security-Policy that says so,
// without unsafe-inline. httpapi serves it. It does no I/O beyond the answer.
package web

//go:generate go test -tags nomsgpack -run ^TestBundle$ . -update
