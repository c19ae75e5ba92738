// Package clitest runs command lines in the process of a test, waits for their
// output, and replaces the daemon and the ordering service that they use.
//
// The tests of the command line and those of the whole program share it. It gets
// the program as a function, so it depends on neither. It starts no process and no
// real daemon.
package clitest
