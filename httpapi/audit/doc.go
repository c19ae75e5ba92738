// Package audit keeps who did what to larder and when: a bounded list in Redis that all instances share, and
// GET /v1/ops/audit, which shows it.
//
// An entry is of what was done already: where it cannot be kept, the log has it, and nothing is undone. Handlers that
// change something add entries. The package decides nothing that a caller may do, and keeps no secret.
package audit
