// Package chaos checks what larder promises about orders while things break. It
// runs several real larder processes, the sandbox and a real Redis, lets clients
// place, pay, complete and reject orders, and breaks what a seeded plan says.
// Everything that was asked, answered, executed and broken is a History; Check
// compares it with the rules.
//
// It is test support: only tests import it.
package chaos
