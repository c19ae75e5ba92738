package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	fastgzip "github.com/klauspost/compress/gzip"
)

// How long an asset may be kept. One that is asked for by its version stays
// what it is; one without is asked for again after five minutes.
const (
	keepForEver = "public, max-age=31536000, immutable"
	keepAWhile  = "public, max-age=300, stale-while-revalidate=86400"
	keepAsking  = "no-cache"
)

// Asset is one file, with its compressed forms: each is made when it is first
// asked for, and kept.
type Asset struct {
	kind    string // Content-Type
	body    []byte
	version string
	gzip    func() []byte
	brotli  func() []byte // nil: not offered
}

// NewAsset makes an asset of a body that never changes. Its type follows the
// name's ending.
func NewAsset(name string, body []byte) *Asset {
	return &Asset{
		kind: kindOf(name), body: body, version: versionOf(body),
		gzip:   sync.OnceValue(func() []byte { return gzipped(body) }),
		brotli: sync.OnceValue(func() []byte { return brotlied(body) }),
	}
}

// NewPage makes an asset of an HTML page that was made for one request. It is
// offered in gzip at the fastest level only: brotli takes 9 ms and megabytes of
// memory, which anyone could ask for (policy H7).
func NewPage(body []byte) *Asset {
	return &Asset{
		kind: kindOf(".html"), body: body, version: versionOf(body),
		gzip: sync.OnceValue(func() []byte { return quickGzip(body) }),
	}
}

func versionOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:6])
}

// kindOf is the Content-Type of a file. The system's own table, which mime asks
// too, differs from machine to machine.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	case ".yaml":
		return "application/yaml"
	default:
		if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
			return kind
		}
		return "application/octet-stream"
	}
}

func gzipped(body []byte) []byte {
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	_, _ = writer.Write(body)                                    // a buffer takes everything
	_ = writer.Close()
	return out.Bytes()
}

func quickGzip(body []byte) []byte {
	var out bytes.Buffer
	writer, _ := fastgzip.NewWriterLevel(&out, fastgzip.StatelessCompression) // the level is a valid one
	_, _ = writer.Write(body)                                                 // a buffer takes everything
	_ = writer.Close()
	return out.Bytes()
}

func brotlied(body []byte) []byte {
	var out bytes.Buffer
	writer := brotli.NewWriterLevel(&out, 9) // 11 takes seconds for a megabyte, and saves little
	_, _ = writer.Write(body)                // a buffer takes everything
	_ = writer.Close()
	return out.Bytes()
}

// Body is the asset as it is.
func (a *Asset) Body() []byte { return a.body }

// Version is 12 hex digits of the body's hash.
func (a *Asset) Version() string { return a.version }

// ServeHTTP answers GET and HEAD: 304, or the body in br, gzip or as it is. A
// page (HTML) is asked for again each time; anything else may be kept, for ever
// under ?v= and its version.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	etag := `W/"` + a.version + `"`
	header.Set("ETag", etag)
	header.Add("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", a.keep(r))
	}
	if MatchesETag(r.Header["If-None-Match"], etag) { // before any encoding (policy H7)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", a.kind)
	body := a.body
	switch accepts := strings.Join(r.Header.Values("Accept-Encoding"), ","); {
	case a.brotli != nil && takes(accepts, "br"):
		body = a.brotli()
		header.Set("Content-Encoding", "br")
	case takes(accepts, "gzip"):
		body = a.gzip()
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body))) // ServeContent leaves it out of what is encoded
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takes tells whether an Accept-Encoding names the coding with another weight
// than nought.
func takes(accepts, coding string) bool {
	for element := range strings.SplitSeq(accepts, ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		_, weight, given := strings.Cut(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
		return !given || strings.Trim(weight, "0.") != ""
	}
	return false
}

// keep is the Cache-Control of an answer.
func (a *Asset) keep(r *http.Request) string {
	switch {
	case strings.HasPrefix(a.kind, "text/html"):
		return keepAsking
	case r.URL.Query().Get("v") == a.version:
		return keepForEver
	default:
		return keepAWhile
	}
}

// MatchesETag compares an entity tag weakly with every tag of the If-None-Match
// lists, or with "*".
func MatchesETag(lists []string, etag string) bool {
	for _, list := range lists {
		if ListsETag(list, etag) {
			return true
		}
	}
	return false
}

// ListsETag compares an entity tag weakly with those of one If-None-Match. A
// malformed list matches up to where it breaks. It allocates nothing.
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
