package httpapi

import (
	"net/http"
	"strings"
	"time"
)

// notModified tells whether a conditional read can be answered 304 (RFC 9110,
// section 13.2.2): If-None-Match decides where there is one, else
// If-Modified-Since, at the resolution of a second, which no two versions share.
func notModified(header http.Header, etag string, modified time.Time) bool {
	if tags, ok := header["If-None-Match"]; ok {
		return etag != "" && matchesTag(tags, etag)
	}
	since := header.Get("If-Modified-Since")
	if since == "" || modified.IsZero() {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.Truncate(time.Second).After(at)
}

// matchesTag compares an entity tag weakly with every tag of the list, or with
// "*". A list that is malformed matches up to where it breaks.
func matchesTag(header []string, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for _, list := range header {
		rest := strings.TrimLeft(list, " \t,")
		if strings.TrimRight(rest, " \t") == "*" {
			return true
		}
		for rest != "" {
			rest = strings.TrimPrefix(rest, "W/")
			if rest[:min(1, len(rest))] != `"` {
				break
			}
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				break
			}
			if rest[:end+2] == etag {
				return true
			}
			rest = strings.TrimLeft(rest[end+2:], " \t,")
		}
	}
	return false
}
