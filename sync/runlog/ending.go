package runlog

import (
	"context"
	"errors"

	"larder/internal/menu"
)

// HolderLost is the error of a run whose holder vanished (policy S8).
const HolderLost = "holder lost"

// Ending is how a finished run is written: the arguments of appendrun.lua.
type Ending struct {
	Record    []byte // as it is kept
	Published []byte // as it is published
	Channel   string // that is notified of it; empty: none
	Kept      int    // how many finished runs are kept
	IDTime    int64  // of its id, in milliseconds
	Folds     bool   // it may be folded
}

// Ending returns how a finished run is written.
func (l *Log) Ending(run *Run) (Ending, error) {
	record, err1 := encodeRecord(run)
	published, err2 := run.MarshalJSON()
	return Ending{
		Record: record, Published: published, Channel: l.NoticeChannel(run.Restaurant), Kept: l.retention(run.Restaurant),
		IDTime: IDTime(run.ID), Folds: folds(run),
	}, errors.Join(err1, err2)
}

// retention is how many records of finished runs are kept under an id.
func (l *Log) retention(id menu.RestaurantID) int {
	if l.cfg.Unlisted(id) {
		return l.cfg.UnlistedRuns
	}
	return l.cfg.Runs
}

// resolveOrphan returns a record's run. A run whose holder vanished is ended here,
// by whoever reads it first.
func (l *Log) resolveOrphan(ctx context.Context, rec record) Run {
	if rec.run.Finished() {
		return rec.run
	}
	lost := rec.run
	lost.State, lost.Outcome, lost.Error, lost.FinishedAt = StateFinished, OutcomeFailed, HolderLost, l.cfg.Clock().UTC()
	end, err := l.Ending(&lost)
	if err != nil {
		return rec.run
	}
	id := lost.Restaurant
	ended, err := orphanScript.Run(ctx, l.redis,
		[]string{l.keys.Lease(id), l.keys.Fence(id), l.keys.Queue(id), l.keys.Runs(id), l.keys.RunLog(id)},
		lost.ID, rec.raw, end.Record, end.Kept, end.IDTime, end.Channel, end.Published).Bool()
	if err != nil || !ended {
		return rec.run // alive, or nobody can tell now
	}
	l.cfg.Orphaned(lost)
	return lost
}
