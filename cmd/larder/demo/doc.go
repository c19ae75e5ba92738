// Package demo implements `larder demo` and `larder sandbox`. The demo runs an ordering service, a Redis in memory and
// larder in one process, and prints what to open and try. With --exit it runs a scenario over HTTP and prints each
// step. The functions in Starts start the same daemon as larder serve; the demo then uses only its address.
//
// Its invariant: the demo shows only what a user of larder serve sees. cmd/larder adds the commands
// and fills in Starts. The package itself caches no menu and validates no order.
package demo
