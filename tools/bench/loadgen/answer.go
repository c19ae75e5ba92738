package loadgen

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// headMost limits the head of a response.
const headMost = 16 << 10

// answer parses consecutive responses from the pieces that a connection reads. It
// keeps the body only if keep is set.
type answer struct {
	status int // required
	keep   bool
	text   []byte // the body so far
	head   []byte // incomplete head
	left   int    // missing bytes of the body
	inBody bool
}

const (
	headEnd  = "\r\n\r\n"
	lineEnd  = "\r\n"
	lengthIs = "content-length:"
)

// take parses a piece; done reports whether the response ends with it.
func (a *answer) take(piece []byte) (done bool, err error) {
	if a.inBody {
		return a.body(piece)
	}
	head := piece
	if len(a.head) > 0 {
		a.head = append(a.head, piece...)
		head = a.head
	}
	end := bytes.Index(head, []byte(headEnd))
	switch {
	case end < 0 && len(head) > headMost:
		return false, fmt.Errorf("loadgen: an answer's head is longer than %d bytes", headMost)
	case end < 0:
		if len(a.head) == 0 {
			a.head = append(a.head, piece...)
		}
		return false, nil
	}
	rest := head[end+len(headEnd):]
	if a.left, err = a.length(head[:end]); err != nil {
		return false, fmt.Errorf("%w: %.300s", err, rest)
	}
	a.head, a.text, a.inBody = a.head[:0], a.text[:0], true
	return a.body(rest)
}

// body takes a piece of the body.
func (a *answer) body(piece []byte) (done bool, err error) {
	if a.left -= len(piece); a.left < 0 {
		return false, errors.New("loadgen: an answer is longer than it says")
	}
	if a.keep {
		a.text = append(a.text, piece...)
	}
	a.inBody = a.left > 0
	return !a.inBody, nil
}

// length returns the length of the body from the head.
func (a *answer) length(head []byte) (int, error) {
	line, rest, _ := bytes.Cut(head, []byte(lineEnd))
	const prefix = "HTTP/1.1 "
	if len(line) < len(prefix)+3 || string(line[:len(prefix)]) != prefix {
		return 0, fmt.Errorf("loadgen: %.60q begins no answer of HTTP/1.1", line)
	}
	if status, err := strconv.Atoi(string(line[len(prefix) : len(prefix)+3])); err != nil || status != a.status {
		return 0, fmt.Errorf("loadgen: answered %.60q, not %d", line[len(prefix):], a.status)
	}
	if a.status == http.StatusNotModified || a.status == http.StatusNoContent {
		return 0, nil
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte(lineEnd))
		if len(line) > len(lengthIs) && bytes.EqualFold(line[:len(lengthIs)], []byte(lengthIs)) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(line[len(lengthIs):])))
			if err != nil || n < 0 {
				return 0, fmt.Errorf("loadgen: %.60q is no length", line)
			}
			return n, nil
		}
	}
	return 0, errors.New("loadgen: an answer without Content-Length")
}
