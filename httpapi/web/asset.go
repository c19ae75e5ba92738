package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// The Cache-Control of assets. The content of a URL with the current version in ?v= never changes.
// Browsers revalidate other files after five minutes, and a page (HTML) each time.
const (
	cacheForever     = "public, max-age=31536000, immutable"
	cacheFiveMinutes = "public, max-age=300, stale-while-revalidate=86400"
	revalidate       = "no-cache"
)

// Asset is one file with its compressed forms. Each form is created at the first request and kept.
type Asset struct {
	kind    string // Content-Type
	body    []byte
	version string
	gzip    func() []byte
	brotli  func() []byte
}

// kinds are the Content-Types by file extension. The table of mime.TypeByExtension differs between machines.
var kinds = map[string]string{ //nolint:gochecknoglobals // constant
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	".ts":   "text/plain; charset=utf-8", // larder.d.ts
	".txt":  "text/plain; charset=utf-8",
}

// newAsset returns an asset with an immutable body. The name's extension determines its type.
func newAsset(name string, body []byte) *Asset {
	sum := sha256.Sum256(body)
	return &Asset{
		kind:    cmp.Or(kinds[path.Ext(name)], "application/octet-stream"),
		body:    body,
		version: hex.EncodeToString(sum[:6]),
		gzip:    compressed(body, gzipWriter),
		// Level 11 takes seconds per megabyte and saves little.
		brotli: compressed(body, func(out io.Writer) io.WriteCloser { return brotli.NewWriterLevel(out, 9) }),
	}
}

// compressed returns a function that compresses the body at its first call.
func compressed(body []byte, newWriter func(io.Writer) io.WriteCloser) func() []byte {
	return sync.OnceValue(func() []byte {
		var out bytes.Buffer
		writer := newWriter(&out)
		_, _ = writer.Write(body) // a buffer does not fail
		_ = writer.Close()
		return out.Bytes()
	})
}

func gzipWriter(out io.Writer) io.WriteCloser {
	writer, _ := gzip.NewWriterLevel(out, gzip.BestCompression) // the level is valid
	return writer
}

// Body returns the uncompressed body.
func (a *Asset) Body() []byte { return a.body }

// Version returns 12 hex digits of the body's hash.
func (a *Asset) Version() string { return a.version }

// ServeHTTP answers GET and HEAD with 304, or with the body: br, gzip or uncompressed. It ignores Range. Browsers revalidate
// a page (HTML) each time, and may cache other files: forever if ?v= is the current version.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	etag := `W/"` + a.version + `"`
	header.Set("ETag", etag)
	header.Add("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", a.keep(r))
	}
	if MatchesETag(r.Header["If-None-Match"], etag) { // before any compression (policy H7)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", a.kind)
	body := a.body
	switch {
	case AcceptsEncoding(r, "br"):
		body = a.brotli()
		header.Set("Content-Encoding", "br")
	case AcceptsEncoding(r, "gzip"):
		body = a.gzip()
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK) // not http.ServeContent, which would answer Range (policy H7)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client has disconnected
	}
}

// AcceptsEncoding reports whether Accept-Encoding names the content encoding, and its weight is not 0. It ignores "*".
func AcceptsEncoding(r *http.Request, encoding string) bool {
	for element := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		_, weight, given := strings.Cut(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
		return !given || strings.Trim(weight, "0.") != ""
	}
	return false
}

// keep returns the Cache-Control of a response.
func (a *Asset) keep(r *http.Request) string {
	switch {
	case strings.HasPrefix(a.kind, "text/html"):
		return revalidate
	case r.URL.Query().Get("v") == a.version:
		return cacheForever
	default:
		return cacheFiveMinutes
	}
}

// MatchesETag reports whether one of the If-None-Match lists contains the entity tag (weak comparison) or is "*".
func MatchesETag(lists []string, etag string) bool {
	return slices.ContainsFunc(lists, func(list string) bool { return ListsETag(list, etag) })
}

// ListsETag reports whether one If-None-Match list contains the entity tag (weak comparison) or is "*". It
// reads a malformed list up to the error. It does not allocate.
func ListsETag(list, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	rest := strings.TrimLeft(list, " \t,")
	if strings.TrimRight(rest, " \t") == "*" {
		return true
	}
	for rest != "" {
		rest = strings.TrimPrefix(rest, "W/")
		if rest[:min(1, len(rest))] != `"` {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == etag {
			return true
		}
		rest = strings.TrimLeft(rest[end+2:], " \t,")
	}
	return false
}
