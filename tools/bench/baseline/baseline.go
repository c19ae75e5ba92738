// Package baseline is the fastest server of prepared responses in Go: one goroutine
// with an epoll loop reads the head of a request, looks up its path, and sends
// prepared bytes, large ones with sendfile. Additional time of another server is its
// own; the time of this server is that of the kernel and Go.
//
// It is not a usable server: it reads only the path, sends a fixed date, and closes a
// connection on anything unexpected. Only tools/bench/ginpeer uses it.
package baseline

// Answers maps paths to complete responses, head and body.
type Answers map[string][]byte
