// Package answers is the file in which a measurement hands larder's own answers
// to the servers that it is compared with, so that all of them send the same
// bytes. The bodies are files of their own beside it.
package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
)

// The servers of larder-peer that serve a file of answers. Each is the program's
// first argument.
const (
	Baseline = "baseline"  // an epoll loop
	Gin      = "gin"       // a Gin handler
	GinRedis = "gin-redis" // a Gin handler that reads Redis for each request
	GinBind  = "gin-bind"  // a Gin handler that binds an order
)

// Answer is one ready answer.
type Answer struct {
	// Path is what it answers: path and query of the request's URL.
	Path string `json:"path"`
	// Status is 200, or 304 for a request whose If-None-Match is ETag.
	Status int `json:"status"`
	// Header are name and value, in order, without Date and Content-Length.
	Header [][2]string `json:"header"`
	// File holds the body; empty: there is none.
	File string `json:"file"`
}

// Write writes the list.
func Write(file string, list []Answer) error {
	content, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return fmt.Errorf("answers: %w", err)
	}
	return os.WriteFile(file, content, 0o600)
}

// Read reads the list.
func Read(file string) ([]Answer, error) {
	content, err := os.ReadFile(file) //nolint:gosec // G304: named by whoever starts the program
	if err != nil {
		return nil, fmt.Errorf("answers: %w", err)
	}
	var list []Answer
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("answers: %s: %w", file, err)
	}
	return list, nil
}

// Body reads the body; nil of none.
func (a Answer) Body() ([]byte, error) {
	if a.File == "" {
		return nil, nil
	}
	return os.ReadFile(a.File)
}

// ETag is the header of that name; empty: there is none.
func (a Answer) ETag() string {
	at := slices.IndexFunc(a.Header, func(h [2]string) bool { return http.CanonicalHeaderKey(h[0]) == "Etag" })
	if at < 0 {
		return ""
	}
	return a.Header[at][1]
}

// Wire is the whole answer as it goes over the wire, dated as given.
func (a Answer) Wire(date string) ([]byte, error) {
	body, err := a.Body()
	if err != nil {
		return nil, err
	}
	var wire bytes.Buffer
	fmt.Fprintf(&wire, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	for _, h := range a.Header {
		wire.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	if a.Status != http.StatusNotModified {
		wire.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	wire.WriteString("Date: " + date + "\r\n\r\n")
	wire.Write(body)
	return wire.Bytes(), nil
}
