package runlog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// ErrUnknownRun means that there is no record of the run.
var ErrUnknownRun = errors.New("runlog: no such run")

const (
	// defaultPage and maxPage limit one page of runs.
	defaultPage = 50
	maxPage     = 500
	// maxScan limits the records that are read for one page with a filter.
	maxScan = 5000
	// bySuffix marks the field with the clients that joined a run.
	bySuffix = ":by"
)

// Filter selects runs. A zero field selects all.
type Filter struct {
	Restaurant menu.RestaurantID
	Outcome    Outcome
	// Changed selects the latest Config.Index runs that published another content. From and To limit their request; To is
	// excluded. They require that Restaurant is empty.
	Changed  bool
	From, To time.Time
	Limit    int    // runs a page; 0 = 50, at most 500
	Cursor   string // next of the previous page
}

// List returns recorded runs, the newest first, and the cursor of the next page, which is empty after
// the last page. With a filter, a page may be short. Without a restaurant, the list covers the latest
// Config.Index runs of all. Errors: redisdb.ErrUnavailable.
func (l *Log) List(ctx context.Context, f Filter) (runs []Run, next string, err error) {
	limit := min(cmp.Or(max(f.Limit, 0), defaultPage), maxPage)
	cursor, last := f.Cursor, ""
	runs = []Run{}
	for scanned := 0; scanned < maxScan; {
		records, err := l.recordsBefore(ctx, f, cursor, limit+1)
		if err != nil {
			return nil, "", err
		}
		for _, rec := range records {
			if rec.run.ID == "" {
				continue // deleted, or folded into a later one
			}
			run := l.resolveOrphan(ctx, rec)
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

// recordsBefore reads the runs before a position, of one restaurant or of all. A
// record that cannot be read has only a position.
func (l *Log) recordsBefore(ctx context.Context, f Filter, before string, count int) ([]record, error) {
	if f.Restaurant != "" {
		return l.page(ctx, f.Restaurant, before, count)
	}
	index := l.keys.RunIndex()
	if f.Changed {
		index = l.keys.ChangeIndex()
	}
	bounds := redis.ZRangeBy{Min: "-", Max: "+", Count: int64(count)}
	if !f.From.IsZero() {
		bounds.Min = "[" + firstID(f.From)
	}
	if !f.To.IsZero() {
		bounds.Max = "(" + firstID(f.To)
	}
	if before != "" {
		bounds.Max = "(" + before
	}
	refs, err := l.refs(ctx, index, bounds)
	if err != nil {
		return nil, err
	}
	records, err := l.load(ctx, refs)
	for i := range records {
		records[i].position = refs[i].id
	}
	return records, err
}

// refs reads a part of an index, the newest run first.
func (l *Log) refs(ctx context.Context, index string, bounds redis.ZRangeBy) ([]runRef, error) {
	members, err := l.redis.ZRevRangeByLex(ctx, index, &bounds).Result()
	refs := make([]runRef, 0, len(members))
	for _, member := range members {
		if id, of, ok := strings.Cut(member, " "); ok && isID(id) {
			refs = append(refs, runRef{id: id, restaurant: menu.RestaurantID(of)})
		}
	}
	return refs, redisdb.CallError(ctx, "runlog: list runs", err)
}

// Requested returns when the last run of each restaurant was requested, from the latest 5,000 runs of all. Errors:
// redisdb.ErrUnavailable.
func (l *Log) Requested(ctx context.Context) (map[menu.RestaurantID]time.Time, error) {
	refs, err := l.refs(ctx, l.keys.RunIndex(), redis.ZRangeBy{Min: "-", Max: "+", Count: maxScan})
	times := make(map[menu.RestaurantID]time.Time, len(refs))
	for _, ref := range slices.Backward(refs) {
		times[ref.restaurant] = time.UnixMilli(IDTime(ref.id))
	}
	return times, err
}

// Last returns the last finished run of each restaurant, in their order, in one round trip. It is zero without one, and
// does not count scheduled runs since that found nothing changed. Errors: redisdb.ErrUnavailable.
func (l *Log) Last(ctx context.Context, restaurants []menu.RestaurantID) ([]Run, error) {
	runs, answers := make([]Run, len(restaurants)), make([]*redis.XMessageSliceCmd, len(restaurants))
	pipe := l.redis.Pipeline()
	for i, id := range restaurants {
		answers[i] = pipe.XRevRangeN(ctx, l.keys.RunLog(id), "+", "-", 1)
	}
	_, err := pipe.Exec(ctx)
	for i, id := range restaurants {
		for _, message := range answers[i].Val() {
			runs[i] = entry(message, id).run
		}
	}
	return runs, redisdb.CallError(ctx, "runlog: read the last runs", err)
}

// Find returns one run of any instance. A scheduled run that was folded returns the record of its fold,
// as long as it is among the latest Config.Index runs. Errors: ErrUnknownRun, redisdb.ErrUnavailable.
func (l *Log) Find(ctx context.Context, id string) (Run, error) {
	if !isID(id) {
		return Run{}, ErrUnknownRun
	}
	members, err := l.redis.ZRangeByLex(ctx, l.keys.RunIndex(),
		&redis.ZRangeBy{Min: "[" + id + " ", Max: "(" + id + "!", Count: 1}).Result() // "!" follows " "
	if err != nil {
		return Run{}, redisdb.CallError(ctx, "runlog: find a run", err)
	}
	if len(members) == 1 {
		return l.Get(ctx, menu.RestaurantID(members[0][len(id)+1:]), id)
	}
	// Older than the index: search all restaurants.
	for restaurants := range slices.Chunk(l.cfg.Restaurants(), maxPage) {
		refs := make([]runRef, len(restaurants))
		for i, restaurant := range restaurants {
			refs[i] = runRef{id: id, restaurant: restaurant}
		}
		records, err := l.load(ctx, refs)
		if err != nil {
			return Run{}, err
		}
		for _, rec := range records {
			if rec.run.ID != "" {
				return l.resolveOrphan(ctx, rec), nil
			}
		}
	}
	return Run{}, ErrUnknownRun
}

// Get returns one run of a restaurant. Errors: ErrUnknownRun, redisdb.ErrUnavailable.
func (l *Log) Get(ctx context.Context, restaurant menu.RestaurantID, id string) (Run, error) {
	if !isID(id) {
		return Run{}, ErrUnknownRun
	}
	ref := runRef{id: id, restaurant: restaurant}
	records, err := l.load(ctx, []runRef{ref})
	if err != nil {
		return Run{}, err
	}
	if records[0].run.ID != "" {
		return l.resolveOrphan(ctx, records[0]), nil
	}
	return l.scan(ctx, ref)
}

// Stored returns one run as recorded, even if its holder has vanished. It returns the zero Run if the
// record does not exist or has an old format. Errors: redisdb.ErrUnavailable.
func (l *Log) Stored(ctx context.Context, restaurant menu.RestaurantID, id string) (Run, error) {
	records, err := l.load(ctx, []runRef{{id: id, restaurant: restaurant}})
	if err != nil {
		return Run{}, err
	}
	return records[0].run, nil
}

// resolveOrphan returns a record's run. If the run's holder vanished, the first reader finishes it as failed.
func (l *Log) resolveOrphan(ctx context.Context, rec record) Run {
	if rec.run.Finished() {
		return rec.run
	}
	lost := rec.run
	lost.State, lost.Outcome, lost.Error, lost.FinishedAt = StateFinished, OutcomeFailed, HolderLost, l.cfg.Clock().UTC()
	id := lost.Restaurant
	ended, err := orphanScript.Run(ctx, l.redis,
		[]string{l.keys.Lease(id), l.keys.Fence(id), l.keys.Queue(id), l.keys.Runs(id), l.keys.RunLog(id)},
		append(l.Ending(&lost), rec.raw)...).Bool()
	if err != nil || !ended {
		return rec.run // its holder is alive, or Redis did not respond
	}
	l.cfg.Orphaned(lost)
	return lost
}

type runRef struct {
	id         string
	restaurant menu.RestaurantID
}

// AddToIndex adds a run to the index over all restaurants.
func (l *Log) AddToIndex(ctx context.Context, pipe redis.Pipeliner, run *Run) {
	l.addTo(ctx, pipe, l.keys.RunIndex(), run)
}

// AddChange adds a run to the index of those that published another content. Errors: redisdb.ErrUnavailable.
func (l *Log) AddChange(ctx context.Context, run *Run) error {
	pipe := l.redis.Pipeline()
	l.addTo(ctx, pipe, l.keys.ChangeIndex(), run)
	_, err := pipe.Exec(ctx)
	return redisdb.CallError(ctx, "runlog: add a change", err)
}

func (l *Log) addTo(ctx context.Context, pipe redis.Pipeliner, index string, run *Run) {
	pipe.ZAdd(ctx, index, redis.Z{Member: run.ID + " " + string(run.Restaurant)})
	pipe.ZRemRangeByRank(ctx, index, 0, int64(-l.cfg.Index-1))
}
