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

// matchesTag compares an entity tag weakly with every tag of the lists, or with
// "*".
func matchesTag(header []string, etag string) bool {
	for _, list := range header {
		if listsTag(list, etag) {
			return true
		}
	}
	return false
}

// listsTag compares an entity tag weakly with those of one If-None-Match. A
// list that is malformed matches up to where it breaks. It allocates nothing.
func listsTag(list, etag string) bool {
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
