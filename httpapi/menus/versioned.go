package menus

import (
	"net/http"
	"strconv"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/httpapi/fastpath"
	"larder.local/httpapi/respond"
)

// versionedResponse is the response to a read of one version, for both paths.
type versionedResponse struct {
	status   int // 200 or 304
	body     []byte
	etag     string
	encoding encoded.Encoding
	version  int64
	modified time.Time // value of Last-Modified
	control  string    // Cache-Control, policy H5
	private  bool      // the request has a token
	varies   bool      // by Origin; only on the fast path, because instrument sets it otherwise
}

// headerWriter writes header fields. They are written in the order of net/http: by name.
type headerWriter interface {
	Text(name, value string)
	number(name string, value int64)
	moment(name string, at time.Time)
}

// writeHeaders writes all header fields except those of instrument.
func (v *versionedResponse) writeHeaders(out headerWriter) {
	out.Text("Cache-Control", v.control)
	if v.status == http.StatusOK {
		if v.encoding != encoded.Identity {
			out.Text("Content-Encoding", v.encoding.String())
		}
		out.number("Content-Length", int64(len(v.body)))
		out.Text("Content-Type", respond.ContentJSON)
	}
	out.Text("Etag", v.etag)
	out.number(respond.HeaderMenuVersion, v.version)
	out.moment("Last-Modified", v.modified)
	if v.varies {
		out.Text("Vary", "Origin")
	}
	out.Text("Vary", "Accept-Encoding")
	if v.private {
		out.Text("Vary", "Authorization")
	}
}

// versionedResponse returns the response to a read. unchanged means that the client has the
// body, and known that the request has a token.
func (h *Handlers) versionedResponse(
	snapshot *cache.Snapshot, modified time.Time, body *encoded.Representation, unchanged, known bool,
) versionedResponse {
	v := versionedResponse{
		status:   http.StatusOK,
		body:     body.Body,
		etag:     body.ETag,
		encoding: body.Encoding,
		version:  snapshot.Version.Version,
		modified: h.clampLastModified(modified),
	}
	if unchanged {
		v.status, v.body = http.StatusNotModified, nil
	}
	v.control, v.private = h.cacheControl(known)
	return v
}

// clampLastModified returns the value of Last-Modified, which must not be later than the
// response (RFC 9110, section 8.8.2.1). A client that revalidates with a clamped time gets the
// body again with the version's own time.
func (h *Handlers) clampLastModified(modified time.Time) time.Time {
	if now := h.deps.Clock(); now.Before(modified) {
		return now.UTC()
	}
	return modified.UTC()
}

// HeaderFields writes fields into a header of net/http.
type HeaderFields http.Header

// Text adds a value and keeps others, because CORS has its own Vary.
func (h HeaderFields) Text(name, value string) { h[name] = append(h[name], value) }

func (h HeaderFields) number(name string, value int64) { h.Text(name, strconv.FormatInt(value, 10)) }

func (h HeaderFields) moment(name string, at time.Time) { h.Text(name, at.Format(http.TimeFormat)) }

// wireFields writes fields in the format of HTTP/1.1. It does not allocate while its capacity is sufficient.
type wireFields struct {
	lines []byte
	date  fastpath.Date // of the last moment, which is mostly the same
}

// Text implements headerWriter.
func (l *wireFields) Text(name, value string) {
	l.lines = append(append(append(append(l.lines, name...), ": "...), value...), "\r\n"...)
}

func (l *wireFields) number(name string, value int64) {
	l.lines = append(strconv.AppendInt(append(append(l.lines, name...), ": "...), value, 10), "\r\n"...)
}

func (l *wireFields) moment(name string, at time.Time) {
	l.lines = append(l.date.Append(append(append(l.lines, name...), ": "...), at), "\r\n"...)
}
