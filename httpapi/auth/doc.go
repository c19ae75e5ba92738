// Package auth decides who a request comes from and what it may do: tokens and their signing keys, the clients of the
// configuration, their scopes, the sessions of /ops, and what guests may do without a token.
//
// A token or session gives what its client holds now, never more than it held when it was issued. A wrong secret
// is limited; a correct one is never rejected. The router calls its middleware; handlers call CallerOf. It never
// decides which restaurants exist, and no log line or error has a secret.
package auth
