package menus

import (
	"net/http"
	"strings"
	"time"

	"larder/cache/encoded"
	"larder/httpapi/web"
)

// codings is how a request values each content coding that larder has, in
// thousandths; -1 is one that it does not name.
type codings [4]int

// contentCodings are the codings that make an answer smaller.
var contentCodings = [...]encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} //nolint:gochecknoglobals // constant

// readCodings reads Accept-Encoding (RFC 9110, section 12.5.3). "*" stands for
// what is not listed; of a coding that is listed twice the last one counts.
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

// takesIdentity reports whether the answer may be without coding: unless the
// request says no, it may.
func (c *codings) takesIdentity() bool { return c[encoded.Identity] != 0 }

// AcceptedEncodings is the set of the encodings that a request values most by
// its Accept-Encoding, empty where it takes none of larder's (406). Without the
// header, or when it is empty, that is identity. Identity is in the set by
// itself alone: of what is worth the same, larder answers the smaller. It
// allocates nothing.
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

// weight reads the q parameter, in thousandths: 1000 when there is none, 0
// when it is malformed (the element is then not acceptable).
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

// tokenIs reports whether a token is the name, regardless of the case of ASCII
// letters: "ſ", which Unicode folds to "s", is longer.
func tokenIs(token, name string) bool {
	return len(token) == len(name) && strings.EqualFold(token, name)
}

// trim takes the white space of RFC 9110, section 5.6.3, from both ends.
func trim(text string) string { return strings.Trim(text, " \t") }

// thousandths reads a qvalue: 0 to 1 with at most three decimals.
func thousandths(text string) int {
	whole, fraction, _ := strings.Cut(text, ".")
	if (whole != "0" && whole != "1") || len(fraction) > 3 {
		return 0
	}
	value := 0
	for i := range 3 {
		digit := 0
		if i < len(fraction) {
			if fraction[i] < '0' || fraction[i] > '9' {
				return 0
			}
			digit = int(fraction[i] - '0')
		}
		value = value*10 + digit
	}
	if whole == "1" {
		if value > 0 {
			return 0
		}
		return 1000
	}
	return value
}

// notModified reports whether a conditional read can be answered 304 (RFC 9110,
// section 13.2.2): If-None-Match decides where there is one, else
// If-Modified-Since, at the resolution of a second, which no two versions share.
func notModified(header http.Header, etag string, modified time.Time) bool {
	if tags, ok := header["If-None-Match"]; ok {
		return etag != "" && web.MatchesETag(tags, etag)
	}
	since := header["If-Modified-Since"]
	return len(since) == 1 && unmodifiedSince(since[0], modified) // two of them are none (section 13.1.3)
}

// unmodifiedSince reports whether a body that was changed last at modified is the
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
