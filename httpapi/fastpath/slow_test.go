package fastpath_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi/fastpath"
)

// held is the timeout that a case tests. All other timeouts are limit, so that no other timeout can
// end the connection.
const held = time.Second

// slow is a client that keeps a connection open without making progress.
type slow struct {
	sent    string                 // sent at once
	answers int                    // then the client reads this many bytes
	drips   string                 // then it sends this repeatedly, one byte at a time
	deaf    bool                   // then it stops reading
	change  func(*fastpath.Config) // the timeouts of the fast path
	behind  func(*http.Server)     // the timeouts of net/http
	passed  int64                  // the number of requests that reached net/http
}

// A client that is slow, idle or does not read is disconnected after the timeout, in the fast path
// and in net/http. An incomplete request gets no response.
func TestSlowClientsAreCut(t *testing.T) {
	t.Parallel()
	head := func(c *fastpath.Config) { c.HeadTimeout = held }
	idle := func(c *fastpath.Config) { c.IdleTimeout = held }
	write := func(c *fastpath.Config) { c.WriteTimeout = held }
	post := "POST /other HTTP/1.1\r\nHost: l\r\nContent-Length: 90\r\n\r\n"
	hot, half := ask("/body"), ask("/body")[:20]
	large := bodyOf(64 << 20) // more than all buffers between the two ends hold
	for name, c := range map[string]slow{
		"nothing is sent":                 {change: head},
		"half a first head":               {sent: half, change: head},
		"a first head in drips":           {sent: half, drips: "x", change: head},
		"half a head after a whole one":   {sent: hot + half, answers: 1, change: head},
		"a later head in drips":           {sent: hot + half, answers: 1, drips: "x", change: head},
		"fields in drips":                 {sent: hot + "GET /body HTTP/1.1\r\nHost: l\r\n", answers: 1, drips: "X: y\r\n", change: head},
		"a connection that rests":         {sent: hot, answers: 1, change: idle},
		"a large body that nobody reads":  {sent: hot, deaf: true, change: write},
		"many requests, and nobody reads": {sent: strings.Repeat(hot, 20), deaf: true, change: write},

		"behind the fast path, half a head":             {sent: ask("/other") + half, answers: 1, behind: func(s *http.Server) { s.ReadHeaderTimeout = held }, passed: 1},
		"behind the fast path, a head in drips":         {sent: ask("/other") + half, answers: 1, drips: "x", behind: func(s *http.Server) { s.ReadHeaderTimeout = held }, passed: 1},
		"behind the fast path, a connection that rests": {sent: ask("/other"), answers: 1, behind: func(s *http.Server) { s.IdleTimeout = held }, passed: 1},
		"behind the fast path, half a body":             {sent: post + "{", behind: func(s *http.Server) { s.ReadTimeout = held }, passed: 1},
		"behind the fast path, a body in drips":         {sent: post, drips: "{", behind: func(s *http.Server) { s.ReadTimeout = held }, passed: 1},
		"behind the fast path, nobody reads":            {sent: ask("/large"), deaf: true, behind: func(s *http.Server) { s.WriteTimeout = held }, passed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := large[:10]
			if c.deaf {
				body = large
			}
			r := newFixtureOf(t, body, c.change, c.behind)
			begun := time.Now()
			client := r.dial()
			client.send(c.sent)
			for range c.answers {
				client.receive()
			}
			switch {
			case c.deaf:
				if _, err := client.in.Peek(1); err != nil { // the response is being sent
					t.Error(err)
				}
				if err := r.stop(); err != nil {
					t.Errorf("the connection is still there: %v", err)
				}
			case c.drips != "":
				client.dripUntilCut(c.drips)
			default:
				client.isCut()
			}
			if took := time.Since(begun); took < held*9/10 || took > limit/2 {
				t.Errorf("cut after %v, want about %v", took, held)
			}
			if n := r.behind.Load(); n != c.passed {
				t.Errorf("%d requests got to net/http, want %d", n, c.passed)
			}
			if c.deaf {
				client.lacks(len(body))
			}
		})
	}
}

// isCut reads to the end. In net/http an incomplete request may get an error, but never a
// successful response.
func (c *client) isCut() {
	c.Helper()
	c.renew()
	if rest, err := io.ReadAll(c.in); timedOut(err) || strings.Contains(string(rest), " 200 ") {
		c.Fatalf("the connection goes on with %.100q, %v", rest, err)
	}
}

// dripUntilCut sends single bytes until the connection is closed.
func (c *client) dripUntilCut(text string) {
	c.Helper()
	c.renew()
	tick := time.NewTicker(held / 20)
	defer tick.Stop()
	for i := 0; ; i++ {
		if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
			if timedOut(err) {
				c.Fatal("the drip goes on")
			}
			return
		}
		<-tick.C
	}
}

// lacks fails if the complete body was sent: then it fitted into the buffers.
func (c *client) lacks(size int) {
	c.Helper()
	c.renew()
	if n, err := io.Copy(io.Discard, c.in); timedOut(err) || n >= int64(size) {
		c.Errorf("%d bytes of an answer of %d: this proves nothing (%v)", n, size, err)
	}
}

func timedOut(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as the connection gives it
	return ok && timeout.Timeout()
}
