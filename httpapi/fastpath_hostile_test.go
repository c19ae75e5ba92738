package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// connect is the name of the stream after whose first request net/http may close the connection.
const connect = "CONNECT"

// hostile is a stream that two HTTP parsers might split differently. Its requests have names in
// X-Request-Id: a response with a name means that these bytes were read as a request.
type hostile struct {
	class, name string
	stream      string
	fell        int      // requests for net/http
	answers     []string // the status and name of each response
}

// Each class of requests that the fast path must not answer, over real TCP, in one piece and in
// several. Both ports answer the same requests, and none that was inside the body of another.
func TestHostileStreamsOverTCP(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	p := newPorts(t, w, func(rw http.ResponseWriter, r *http.Request) {
		w.Server.Handler().ServeHTTP(rw, r.WithContext(context.WithoutCancel(r.Context())))
	})
	for _, c := range hostileStreams() {
		length := len(c.stream)
		for _, size := range []int{length, length/2 + 1, 17, 1} {
			var pieces []string
			for piece := range slices.Chunk([]byte(c.stream), size) {
				pieces = append(pieces, string(piece))
			}
			got, fell := p.same(t, pieces)
			answers, want, wantFell := answersOf(t, got), c.answers, c.fell
			if c.name == connect && len(answers) == 1 { // newer Go releases close the connection after this method
				want, wantFell = want[:1], 1
			}
			if !slices.Equal(answers, want) {
				t.Errorf("%s, %s, in pieces of %d: answered %q, want %q", c.class, c.name, size, answers, want)
			}
			if fell != wantFell {
				t.Errorf("%s, %s, in pieces of %d: %d requests got to net/http, want %d", c.class, c.name, size, fell, wantFell)
			}
		}
	}
}

