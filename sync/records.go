package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

const (
	// defaultPage and maxPage bound one page of runs.
	defaultPage = 50
	maxPage     = 500
	// maxScan bounds the records that one page with a filter reads.
	maxScan = 5000
	// bySuffix marks the joiners of a run beside its record.
	bySuffix = ":by"
	// holderLost is the error of a run whose holder vanished (policy S8).
	holderLost = "holder lost"
)

// Filter selects runs. A zero field selects all.
type Filter struct {
	Restaurant menu.RestaurantID
	Outcome    Outcome
	Limit      int    // runs a page; 0 = 50, at most 500
	Cursor     string // what the page before gave as next
}

// Runs returns recorded runs, the newest first, and the cursor of the next page,
// empty after the last. A page of a filter that matches few may be short.
// Without a restaurant it covers the latest Config.RunIndex runs of all.
// Errors: redisdb.ErrUnavailable.
func (r *Runner) Runs(ctx context.Context, f Filter) (runs []Run, next string, err error) {
	limit := min(cmp.Or(max(f.Limit, 0), defaultPage), maxPage)
	cursor, last := f.Cursor, ""
	runs = []Run{}
	for scanned := 0; scanned < maxScan; {
		records, err := r.recordsBefore(ctx, f.Restaurant, cursor, limit+1)
		if err != nil {
			return nil, "", err
		}
		for _, rec := range records {
			if rec.run.ID == "" {
				continue // gone, or folded into a later one
			}
			run := r.resolveOrphan(ctx, rec)
			if f.Outcome != "" && run.Outcome != f.Outcome {
				continue
			}
			if len(runs) == limit {
				return runs, last, nil
			}
			runs, last = append(runs, run), rec.position
		}
		if len(records) <= limit {
			return runs, "", nil
		}
		scanned += len(records)
		cursor = records[len(records)-1].position
	}
	return runs, cursor, nil
}

// recordsBefore reads the runs before a position, of one restaurant or of all.
// Those that cannot be read have a position alone.
func (r *Runner) recordsBefore(ctx context.Context, restaurant menu.RestaurantID, before string, count int) ([]record, error) {
	if restaurant != "" {
		return r.page(ctx, restaurant, before, count)
	}
	refs, err := r.listRefs(ctx, before, count)
	if err != nil {
		return nil, err
	}
	records, err := r.load(ctx, refs)
	for i := range records {
		records[i].position = refs[i].id
	}
	return records, err
}

// Run returns one run, on any replica. A scheduled run that found nothing
// changed has the record of its fold, and is found as long as it is among the
// latest Config.RunIndex runs. Errors: ErrUnknownRun, redisdb.ErrUnavailable.
func (r *Runner) Run(ctx context.Context, id string) (Run, error) {
	if !isID(id) {
		return Run{}, ErrUnknownRun
	}
	members, err := r.redis.ZRangeByLex(ctx, r.keys.RunIndex(),
		&redis.ZRangeBy{Min: "[" + id + " ", Max: "(" + id + "!", Count: 1}).Result() // "!" follows " "
	if err != nil {
		return Run{}, unavailable(ctx, "find a run", err)
	}
	if len(members) == 1 {
		return r.run(ctx, runRef{id: id, restaurant: menu.RestaurantID(members[0][len(id)+1:])})
	}
	// Older than the index: ask every restaurant.
	for targets := range slices.Chunk(r.set.Load().menus, maxPage) {
		refs := make([]runRef, len(targets))
		for i, t := range targets {
			refs[i] = runRef{id: id, restaurant: t.ID}
		}
		records, err := r.load(ctx, refs)
		if err != nil {
			return Run{}, err
		}
		for _, rec := range records {
			if rec.run.ID != "" {
				return r.resolveOrphan(ctx, rec), nil
			}
		}
	}
	return Run{}, ErrUnknownRun
}

func (r *Runner) run(ctx context.Context, ref runRef) (Run, error) {
	if !isID(ref.id) {
		return Run{}, ErrUnknownRun
	}
	records, err := r.load(ctx, []runRef{ref})
	if err != nil {
		return Run{}, err
	}
	if records[0].run.ID != "" {
		return r.resolveOrphan(ctx, records[0]), nil
	}
	return r.scan(ctx, ref)
}

// runRef says where a record is.
type runRef struct {
	id         string
	restaurant menu.RestaurantID
}

// listRefs lists the runs of all before the cursor, newest first.
func (r *Runner) listRefs(ctx context.Context, cursor string, count int) ([]runRef, error) {
	before := "+"
	if cursor != "" {
		before = "(" + cursor
	}
	members, err := r.redis.ZRevRangeByLex(ctx, r.keys.RunIndex(), &redis.ZRangeBy{Min: "-", Max: before, Count: int64(count)}).Result()
	if err != nil {
		return nil, unavailable(ctx, "list runs", err)
	}
	refs := make([]runRef, 0, len(members))
	for _, member := range members {
		id, of, ok := strings.Cut(member, " ")
		if ok && isID(id) {
			refs = append(refs, runRef{id: id, restaurant: menu.RestaurantID(of)})
		}
	}
	return refs, nil
}

