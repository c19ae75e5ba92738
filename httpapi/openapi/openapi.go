// Package openapi embeds the API document: OpenAPI 3.1, written in the files of document/ and joined by go
// generate. It describes the requests and responses of every route of httpapi. The tests of httpapi check
// each of their requests and responses against it. httpapi serves it. The package never does I/O.
package openapi

import _ "embed" // the document

//go:generate go test -tags nomsgpack -run ^TestDocumentIsJoined$ . -update

var (
	//go:embed openapi.yaml
	asYAML []byte
	//go:embed openapi.json
	asJSON []byte
)

// YAML returns the document as YAML. The caller must not change it.
func YAML() []byte { return asYAML }

// JSON returns the document as JSON. The caller must not change it.
func JSON() []byte { return asJSON }
