// Package ops answers the operators' requests about restaurants, syncs and versions: lists and
// states, manual runs, lint, comparisons, rollbacks and holds.
//
// An operator of one connection sees only that connection. Every change adds an entry to the
// audit log. Lists and summaries come from memory and wait for Redis at most one second. httpapi
// registers the routes. The package never changes a menu itself: it starts runs of the scheduler.
package ops