// answersOf splits the responses. Each has its status and the name of its request.
func answersOf(t *testing.T, text string) (answers []string) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(text))
	for {
		if _, err := in.Peek(1); err != nil {
			return answers
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("what follows %q is no answer: %v", answers, err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		name := answer.Header.Get("X-Request-Id")
		if name == "" || madeID.MatchString(name) {
			name = "-"
		}
		answers = append(answers, answer.Status[:3]+" "+name)
	}
}

// named returns a request with that name; a body may follow.
func named(name, path string, headers ...string) string {
	return rawGet(path, append([]string{"X-Request-Id: " + name}, headers...)...)
}

// hostileStreams is the table of streams. A request inside a body has the name hidden.
func hostileStreams() []hostile {
	first := func(headers ...string) string { return named("first", apitest.MenuPath, headers...) }
	hidden, next := named("hidden", productPath), named("next", productPath)
	post := func(headers ...string) string {
		return "POST" + named("first", apitest.ValidatePath, append(headers, "Content-Type: application/json")...)[len("GET"):]
	}
	line := func(start string, headers ...string) string {
		return start + "\r\n" + strings.Join(append(headers, "X-Request-Id: first"), "\r\n") + "\r\n\r\n"
	}
	length := func(n string) string { return "Content-Length: " + n }
	chunked := "Transfer-Encoding: chunked"
	chunks := strconv.FormatInt(int64(len(hidden)), 16) + "\r\n" + hidden + "\r\n0\r\n\r\n"
	n := strconv.Itoa(len(hidden))
	one, two, refused := []string{"200 first"}, []string{"200 first", "200 next"}, []string{"400 -"}
	return []hostile{
		{"any body", "of a GET", first(length(n)) + hidden + next, 2, two},
		{"any body", "of a GET, and no more", first(length(n)) + hidden, 1, one},
		{"any body", "of a GET after a hot read", named("hot", apitest.MenuPath) + first(length(n)) + hidden + next, 2, []string{"200 hot", "200 first", "200 next"}},
		{"any body", "of a POST", post(length(n)) + hidden + next, 2, []string{"400 first", "200 next"}},
		{"any body", "of no bytes", first(length("0")) + next, 2, two},
		{"any body", "that ends too early", first(length("9999")) + hidden, 1, one},
		{"any body", "of a product", named("first", productPath, length(n)) + hidden + next, 2, two},
		{"any body", "of what would be a 304", first("If-None-Match: *", length(n)) + hidden + next, 2, []string{"304 first", "200 next"}},
		{"any body", "of the third of three hot reads", named("a", apitest.MenuPath) + named("b", productPath) + first(length(n)) + hidden + next, 2, []string{"200 a", "200 b", "200 first", "200 next"}},
		{"any body", "in chunks, after a hot read", named("a", apitest.MenuPath) + first(chunked) + chunks + next, 2, []string{"200 a", "200 first", "200 next"}},

		{"Transfer-Encoding", "chunks", first(chunked) + chunks + next, 2, two},
		{"Transfer-Encoding", "chunks of a POST", post(chunked) + chunks + next, 2, []string{"400 first", "200 next"}},
		{"Transfer-Encoding", "chunks and a length", first(length("4"), chunked) + chunks + next, 2, two},
		{"Transfer-Encoding", "a length and chunks", first(chunked, length("4")) + chunks + next, 2, two},
		{"Transfer-Encoding", "chunks twice", first(chunked, chunked) + chunks + next, 0, []string{"501 -"}},
		{"Transfer-Encoding", "chunks and more", first("Transfer-Encoding: gzip, chunked") + chunks + next, 0, []string{"501 -"}},
		{"Transfer-Encoding", "a coding nobody knows", first("Transfer-Encoding: xchunked") + chunks + next, 0, []string{"501 -"}},
		{"Transfer-Encoding", "identity", first("Transfer-Encoding: identity", length(n)) + hidden + next, 0, []string{"501 -"}},
		{"Transfer-Encoding", "in capitals", first("TRANSFER-ENCODING: CHUNKED") + chunks + next, 2, two},
		{"Transfer-Encoding", "a tab before it", first("Transfer-Encoding:\tchunked") + chunks + next, 2, two},
		{"Transfer-Encoding", "a space before the colon", first("Transfer-Encoding : chunked") + chunks + next, 0, refused},
		{"Transfer-Encoding", "of nothing", first("Transfer-Encoding:") + chunks, 0, []string{"501 -"}},
		{"Transfer-Encoding", "in quotes", first(`Transfer-Encoding: "chunked"`) + chunks, 0, []string{"501 -"}},
		{"Transfer-Encoding", "a byte that looks like a space before it", first("Transfer-Encoding: \x0bchunked") + chunks, 0, refused},
		{"Transfer-Encoding", "its name with an underscore", first("Transfer_Encoding: chunked") + next, 0, two},
		{"Transfer-Encoding", "a size with a sign", first(chunked) + "+5\r\nhello\r\n0\r\n\r\n" + hidden, 1, one},
		{"Transfer-Encoding", "a size beyond all", first(chunked) + "fffffffffffffffff\r\n" + hidden, 1, one},
		{"Transfer-Encoding", "an extension with a line end", first(chunked) + "0;x=\ny\r\n\r\n" + hidden, 1, one},
		{"Transfer-Encoding", "a trailer with a length", first(chunked) + "0\r\nContent-Length: " + n + "\r\n\r\n" + next, 2, two},

		{"Upgrade", "to h2c", first("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__") + next, 2, two},
		{"Upgrade", "to a websocket", first("Connection: Upgrade", "Upgrade: websocket") + next, 2, two},
		{"Upgrade", "without Connection", first("Upgrade: h2c") + next, 2, two},

		{"Expect", "100-continue, and a body", first("Expect: 100-continue", length(n)) + hidden + next, 1, one},
		{"Expect", "100-continue of a POST", post("Expect: 100-continue", length("2")) + "{}" + next, 2, []string{"100 -", "200 first", "200 next"}},
		{"Expect", "what nobody knows", first("Expect: a-miracle") + next, 0, []string{"417 -"}},

		{"an odd method", "that begins like GET", line("GETS "+apitest.MenuPath+" HTTP/1.1", "Host: l") + next, 2, []string{"405 first", "200 next"}},
		{"an odd method", "in lower case", line("get "+apitest.MenuPath+" HTTP/1.1", "Host: l") + next, 2, []string{"405 first", "200 next"}},
		{"an odd method", "with a body", line("DELETE "+apitest.MenuPath+" HTTP/1.1", "Host: l", length(n)) + hidden + next, 2, []string{"405 first", "200 next"}},
		{"an odd method", connect, line("CONNECT l:80 HTTP/1.1", "Host: l:80") + next, 2, []string{"404 first", "200 next"}},
		{"an odd method", "none", line(" "+apitest.MenuPath+" HTTP/1.1", "Host: l") + next, 0, refused},

		{"absolute form", "of a menu", line("GET http://l"+apitest.MenuPath+" HTTP/1.1", "Host: l") + next, 2, two},
		{"absolute form", "of another host", line("GET http://other"+apitest.MenuPath+" HTTP/1.1", "Host: l", length(n)) + hidden + next, 2, two},
		{"absolute form", "an asterisk", line("GET * HTTP/1.1", "Host: l") + next, 2, []string{"404 first", "200 next"}},

		{"obsolete folding", "of a value", first("X: a\r\n b") + next, 2, two},
		{"obsolete folding", "that would be a length", first("X: a\r\n Content-Length: "+n) + next, 2, two},
		{"obsolete folding", "of a length", first("Content-Length:\r\n "+n) + hidden + next, 2, two},
		{"obsolete folding", "of chunks", first("Transfer-Encoding:\r\n chunked") + chunks + next, 2, two},
		{"obsolete folding", "by a tab, that would be a length", first("X: a\r\n\tContent-Length: "+n) + next, 2, two},
		{"obsolete folding", "of the Host", line("GET "+apitest.MenuPath+" HTTP/1.1", "Host:", " l") + next, 2, two},
		{"obsolete folding", "of the first field", line("GET "+apitest.MenuPath+" HTTP/1.1", " X: a", "Host: l") + next, 0, refused},

		{"bare LF", "in all lines", strings.ReplaceAll(first(), "\r\n", "\n") + next, 2, two},
		{"bare LF", "that would be a length", first("X: a\nContent-Length: "+n) + hidden + next, 2, two},
		{"bare LF", "that would end the head", first("X: a\n\nGET "+productPath+" HTTP/1.1\nX-Request-Id: own") + next, 1, []string{"200 first", "400 -"}},
		{"bare LF", "a CR alone", first("X: a\rContent-Length: "+n) + hidden, 0, refused},
		{"bare LF", "an empty line between two requests", named("a", apitest.MenuPath) + "\r\n" + next, 0, []string{"200 a", "400 -"}},
		{"bare LF", "an empty line of LF between two requests", named("a", apitest.MenuPath) + "\n" + next, 0, []string{"200 a", "400 -"}},
		{"bare LF", "CR CR LF", first("X: a\r\r\nContent-Length: "+n) + hidden, 0, refused},

		{"a length", "twice", first(length(n), length("0")) + hidden + next, 0, refused},
		{"a length", "twice, the same", first(length(n), length(n)) + hidden + next, 2, two},
		{"a length", "a list", first(length(n+", "+n)) + hidden + next, 0, refused},
		{"a length", "with a sign", first(length("+"+n)) + hidden + next, 0, refused},
		{"a length", "below zero", first(length("-1")) + hidden + next, 0, refused},
		{"a length", "in hexadecimal", first(length("0x10")) + hidden + next, 0, refused},
		{"a length", "with a space in it", first(length("1 0")) + hidden + next, 0, refused},
		{"a length", "no number", first(length("ten")) + hidden + next, 0, refused},
		{"a length", "nothing", first(length("")) + hidden, 0, refused},
		{"a length", "beyond all", first(length("99999999999999999999")) + hidden, 0, refused},
		{"a length", "with zeros before it", first(length("000"+n)) + hidden + next, 2, two},
		{"a length", "after a NUL", first("X: \x00", length(n)) + hidden, 0, refused},
		{"a length", "its name with a space", first("Content-Length : "+n) + hidden, 0, refused},
		{"a length", "its name with odd case", first("cONTENT-lENGTH: "+n) + hidden + next, 2, two},

		{"a head over 8 KiB", "nine", first("X: "+strings.Repeat("x", 9<<10)) + next, 2, two},
		{"a head over 8 KiB", "nine, with a body", first("X: "+strings.Repeat("x", 9<<10), length(n)) + hidden + next, 2, two},
		{"a head over 8 KiB", "forty", first("X: " + strings.Repeat("x", 40<<10)), 0, []string{"431 -"}},
		{"a head over 8 KiB", "a path of nine", named("first", "/v1/restaurants/"+strings.Repeat("x", 9<<10)+"/menu") + next, 2, []string{"404 first", "200 next"}},

		{"more than one Host", "two", first("Host: other") + next, 0, refused},
		{"more than one Host", "the same", first("Host: larder.example") + next, 0, refused},
		{"more than one Host", "none", line("GET "+apitest.MenuPath+" HTTP/1.1") + next, 0, refused},
		{"more than one Host", "with a space", line("GET "+apitest.MenuPath+" HTTP/1.1", "Host: a b") + next, 0, refused},

		{"HTTP/1.0", "which ends the connection", line("GET "+apitest.MenuPath+" HTTP/1.0", "Host: l") + hidden, 1, one},
		{"HTTP/1.0", "which keeps it", line("GET "+apitest.MenuPath+" HTTP/1.0", "Host: l", "Connection: keep-alive") + next, 2, two},
		{"HTTP/1.0", "with chunks", line("GET "+apitest.MenuPath+" HTTP/1.0", "Host: l", chunked) + chunks, 1, one},
		{"HTTP/1.0", "HTTP/0.9", "GET " + apitest.MenuPath + "\r\n\r\n" + hidden, 0, refused},
		{"HTTP/1.0", "HTTP/1.10", line("GET "+apitest.MenuPath+" HTTP/1.10", "Host: l") + hidden, 0, refused},

		{"an unknown path", "of nothing", named("first", "/nothing") + next, 2, []string{"404 first", "200 next"}},
		{"an unknown path", "with a body", named("first", "/nothing", length(n)) + hidden + next, 2, []string{"404 first", "200 next"}},
		{"an unknown path", "with an escape", named("first", "/v1/restaurants/bistr%6f/menu") + next, 2, two},
		{"an unknown path", "with dots", named("first", "/v1/restaurants/bistro/../bistro/menu") + next, 2, []string{"404 first", "200 next"}},

		{"authentication needed", "no token", named("first", apitest.ViewPath) + next, 2, []string{"401 first", "200 next"}},
		{"authentication needed", "a token of nobody", named("first", apitest.ViewPath, "Authorization: Bearer x") + next, 2, []string{"401 first", "200 next"}},
		{"authentication needed", "no token, and a body", named("first", apitest.ViewPath, length(n)) + hidden + next, 2, []string{"401 first", "200 next"}},

		{"Connection", "close", first("Connection: close") + hidden, 1, one},
		{"Connection", "keep-alive twice", first("Connection: keep-alive", "connection: Keep-Alive") + next, 0, two},
		{"Connection", "keep-alive and close", first("Connection: keep-alive", "Connection: close") + hidden, 1, one},
		{"Connection", "close for a proxy", first("Proxy-Connection: close") + next, 0, two},
		{"Connection", "that names the Host", first("Connection: Host") + next, 2, two},
		{"Connection", "that names a length", first("Connection: Content-Length", length(n)) + hidden + next, 2, two},
		{"another protocol", "TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n" + hidden, 0, refused},
		{"another protocol", "a proxy's header", "PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\n" + hidden, 0, refused},
	}
}