// resolveOrphan gives a record's run; one whose holder vanished is ended here, by
// whoever reads it first.
func (r *Runner) resolveOrphan(ctx context.Context, rec record) Run {
	if rec.run.Finished() {
		return rec.run
	}
	lost := rec.run
	lost.State, lost.Outcome, lost.Error, lost.FinishedAt = StateFinished, OutcomeFailed, holderLost, r.clock().UTC()
	kept, published, err := encodeFinished(&lost)
	if err != nil {
		return rec.run
	}
	id := lost.Restaurant
	ended, err := orphanScript.Run(ctx, r.redis,
		[]string{r.keys.Lease(id), r.keys.Fence(id), r.keys.Queue(id), r.keys.Runs(id), r.keys.RunLog(id)},
		lost.ID, rec.raw, kept, r.retention(id), idTime(lost.ID), r.noticeChannel(id), published).Bool()
	if err != nil || !ended {
		return rec.run // alive, or nobody can tell now
	}
	r.log.WithFields(fields(&lost, "sync.run_orphaned")).Warn("a run's holder vanished")
	if !strings.HasSuffix(string(id), reasonsSuffix) {
		r.observer.RunFinished(lost)
	}
	return lost
}

// noticeChannel is the channel that is notified of a target's runs: none of those of
// rejection reasons, which no list of runs has either.
func (r *Runner) noticeChannel(id menu.RestaurantID) string {
	if strings.HasSuffix(string(id), reasonsSuffix) {
		return ""
	}
	return r.keys.RunNotices()
}

// addToIndex puts a run into the index over all restaurants.
func (r *Runner) addToIndex(ctx context.Context, pipe redis.Pipeliner, run *Run) {
	pipe.ZAdd(ctx, r.keys.RunIndex(), redis.Z{Member: run.ID + " " + string(run.Restaurant)})
	pipe.ZRemRangeByRank(ctx, r.keys.RunIndex(), 0, int64(-r.cfg.RunIndex-1))
}

// writeFinal writes the last record of a run, with what it says of the current
// version, and releases its lease. A run that was declared lost meanwhile keeps
// that record; then it is false. Errors: cache.ErrNoCatalogue, and nothing is
// done, where what was confirmed is not there; redisdb.ErrUnavailable.
func (r *Runner) writeFinal(ctx context.Context, run *Run, note versionNote) (bool, error) {
	record, published, err := encodeFinished(run)
	if err != nil {
		return false, err
	}
	confirmed, ahead := "", ""
	if at := note.confirmedAt; !at.IsZero() {
		confirmed, ahead = at.Format(menu.TimeFormat), at.Add(cache.ClockSlack).Format(menu.TimeFormat)
	}
	id := run.Restaurant
	answer, err := finishScript.Run(ctx, r.redis,
		[]string{r.keys.Lease(id), r.keys.Fence(id), r.keys.Runs(id), r.keys.RunLog(id), r.keys.Current(id)},
		run.ID, record, r.retention(id), idTime(run.ID), r.noticeChannel(id), published,
		confirmed, string(note.outcome), ahead, folds(run)).Int()
	switch {
	case err != nil:
		return false, unavailable(ctx, "record run "+run.ID, err)
	case answer == 2:
		return false, fmt.Errorf("sync: record run %s: %w", run.ID, cache.ErrNoCatalogue)
	default:
		return answer == 1, nil
	}
}

// encodeFinished returns a finished run as it is kept and as it is published.
func encodeFinished(run *Run) (kept, published []byte, err error) {
	kept, err1 := encodeRecord(run)
	published, err2 := run.MarshalJSON()
	return kept, published, errors.Join(err1, err2)
}

// retention is how many records of finished runs are kept under an id.
func (r *Runner) retention(id menu.RestaurantID) int {
	if strings.HasSuffix(string(id), reasonsSuffix) {
		return reasonRuns
	}
	return r.cfg.Runs
}

// joinNames adds those who joined to those who asked, each once.
func joinNames(by []string, joined string) []string {
	for name := range strings.SplitSeq(joined, "\n") {
		if name != "" && !slices.Contains(by, name) {
			by = append(by, name)
		}
	}
	return by
}

// unavailable says what failed in Redis; an ended ctx is said as itself.
func unavailable(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("sync: %s: %w", what, context.Cause(ctx))
	}
	// A connection's deadline is ctx's own, and may be reported a moment earlier.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return fmt.Errorf("sync: %s: %w", what, context.DeadlineExceeded)
	}
	if errors.Is(err, redisdb.ErrUnavailable) {
		return fmt.Errorf("sync: %s: %w", what, err)
	}
	return fmt.Errorf("sync: %s: %w: %w", what, redisdb.ErrUnavailable, err)
}
