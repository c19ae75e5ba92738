package menus

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"larder.local/cache/encoded"
	"larder.local/httpapi/web"
)

// codings has the weight of each content coding in a request, in thousandths; -1 if it is not named.
type codings [4]int

// contentCodings are the codings that compress.
var contentCodings = [...]encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} //nolint:gochecknoglobals // constant

// readCodings parses Accept-Encoding (RFC 9110, section 12.5.3). "*" applies to codings that
// are not listed. If a coding is listed twice, the last one counts.
func readCodings(header string) codings {
	read, anything := codings{-1, -1, -1, -1}, -1
	for header != "" {
		var element string
		element, header, _ = strings.Cut(header, ",")
		name, parameters, _ := strings.Cut(element, ";")
		name = trim(name)
		switch {
		case tokenIs(name, "gzip"), tokenIs(name, "x-gzip"):
			read[encoded.Gzip] = weight(parameters)
		case tokenIs(name, "br"):
			read[encoded.Brotli] = weight(parameters)
		case tokenIs(name, "zstd"):
			read[encoded.Zstd] = weight(parameters)
		case tokenIs(name, "identity"):
			read[encoded.Identity] = weight(parameters)
		case name == "*":
			anything = weight(parameters)
		}
	}
	for e, weight := range read {
		if weight < 0 {
			read[e] = anything
		}
	}
	return read
}

// takesIdentity reports whether the request accepts a response without compression. Without a weight, it does.
func (c *codings) takesIdentity() bool { return c[encoded.Identity] != 0 }

// AcceptedEncodings returns the encodings with the highest weight in Accept-Encoding, or the empty set if
// none is acceptable (406). An empty header accepts identity. Identity is only in the set if its weight is
// higher than all others: if weights are equal, the smaller response wins. It does not allocate.
func AcceptedEncodings(header string) encoded.Encodings {
	read := readCodings(header)
	best, set := 0, encoded.Encodings(0)
	for _, e := range contentCodings {
		switch weight := read[e]; {
		case weight > best:
			best, set = weight, encoded.Accept(e)
		case weight == best && weight > 0:
			set |= encoded.Accept(e)
		}
	}
	identity := encoded.Accept(encoded.Identity)
	switch {
	case set == 0 && !read.takesIdentity():
		return 0
	case set == 0, read[encoded.Identity] > best:
		return identity
	default:
		return set
	}
}

// weight returns the q parameter in thousandths: 1000 without one, 0 (not acceptable) if it is malformed.
func weight(parameters string) int {
	for parameters != "" {
		var parameter string
		parameter, parameters, _ = strings.Cut(parameters, ";")
		name, value, _ := strings.Cut(parameter, "=")
		if tokenIs(trim(name), "q") {
			return thousandths(trim(value))
		}
	}
	return 1000
}

// tokenIs compares a token and a name without regard to ASCII case. The length check excludes
// "ſ", which Unicode folds to "s".
func tokenIs(token, name string) bool {
	return len(token) == len(name) && strings.EqualFold(token, name)
}

// trim removes white space (RFC 9110, section 5.6.3) from both ends.
func trim(text string) string { return strings.Trim(text, " \t") }

// thousandths parses a qvalue: 0 to 1 with at most three decimals.
func thousandths(text string) int {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(whole) != 1 || len(fraction) > 3 {
		return 0
	}
	value, err := strconv.ParseUint(whole+(fraction + "000")[:3], 10, 16)
	if err != nil || value > 1000 {
		return 0
	}
	return int(value)
}

// notModified reports whether a conditional read can be answered with 304 (RFC 9110, section
// 13.2.2). If-None-Match takes precedence over If-Modified-Since. No two versions have the same
// Last-Modified second.
func notModified(header http.Header, etag string, modified time.Time) bool {
	if tags, ok := header["If-None-Match"]; ok {
		return etag != "" && web.MatchesETag(tags, etag)
	}
	since := header["If-Modified-Since"]
	return len(since) == 1 && unmodifiedSince(since[0], modified) // a repeated header is ignored (section 13.1.3)
}

// unmodifiedSince reports whether a body with this modification time is unchanged since the time of If-Modified-Since.
// It returns false for an invalid header and for a zero time. Times in the usual format do not allocate.
func unmodifiedSince(since string, modified time.Time) bool {
	if since == "" || modified.IsZero() {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.Truncate(time.Second).After(at)
}
