// Package journaltest holds what every ordering.Journal must do, as a suite of
// tests, and Memory, a journal for tests that need no Redis.
//
// Run is the suite: each sentence of ordering.Journal's documentation that can
// be seen from outside is a test of it. An implementation is right when Run
// passes over a fresh, empty store for each Fixture. Memory passes it too, so
// what is tested over Memory (the simulation, in a synctest bubble) holds over
// any other.
//
// Only tests import this package. It starts goroutines only within a test that
// waits for them, and reads no clock but the real one, to wait.
package journaltest
