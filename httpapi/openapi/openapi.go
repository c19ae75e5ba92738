// Package openapi is the API document: OpenAPI 3.1, written by hand in the
// files of document/, joined by go generate, and embedded. It says what every
// route of httpapi takes and answers; httpapi's tests check each of their
// requests and answers against it.
//
// The package holds bytes alone. It does no I/O and knows nothing of httpapi.
package openapi

import _ "embed" // the document

//go:generate go test -tags nomsgpack -run ^TestDocumentIsJoined$ . -update

var (
	//go:embed openapi.yaml
	asYAML []byte
	//go:embed openapi.json
	asJSON []byte
)

// YAML is the document as YAML. The caller must not change it.
func YAML() []byte { return asYAML }

// JSON is the same as JSON.
func JSON() []byte { return asJSON }
