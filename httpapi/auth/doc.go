// Package auth authenticates requests and decides what they may do. It has the tokens and their signing keys,
// the configured clients and their scopes, the sessions of /ops, and the rights of guests without a token.
//
// A token or session gives the current rights of its client, and never more than when it was issued. Only wrong secrets
// count against a rate limit; a correct one is never rejected. The router uses the middleware, handlers call CallerOf.
// The package does not decide which restaurants exist. No log line or error contains a secret.
package auth
