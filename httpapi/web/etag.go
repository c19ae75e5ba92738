package web

import "strings"

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
