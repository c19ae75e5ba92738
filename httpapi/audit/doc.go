// Package audit records the actions of operators and programs: a bounded list in Redis that all
// instances share, and GET /v1/ops/audit, which returns it.
//
// Handlers add an entry after an action is done. If the entry cannot be stored, it is only
// logged and the action stays done. The package does no authorization and stores no secrets.
package audit
