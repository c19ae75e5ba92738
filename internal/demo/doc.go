// Package demo is `larder demo` and `larder sandbox`: an ordering service, a Redis in
// memory and larder in one process, what to open and try printed, and with --exit the
// main job done once from outside, step by step.
//
// What it prints is true: each step of the scenario checks what it got before it is
// printed, and every line of the banner works as it stands. The daemon that it runs
// is the one of larder serve.
//
// The program (cmd/larder) adds its two commands to the command line, and passes in
// Starts what starts a daemon. The package never wires a daemon itself, and knows of
// the running one only the address.
package demo
