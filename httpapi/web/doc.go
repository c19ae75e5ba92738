// Package web has the browser files of larder: the web components for storefronts and the
// pages. They are bundled from TypeScript (src) into dist, which is committed and embedded.
//
// Its invariant: its pages run and load only what comes from larder's own origin. Each page has a
// Content-Security-Policy that enforces this, without unsafe-inline.
//
// httpapi serves the files. The package never reads anything else.
package web

//go:generate go test -tags nomsgpack -run ^TestBundle$ . -update
//go:generate go test -tags nomsgpack -run ^TestDocumentedVersions$ . -update
