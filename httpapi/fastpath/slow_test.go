package fastpath_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/httpapi/fastpath"
)

// held is how long the patience that a case is about lasts; all others last for
// limit, so that no other can have ended the connection.
const held = time.Second

// slow is a client that holds a connection without getting on with it.
type slow struct {
	sent    string                 // at once
	answers int                    // it reads so many
	drips   string                 // then it sends this, over and over, a byte at a time
	deaf    bool                   // then it reads no more
	change  func(*fastpath.Config) // the patience of the fast path
	behind  func(*http.Server)     // the patience of net/http
	passed  int64                  // requests that got to net/http
}

// Whoever is slow, rests or does not read is cut when the time for it is over,
// in the fast path and behind it; nothing of what it did not finish is answered.
func TestSlowClientsAreCut(t *testing.T) {
	t.Parallel()
	head := func(c *fastpath.Config) { c.HeadTimeout = held }
	idle := func(c *fastpath.Config) { c.IdleTimeout = held }
	write := func(c *fastpath.Config) { c.WriteTimeout = held }
	post := "POST /other HTTP/1.1\r\nHost: l\r\nContent-Length: 90\r\n\r\n"
	hot, half := ask("/body"), ask("/body")[:20]
	large := bodyOf(64 << 20) // more than the buffers on the way take
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
				if _, err := client.in.Peek(1); err != nil { // it is being sent
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

// isCut reads to the end. Behind the fast path a request that was begun may get a
// refusal; it never gets an answer.
func (c *client) isCut() {
	c.Helper()
	c.renew()
	if rest, err := io.ReadAll(c.in); timedOut(err) || strings.Contains(string(rest), " 200 ") {
		c.Fatalf("the connection goes on with %.100q, %v", rest, err)
	}
}

// dripUntilCut sends a byte now and then until nobody takes it.
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

// lacks fails if the complete body was sent after all: then the buffers took it.
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
