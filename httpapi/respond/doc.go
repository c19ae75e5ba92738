// Package respond writes responses: problem documents for errors, JSON, pages of lists and empty
// responses. It also reads the common parts of requests: id, language, parameters and JSON body.
//
// One table decides the code and status of every error (ProblemOf). The cause is only logged, never sent to a client.
// All handler packages and the middleware use it. It depends on no handler, client or route, and logs nothing.
package respond
