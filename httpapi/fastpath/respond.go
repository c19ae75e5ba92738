package fastpath

import (
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	oneWrite   = 8 << 10 // larger bodies are not copied behind their head
	headRoom   = 1 << 10 // approximate size of a head
	lingerTime = 500 * time.Millisecond
)

// headerBuffers are buffers for responses.
//
//nolint:gochecknoglobals // a pool
var headerBuffers = sync.Pool{New: func() any { return &headerBuffer{make([]byte, 0, headRoom+oneWrite)} }}

type headerBuffer struct{ room []byte }

// respond answers the request whose head has this size.
func (c *conn) respond(size int) nextStep {
	begun := time.Now()
	s, _ := headerBuffers.Get().(*headerBuffer)
	defer headerBuffers.Put(s)
	c.response = Response{Head: s.room}
	if !c.handler.Respond(&c.request, &c.response) {
		return stepHandOff
	}
	next := stepContinue
	if c.listener.draining.Load() {
		next = stepClose
	}
	head := append(c.response.Head, "Date: "...)
	head = c.date.Append(head, begun)
	if next == stepClose {
		head = append(head, "\r\nConnection: close"...)
	}
	head = append(head, emptyLine...)
	body := c.response.Body
	if c.request.Head {
		body = nil
	}
	c.setDeadlines(begun)
	sent, err := c.write(head, body)
	took := time.Since(begun)
	c.handler.Sent(sent, took)
	c.response, c.request, c.used = Response{}, Request{}, true
	c.at += size
	switch {
	case err != nil:
		return stepClose
	case next == stepClose:
		c.lastSent = true
		return stepClose
	}
	c.setDeadlines(begun.Add(took))
	return stepContinue
}

// write sends a response and returns how much of the body was sent.
func (c *conn) write(head, body []byte) (sent int, err error) {
	size := len(head)
	if len(body) <= oneWrite {
		sent, err = c.Write(append(head, body...))
		return max(0, sent-size), err
	}
	c.parts = [2][]byte{head, body}
	c.vector = c.parts[:]
	n, err := c.vector.WriteTo(c.Conn)
	c.parts = [2][]byte{}
	return max(0, int(n)-size), err
}

// linger closes the write side and reads until the client closes. Closing a connection with
// unread bytes would reset it and lose the response.
func (c *conn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.Conn})
}

// Date caches the text of a second.
type Date struct {
	second int64
	text   [len(http.TimeFormat)]byte
}

// Append appends the time in the format of the Date header.
func (d *Date) Append(dst []byte, now time.Time) []byte {
	if second := now.Unix(); second != d.second {
		d.second = second
		now.UTC().AppendFormat(d.text[:0], http.TimeFormat)
	}
	return append(dst, d.text[:]...)
}
