// Package tracing lets one request be followed through larder to the ordering
// service and back: OpenTelemetry spans, sent by OTLP over HTTP.
//
// Its one invariant is that nothing waits for it: a span that ends is put into
// a queue of bounded length, and what does not fit, or cannot be sent, is
// dropped and counted. Without an endpoint nothing is made at all.
//
// Any room may call Start with the context that it was given: below a request
// that is traced that begins a span, elsewhere it does nothing. No span carries
// a body, a key, a query, a caller's address or an error's text: they may hold
// what is a guest's. Only cmd opens a Tracing and runs it.
package tracing
