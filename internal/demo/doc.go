// Package demo implements `larder demo` and `larder sandbox`. The demo runs an ordering
// service, a Redis in memory and larder in one process, and prints what to open and
// try. With --exit it runs a scenario over HTTP and prints each step. The functions in
// Starts start the same daemon as larder serve; the demo then uses only its address.
package demo
