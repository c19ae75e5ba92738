// Package clitest runs command lines in the process of a test, waits for what they
// print, and stands in for the daemon and the ordering service that they speak with.
//
// The tests of the command line and those of the whole program share it. It is given
// the program as a function, and so knows neither: it starts no process and no
// daemon of its own.
package clitest
