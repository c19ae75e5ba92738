package runlog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// An unfinished run is in the restaurant's hash, as JSON that scripts compare. A finished one is an entry of the
// restaurant's stream. The number of an entry is the time of the run's id, or follows the entry before it if that is
// later. So runs are found by their ids, in the order in which they finished. Scheduled runs that found nothing changed
// are folded into one record, which stays in the hash until another run finishes; see appendrun.lua.
const (
	recordField = "r"    // of an entry
	joinedField = "by"   // of an entry: the clients that joined
	foldField   = "fold" // of the hash
	// nearby is how many entries a list looks past an id's time. A run is that far behind if it waited
	// for as many other runs. A lookup of one run reads on to the end.
	nearby = 16
)

// positionPattern matches the position of an entry; "~" means right after it.
var positionPattern = regexp.MustCompile(`^([1-9]\d{0,18}-\d{1,19})(~?)$`)

// record is a run as read; the zero record means none. raw is the text that scripts
// compare; it is empty for a finished run.
type record struct {
	run      Run
	raw      string
	position string // in the list of its restaurant
}

// entry returns the record of a stream entry, without a run if it cannot be read.
func entry(message redis.XMessage, restaurant menu.RestaurantID) record {
	text, _ := message.Values[recordField].(string)
	joined, _ := message.Values[joinedField].(string)
	return record{run: decodeRecord(restaurant, text, joined), position: message.ID}
}

// unfinished returns the record of a run that has not ended, without a run if it cannot be read.
func unfinished(id, raw, joined string) record {
	var run Run
	if json.Unmarshal([]byte(raw), &run) != nil || run.ID != id {
		return record{}
	}
	run.By = joinNames(run.By, joined)
	return record{run: run, raw: raw, position: id}
}

// load reads records, without a run if it was deleted, was folded into a later one, or cannot be read. It reads the
// unfinished ones first, so that a run that finishes meanwhile is found among the finished ones.
func (l *Log) load(ctx context.Context, refs []runRef) ([]record, error) {
	hashes := make([]*redis.SliceCmd, len(refs))
	streams := make([]*redis.XMessageSliceCmd, len(refs))
	pipe := l.redis.Pipeline()
	for i, ref := range refs {
		hashes[i] = pipe.HMGet(ctx, l.keys.Runs(ref.restaurant), ref.id, ref.id+bySuffix, foldField)
		streams[i] = pipe.XRangeN(ctx, l.keys.RunLog(ref.restaurant), timeOf(ref.id), "+", nearby)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, redisdb.CallError(ctx, "runlog: read runs", err)
	}
	records := make([]record, len(refs))
	for i, ref := range refs {
		fields := hashes[i].Val()
		raw, open := fields[0].(string)
		joined, _ := fields[1].(string)
		fold, _ := fields[2].(string)
		if open {
			records[i] = unfinished(ref.id, raw, joined)
			continue
		}
		rec := record{run: decodeRecord(ref.restaurant, fold, "")}
		for _, message := range streams[i].Val() {
			if rec.run.ID == ref.id {
				break
			}
			rec = entry(message, ref.restaurant)
		}
		if rec.run.ID == ref.id {
			records[i] = rec
		}
	}
	return records, nil
}

// scan searches a restaurant's log to the end for one finished run, and for the fold that contains it.
func (l *Log) scan(ctx context.Context, ref runRef) (Run, error) {
	pipe := l.redis.TxPipeline()
	open := pipe.HGet(ctx, l.keys.Runs(ref.restaurant), foldField)
	ended := pipe.XRangeN(ctx, l.keys.RunLog(ref.restaurant), timeOf(ref.id), "+", int64(l.cfg.Runs))
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return Run{}, redisdb.CallError(ctx, "runlog: find a run", err)
	}
	folds := []Run{decodeRecord(ref.restaurant, open.Val(), "")}
	for _, message := range ended.Val() {
		run := entry(message, ref.restaurant).run
		if run.ID == ref.id {
			return run, nil
		}
		folds = append(folds, run)
	}
	for _, run := range folds {
		if run.Folded != nil && run.Folded.First <= ref.id && ref.id <= run.ID {
			return run, nil
		}
	}
	return Run{}, ErrUnknownRun
}

// timeOf returns the earliest position of a run's entry.
func timeOf(id string) string { return strconv.FormatInt(IDTime(id), 10) }

// page reads a restaurant's runs before a position, the newest first: unfinished
// runs by their ids, then the open fold, then the entries.
func (l *Log) page(ctx context.Context, restaurant menu.RestaurantID, before string, count int) ([]record, error) {
	newest := before == "" || isID(before)
	upTo := "+"
	switch at := positionPattern.FindStringSubmatch(before); {
	case newest:
	case at == nil:
		return nil, nil // not a position of larder
	case at[2] == "~":
		upTo = at[1]
	default:
		upTo = "(" + at[1]
	}
	pipe := l.redis.TxPipeline()
	open := pipe.HGetAll(ctx, l.keys.Runs(restaurant))
	ended := pipe.XRevRangeN(ctx, l.keys.RunLog(restaurant), upTo, "-", int64(count))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, redisdb.CallError(ctx, "runlog: list runs", err)
	}
	var records []record
	if newest {
		records = openRecords(open.Val(), before)
		if run := decodeRecord(restaurant, open.Val()[foldField], ""); run.ID != "" {
			last := "1-0" // before any
			if len(ended.Val()) > 0 {
				last = ended.Val()[0].ID
			}
			records = append(records, record{run: run, position: last + "~"})
		}
	}
	for _, message := range ended.Val() {
		records = append(records, entry(message, restaurant))
	}
	return records[:min(len(records), count)], nil
}

// openRecords returns the unfinished runs before the given one, the newest first.
func openRecords(fields map[string]string, before string) []record {
	var records []record
	for id, raw := range fields {
		if !isID(id) || before != "" && id >= before {
			continue
		}
		if rec := unfinished(id, raw, fields[id+bySuffix]); rec.run.ID != "" {
			records = append(records, rec)
		}
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(b.run.ID, a.run.ID) })
	return records
}

// joinNames adds the clients that joined, each once.
func joinNames(by []string, joined string) []string {
	for name := range strings.SplitSeq(joined, "\n") {
		if name != "" && !slices.Contains(by, name) {
			by = append(by, name)
		}
	}
	return by
}
