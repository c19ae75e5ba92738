// Package demo implements `larder demo` and `larder sandbox`. The demo runs an ordering
// service, a Redis in memory and larder in one process, and prints what to open and
// try. With --exit it runs a scenario over HTTP and prints each step. A step checks its
// results before it prints them, and every printed command works.
//
// cmd/larder adds the two commands to the command line. The demo starts the same daemon
// as larder serve, with the functions in Starts. Afterwards it uses only its address.
package demo
