package fastpath

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// maxHead is how long a request's head may be, in bytes; a longer one is for
// net/http, which has a limit of its own.
const maxHead = 8 << 10

// Request is a GET or HEAD request as it stood on the wire, without a body.
// Its texts lie in the connection's buffer: they are valid until the Handler
// returns from Sent, and whoever keeps one clones it.
//
// A header field that is missing reads as "". One of those below that stands
// twice, or is empty, is never seen here.
type Request struct {
	Head bool // HEAD, not GET
	// Path begins with a slash and consists of letters, digits and "-._~:/",
	// without empty segments or such that begin with a dot. Query is what
	// follows the question mark: the same characters and "=".
	Path, Query string

	AcceptEncoding  string
	Authorization   string
	IfModifiedSince string
	IfNoneMatch     string
	Origin          string
	RequestID       string // X-Request-Id
}

// read takes the first request out of bytes that hold a whole head, and returns
// its length. It is false for whatever net/http should judge.
func (r *Request) read(arrived []byte) (size int, ok bool) {
	*r = Request{}
	end := bytes.IndexByte(arrived, '\n')
	if end < 1 || arrived[end-1] != '\r' || !r.start(arrived[:end-1]) {
		return 0, false
	}
	hosts := 0
	for rest := arrived[end+1:]; ; {
		end = bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' {
			return 0, false // a line that ends otherwise
		}
		line := rest[:end-1]
		rest = rest[end+1:]
		if len(line) == 0 {
			return len(arrived) - len(rest), hosts == 1
		}
		colon := 0
		for colon < len(line) && charClass[line[colon]]&inName != 0 {
			colon++
		}
		if colon == 0 || colon == len(line) || line[colon] != ':' || !plain(line[colon:]) {
			return 0, false // also a line that goes on with the one before
		}
		if !r.field(line[:colon], bytes.Trim(line[colon+1:], " "), &hosts) { // other white space is not plain
			return 0, false
		}
	}
}

// start reads the first line, without its end.
func (r *Request) start(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("GET /")):
		line = line[len("GET "):]
	case bytes.HasPrefix(line, []byte("HEAD /")):
		r.Head = true
		line = line[len("HEAD "):]
	default:
		return false
	}
	target, isOne := bytes.CutSuffix(line, []byte(" HTTP/1.1"))
	if !isOne {
		return false
	}
	path, query, asks := bytes.Cut(target, []byte("?"))
	if asks && (len(query) == 0 || !allOf(query, inQuery)) || !allOf(path, inPath) {
		return false
	}
	if bytes.Contains(path, []byte("//")) || bytes.Contains(path, []byte("/.")) {
		return false
	}
	r.Path, r.Query = text(path), text(query)
	return true
}

// field takes in one header field.
func (r *Request) field(name, value []byte, hosts *int) bool {
	var lower [len("transfer-encoding")]byte
	if len(name) > len(lower) {
		return true
	}
	for i, b := range name {
		lower[i] = b | ' ' // letters in lower case; digits and "-" stay
	}
	switch string(lower[:len(name)]) {
	case "te", "trailer", "transfer-encoding", "content-length", "expect", "upgrade":
		return false
	case "connection":
		return len(value) == len("keep-alive") && bytes.EqualFold(value, []byte("keep-alive"))
	case "host":
		*hosts++
		return *hosts == 1 && len(value) > 0 && allOf(value, inHost)
	case "accept-encoding":
		return once(&r.AcceptEncoding, value)
	case "authorization":
		return once(&r.Authorization, value)
	case "if-modified-since":
		return once(&r.IfModifiedSince, value)
	case "if-none-match":
		return once(&r.IfNoneMatch, value)
	case "origin":
		return once(&r.Origin, value)
	case "x-request-id":
		return once(&r.RequestID, value)
	default:
		return true
	}
}

// once keeps a value that has not been there before.
func once(kept *string, value []byte) bool {
	if *kept != "" || len(value) == 0 {
		return false
	}
	*kept = text(value)
	return true
}

// text is b as a string that shares its bytes.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // the buffer is not written before Sent

// The places of a request that a byte may be in.
const (
	inName = 1 << iota
	inPath
	inQuery
	inHost
)

// charClass has for each byte the places where it is allowed. It is narrower than
// the standards: the rest is for net/http to judge.
var charClass = charClasses() //nolint:gochecknoglobals // a constant that Go cannot write as one

func charClasses() (table [256]byte) {
	allow := func(characters string, where byte) {
		for i := range len(characters) {
			table[characters[i]] |= where
		}
	}
	allow("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", inName|inPath|inQuery|inHost)
	allow(".:", inPath|inQuery|inHost)
	allow("~", inPath|inQuery)
	allow("/", inPath)
	allow("=", inQuery)
	allow("[]", inHost)
	return table
}

// allOf reports whether every byte is allowed in the place.
func allOf(text []byte, where byte) bool {
	for _, b := range text {
		if charClass[b]&where == 0 {
			return false
		}
	}
	return true
}

// plain reports whether no byte is a control character; a tab is one here. Eight
// bytes are looked at at once.
func plain(line []byte) bool {
	const (
		one  = 0x0101010101010101
		high = one << 7
	)
	for ; len(line) >= 8; line = line[8:] {
		word := binary.LittleEndian.Uint64(line)
		deleted := word ^ one*0x7f
		if ((word-one*' ')&^word|(deleted-one)&^deleted)&high != 0 {
			return false
		}
	}
	for _, b := range line {
		if b < ' ' || b == 0x7f {
			return false
		}
	}
	return true
}
