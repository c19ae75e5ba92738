// Package baseline is the least that a server of ready answers can do: one
// goroutine that waits by epoll, reads a request's head, looks its path up and
// writes bytes that were made before, large ones by sendfile. What another server takes longer than
// this is its own, and what this takes is the kernel's and Go's.
//
// It is no server to be used: it looks at nothing but the path, answers from a
// fixed date, and closes a connection at whatever it does not know. Only the
// program of tools/bench/ginpeer runs it.
package baseline

// Answers are whole answers, head and body, by the path that they are for.
type Answers map[string][]byte
