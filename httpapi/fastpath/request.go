package fastpath

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// maxHead limits a request's head in bytes. Longer ones are for net/http, which has its own limit.
const maxHead = 8 << 10

// Request is a GET or HEAD request without a body. Its texts are in the connection's buffer and
// are valid until Sent returns; clone them to keep them.
//
// A missing header field is "". Requests that repeat one of these fields, or send it empty, are handed off.
type Request struct {
	Head bool // HEAD, not GET
	// Path starts with a slash and has only letters, digits and "-._~:/", without empty segments and segments that
	// start with a dot. Query is the text after the question mark: the same characters without "/", and "=".
	Path, Query string

	AcceptEncoding  string
	Authorization   string
	IfModifiedSince string
	IfNoneMatch     string
	Origin          string
	RequestID       string // X-Request-Id
}

// read parses the first request of bytes that contain a complete head, and returns its length.
// It returns false if net/http should answer it.
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
			return 0, false // another line end
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
			return 0, false // or a continuation line
		}
		if !r.field(line[:colon], bytes.Trim(line[colon+1:], " "), &hosts) { // plain allows no white space other than spaces
			return 0, false
		}
	}
}

// start parses the request line without its line end.
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

// field parses one header field.
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

// once stores the value of a field that is not empty and was not sent before.
func once(kept *string, value []byte) bool {
	if *kept != "" || len(value) == 0 {
		return false
	}
	*kept = text(value)
	return true
}

// text returns b as a string that shares its bytes.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // the buffer is not written before Sent

// The parts of a request in which a byte is allowed.
const (
	inName = 1 << iota
	inPath
	inQuery
	inHost
)

// charClass has the parts in which each byte is allowed. It allows less than the standards; the rest is for net/http.
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

// allOf reports whether every byte is allowed in the part.
func allOf(text []byte, where byte) bool {
	for _, b := range text {
		if charClass[b]&where == 0 {
			return false
		}
	}
	return true
}

// plain reports whether the line has no control characters, including tabs. It checks eight bytes at a time.
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
