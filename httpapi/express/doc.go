// Package express answers hot reads before net/http sees them. A Listener
// stands between the TCP listener and an ordinary http.Server: each plaintext
// HTTP/1.1 connection is read by a small loop that takes complete GET and HEAD
// requests of a plain form, asks an Answerer for a ready answer, and writes it.
//
// Its one invariant: a request gets from the loop what net/http would have
// given it, or is left to net/http with every byte read so far. Whatever the
// loop is not sure of goes there: another method, a body or a mention of one,
// a header that stands twice, escapes in the path, a byte out of place, or an
// Answerer that has no answer at hand. This is one way: a connection that was
// given to net/http stays there, so nothing in a body can be taken for a
// request.
//
// The package knows nothing of menus, and looks up, encodes and logs nothing.
package express
