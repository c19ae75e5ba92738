// Package chaos checks larder's guarantees about orders during faults. It runs
// several larder processes, the sandbox and a real Redis. Clients place, pay,
// complete and reject orders while a seeded plan causes faults. All requests,
// answers, executions and faults are a History; Check compares it with the rules.
//
// It is test support: only tests import it.
package chaos
