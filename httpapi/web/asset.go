package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
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

// kinds are the Content-Types of the files by their names' endings. The system's
// own table differs from machine to machine.
var kinds = map[string]string{ //nolint:gochecknoglobals // constant
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
}

// NewAsset makes an asset of a body that never changes. Its type follows the
// name's ending.
func NewAsset(name string, body []byte) *Asset {
	return &Asset{
		kind: cmp.Or(kinds[path.Ext(name)], "application/octet-stream"), body: body, version: versionOf(body),
		gzip:   compressed(body, gzipWriter(gzip.BestCompression)),
		brotli: compressed(body, brotliWriter),
	}
}

// NewPage makes an asset of an HTML page that was made for one request. It is
// offered in gzip at the fastest level only: brotli takes 9 ms and megabytes of
// memory, which anyone could ask for (policy H7).
func NewPage(body []byte) *Asset {
	return &Asset{
		kind: kinds[".html"], body: body, version: versionOf(body),
		gzip: compressed(body, gzipWriter(gzip.StatelessCompression)),
	}
}

func versionOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:6])
}

// compressed returns a function that compresses the body when it is first called.
func compressed(body []byte, newWriter func(io.Writer) io.WriteCloser) func() []byte {
	return sync.OnceValue(func() []byte {
		var out bytes.Buffer
		writer := newWriter(&out)
		_, _ = writer.Write(body) // a buffer takes everything
		_ = writer.Close()
		return out.Bytes()
	})
}

func gzipWriter(level int) func(io.Writer) io.WriteCloser {
	return func(out io.Writer) io.WriteCloser {
		writer, _ := gzip.NewWriterLevel(out, level) // the level is a valid one
		return writer
	}
}

func brotliWriter(out io.Writer) io.WriteCloser {
	return brotli.NewWriterLevel(out, 9) // 11 takes seconds for a megabyte, and saves little
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

// takes reports whether an Accept-Encoding names the coding with another weight
// than 0.
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
