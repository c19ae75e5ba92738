// Package tracing lets one request be followed through larder to the ordering
// service and back: OpenTelemetry spans, sent by OTLP over HTTP.
//
// Its one invariant is that nothing waits for it: a span that ends is put into
// a queue of bounded length, and what does not fit, or cannot be sent, is
// dropped and counted. Without an endpoint nothing is made at all.
//
// Any package may call Start with the context that it was given. Below a request
// that is traced Start begins a span, elsewhere it does nothing. No span carries
// a body, a key, a query, a caller's address or an error's text: they may hold
// a guest's data. Only cmd opens and closes a Tracing.
package tracing
