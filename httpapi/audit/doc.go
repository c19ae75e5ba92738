// Package audit is the audit log: it records the actions of operators and programs. All instances
// share one list in Redis, which has a maximum length. GET /v1/ops/audit returns this list.
//
// Handlers add an entry after an action is done. If the entry cannot be stored, it is only written
// to the log; the action is not undone. The package does no authorization and stores no secrets.
package audit
