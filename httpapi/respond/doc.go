// Package respond answers requests: it turns errors into problem documents, and writes JSON, pages of lists and
// empty answers. It also reads what every handler reads of a request: its id, language, parameters and JSON body.
//
// One table decides the code and status of every error (ProblemOf). The cause goes to the log only, never to a
// client. All handler packages and the middleware call it. It knows no handler, no client and no route, and
// logs nothing.
package respond
