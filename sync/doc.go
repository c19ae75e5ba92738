// Package sync keeps catalogues fresh: it pulls each restaurant's menu view on
// its schedule, and publishes what is whole, plausible and new.
//
// Its one invariant: what readers see is replaced only by a menu that was
// fetched whole, decoded, compiled and let through by the guard, and only by
// the holder of the restaurant's lease. Everything else leaves the last good
// menu where it is and says why in the run's record (policies S2 to S6).
//
// A Runner does single runs; a Scheduler owns the cron entries and the goroutines
// that call it. Package runlog keeps the records of runs and batches. httpapi and
// cmd use all of them; the package serves no HTTP itself. Importers alias it
// menusync.
package sync
