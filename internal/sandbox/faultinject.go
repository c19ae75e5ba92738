package sandbox

import (
	"cmp"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// inject applies a fault to a call. work executes the call and is called at most once.
func (s *Sandbox) inject(w http.ResponseWriter, c *call, f *Fault, work func() answer) {
	s.log.WithFields(logrus.Fields{
		"event":      "sandbox.fault",
		"do":         string(f.Do),
		"method":     c.r.Method,
		"request_id": c.requestID,
	}).Debug("fault")
	if f.Delay > 0 && !s.wait(c.r.Context().Done(), time.Duration(f.Delay), nil) {
		panic(http.ErrAbortHandler)
	}
	if strings.HasPrefix(string(f.Do), "execute_then_") {
		work()
	}
	switch f.Do {
	case DoStatus, DoExecuteThenStatus:
		f.answer(http.StatusServiceUnavailable, "", f.contentType("")).write(w)
	case DoLatency:
		work().write(w)
	case DoHang, DoExecuteThenHang:
		s.hang(c.r)
	case DoResetBefore, DoExecuteThenReset:
		reset(w)
	case DoTruncate:
		c.r.Header.Del("If-None-Match") // a 304 has nothing to truncate
		truncate(w, work(), f.After)
	case DoGarbage:
		f.answer(http.StatusOK, garbage, f.contentType(contentTypeJSON)).write(w)
	case DoHTML:
		f.answer(http.StatusBadGateway, proxyPage, "text/html; charset=utf-8").write(w)
	case DoExpireTokens:
		s.tokens.generation.Add(1)
		work().write(w)
	}
}

// hang sends no response until the client disconnects or the sandbox stops, then drops the connection.
func (s *Sandbox) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.done:
	}
	panic(http.ErrAbortHandler)
}

// reset drops the connection with a TCP reset, without a response.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream is reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // on an error the client sees a normal close
	}
	_ = conn.Close()
}

// truncate announces the complete length, sends the first bytes and drops the connection.
func truncate(w http.ResponseWriter, a answer, after int) {
	a.writeHead(w)
	_, _ = w.Write(a.body[:min(after, len(a.body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

const (
	// garbage looks like a successful response, but is not valid JSON.
	garbage = "{\"result\": {\"or\x00\xff\xfe\x13\x37 \xc3\x28 ,,,[["
	// proxyPage is the error page of a reverse proxy.
	proxyPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
		"<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
)

// answer returns the fault's response: its own status, body and headers, or the given defaults.
func (f *Fault) answer(status int, body, contentType string) answer {
	a := answer{status: cmp.Or(f.Status, status), header: http.Header{}, body: []byte(cmp.Or(f.Body, body))}
	if contentType != "" {
		a.header.Set("Content-Type", contentType)
	}
	if f.RetryAfter > 0 {
		a.header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
	return a
}

// contentType returns the content type of the fault's body, or the default.
func (f *Fault) contentType(empty string) string {
	switch {
	case f.Body == "":
		return empty
	case strings.HasPrefix(f.Body, "{"), strings.HasPrefix(f.Body, "["):
		return contentTypeJSON
	default:
		return "text/plain; charset=utf-8"
	}
}
