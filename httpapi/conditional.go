package httpapi

import (
	"net/http"
	"time"

	"larder/httpapi/web"
)

// notModified tells whether a conditional read can be answered 304 (RFC 9110,
// section 13.2.2): If-None-Match decides where there is one, else
// If-Modified-Since, at the resolution of a second, which no two versions share.
func notModified(header http.Header, etag string, modified time.Time) bool {
	if tags, ok := header["If-None-Match"]; ok {
		return etag != "" && web.MatchesETag(tags, etag)
	}
	since := header["If-Modified-Since"]
	return len(since) == 1 && unmodifiedSince(since[0], modified) // two of them are none (section 13.1.3)
}

// unmodifiedSince tells whether a body that was changed last at modified is the
// one from the time that If-Modified-Since names; one that cannot be read, or
// an unknown modified, says no. It allocates nothing where the time is in the
// usual form.
func unmodifiedSince(since string, modified time.Time) bool {
	if since == "" || modified.IsZero() {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.Truncate(time.Second).After(at)
}
