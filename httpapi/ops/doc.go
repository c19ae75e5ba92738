// Package ops answers what operators ask about restaurants, syncs and versions: lists and states, manual runs, lint,
// comparisons, rollbacks and holds.
//
// An operator of one connection sees that connection alone. Every change adds an entry to the audit list. Lists and
// summaries come from memory, and wait for Redis a second at most. The package never changes a menu itself: it asks
// the scheduler for a run.
package ops
