// Package answers writes and reads the file with larder's responses for the servers
// in a comparison, so that all of them send the same bytes. Bodies are in separate
// files beside it.
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
	Usual    = "usual"     // Gin handlers that place and change orders; without a file
)

// Answer is one response.
type Answer struct {
	// Path is the path and query of the request.
	Path string `json:"path"`
	// Status is 200, or 304 for a request whose If-None-Match is ETag.
	Status int `json:"status"`
	// Header contains names and values, in order, without Date and Content-Length.
	Header [][2]string `json:"header"`
	// File contains the body; empty without a body.
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
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("answers: %w", err)
	}
	var list []Answer
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("answers: %s: %w", file, err)
	}
	return list, nil
}

// Body reads the body; nil without a body.
func (a Answer) Body() ([]byte, error) {
	if a.File == "" {
		return nil, nil
	}
	return os.ReadFile(a.File)
}

// ETag returns the ETag header, or "".
func (a Answer) ETag() string {
	at := slices.IndexFunc(a.Header, func(h [2]string) bool { return http.CanonicalHeaderKey(h[0]) == "Etag" })
	if at < 0 {
		return ""
	}
	return a.Header[at][1]
}

// Wire returns the complete response as sent, with the given date.
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
