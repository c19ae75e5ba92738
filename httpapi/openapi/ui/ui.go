// Package ui has the pages that show the API document: the files of Swagger UI, pinned
// and packed, and four small files that start it. Package httpapi serves them. The pages never
// load anything from another host, and the package knows no route and no configuration.
//
// The compressed files are from the npm package swagger-ui-dist in the version of VERSION.
// files.sha256 has their hashes, and a test compares them.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"strings"
	"sync"
)

//go:embed index.html start.js readable.js readable.css swagger-ui.css.gz swagger-ui-bundle.js.gz
var files embed.FS

// Asset is one embedded file.
type Asset struct {
	Type    string // Content-Type
	Hash    string // 8 hex digits of the body's hash
	Body    []byte
	Gzipped bool // Body is compressed
	// Plain returns the body without compression. It decompresses the body only once.
	Plain func() ([]byte, error)
}

// File returns the file with this name below /docs. The name of the page itself is empty. It
// returns false if the file does not exist.
func File(name string) (Asset, bool) {
	asset, known := assets[name]
	return asset, known
}

// assets has all files by name.
var assets = map[string]Asset{ //nolint:gochecknoglobals // constant
	"":                     asset("index.html", "text/html; charset=utf-8"),
	"start.js":             asset("start.js", "text/javascript; charset=utf-8"),
	"readable.js":          asset("readable.js", "text/javascript; charset=utf-8"),
	"readable.css":         asset("readable.css", "text/css; charset=utf-8"),
	"swagger-ui.css":       asset("swagger-ui.css.gz", "text/css; charset=utf-8"),
	"swagger-ui-bundle.js": asset("swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"),
}

func asset(name, contentType string) Asset {
	body, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded above
	}
	sum := sha256.Sum256(body)
	a := Asset{
		Type:    contentType,
		Hash:    hex.EncodeToString(sum[:4]),
		Body:    body,
		Gzipped: strings.HasSuffix(name, ".gz"),
		Plain:   func() ([]byte, error) { return body, nil },
	}
	if a.Gzipped {
		a.Plain = sync.OnceValues(func() ([]byte, error) {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(reader)
		})
	}
	return a
}
