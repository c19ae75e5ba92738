// Package runlog keeps what is known of syncs: a record of each run, the index
// over all restaurants, the batches, and the notices that tell every instance of
// them (policies S7 and S8).
//
// Its invariant: a run has one record. It is changed by the holder of the
// restaurant's lease until the run ends, and by nobody afterwards. A run whose
// holder vanished is ended as failed by the first who reads it.
//
// Package sync writes runs and does batches; httpapi lists them and follows the
// notices. The script that ends a run also releases its lease and notes what was
// found of the current version. It belongs to package sync, and gets the text and
// the arguments of appendrun.lua from here. The package never syncs, and starts
// no goroutine.
package runlog
