package menus

import (
	"net/http"
	"strconv"
	"time"

	"larder/cache"
	"larder/cache/encoded"
	"larder/httpapi/respond"
)

// versionedResponse is the answer to a read of one version, as both paths give it.
type versionedResponse struct {
	status   int // 200 or 304
	body     []byte
	etag     string
	encoding encoded.Encoding
	version  int64
	modified time.Time // as Last-Modified shows it
	control  string    // Cache-Control, policy H5
	private  bool      // a token opened it
	varies   bool      // on the Origin, where instrument has not said so
}

// headerWriter takes header fields in. The order is that of their names, as net/http
// writes them.
type headerWriter interface {
	Text(name, value string)
	number(name string, value int64)
	moment(name string, at time.Time)
}

// writeHeaders puts every field of the answer but those that instrument puts.
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

// versionedResponse lays out the answer to a read: unchanged tells that the client has
// the body, known that it named itself by a token.
func (h *Handlers) versionedResponse(
	snapshot *cache.Snapshot, modified time.Time, body *encoded.Representation, unchanged, known bool,
) versionedResponse {
	v := versionedResponse{
		status: http.StatusOK, body: body.Body, etag: body.ETag, encoding: body.Encoding,
		version: snapshot.Version.Version, modified: h.clampLastModified(modified),
	}
	if unchanged {
		v.status, v.body = http.StatusNotModified, nil
	}
	v.control, v.private = h.cacheControl(known)
	return v
}

// clampLastModified is the time of Last-Modified: never later than the answer (RFC 9110,
// section 8.8.2.1). Whoever asks with it again gets the body once more, and then
// the version's own time.
func (h *Handlers) clampLastModified(modified time.Time) time.Time {
	at := modified.UnixMilli()
	if at <= h.lastModifiedSeen.Load() { // most are: no look at the clock
		return modified.UTC()
	}
	if now := h.deps.Clock(); now.Before(modified) {
		return now.UTC()
	}
	h.lastModifiedSeen.Store(at)
	return modified.UTC()
}

// HeaderFields lays fields into a header of net/http.
type HeaderFields http.Header

// Text adds a field; it does not set it, for CORS has its own Vary.
func (h HeaderFields) Text(name, value string) { h[name] = append(h[name], value) }

func (h HeaderFields) number(name string, value int64) { h.Text(name, strconv.FormatInt(value, 10)) }

func (h HeaderFields) moment(name string, at time.Time) { h.Text(name, at.Format(http.TimeFormat)) }

// wireFields lays fields out as they stand on the wire. It allocates nothing
// while its room lasts.
type wireFields struct {
	lines []byte

	second   int64 // whose text is kept: it is mostly the same
	dateText [len(http.TimeFormat)]byte
}

// Text implements headerWriter.
func (l *wireFields) Text(name, value string) {
	l.lines = append(append(append(append(l.lines, name...), ": "...), value...), "\r\n"...)
}

func (l *wireFields) number(name string, value int64) {
	l.lines = append(strconv.AppendInt(append(append(l.lines, name...), ": "...), value, 10), "\r\n"...)
}

func (l *wireFields) moment(name string, at time.Time) {
	if second := at.Unix(); second != l.second {
		l.second = second
		at.AppendFormat(l.dateText[:0], http.TimeFormat)
	}
	l.lines = append(append(append(append(l.lines, name...), ": "...), l.dateText[:]...), "\r\n"...)
}
