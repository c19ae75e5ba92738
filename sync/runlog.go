package sync

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// A run that waits or is at work has its record, JSON that scripts compare, in
// the restaurant's hash; once finished it stands, packed, in the restaurant's
// stream. The stream's entries are numbered by the time of the run's id, or
// right after the entry before where that is later: so runs are found by their
// ids, and stand in the order in which they ended.
const (
	packedField = "r"  // of an entry: the packed run
	joinedField = "by" // of an entry: those who joined
	// nearby is how many entries an id may stand behind its time, in lists: it
	// waited that many runs long. To look up one run reads on to the end.
	nearby = 16
)

// record is a run as it was read. raw is what a script compares, empty where
// the run is finished.
type record struct {
	run      Run
	raw      string
	position string // in the list of its restaurant
}

// entry gives the record of a stream's entry.
func entry(message redis.XMessage, restaurant menu.RestaurantID) (record, error) {
	packed, _ := message.Values[packedField].(string)
	run, err := unpack([]byte(packed), restaurant)
	if err != nil {
		return record{}, fmt.Errorf("sync: run %s of %s: %w", message.ID, restaurant, err)
	}
	if joined, ok := message.Values[joinedField].(string); ok {
		run.By = joinNames(run.By, joined)
	}
	return record{run: run, position: message.ID}, nil
}

// live gives the record of a run that is not finished; false where there is none.
func live(restaurant menu.RestaurantID, raw, joined any) (record, bool, error) {
	text, ok := raw.(string)
	if !ok {
		return record{}, false, nil
	}
	var run Run
	if err := json.Unmarshal([]byte(text), &run); err != nil {
		return record{}, false, fmt.Errorf("sync: record of a run of %s: %w", restaurant, err)
	}
	if names, ok := joined.(string); ok {
		run.By = joinNames(run.By, names)
	}
	return record{run: run, raw: text, position: run.ID}, true, nil
}

// load reads records, those that are at work first: a run that ends meanwhile
// is then found among the finished. Those that are gone are left out.
func (r *Runner) load(ctx context.Context, refs []runRef) ([]record, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	found := make([]*record, len(refs))
	answers := make([]*redis.SliceCmd, len(refs))
	_, err := r.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, ref := range refs {
			answers[i] = pipe.HMGet(ctx, r.keys.records(ref.restaurant), ref.id, ref.id+bySuffix)
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(ctx, "read runs", err)
	}
	for i, answer := range answers {
		rec, ok, err := live(refs[i].restaurant, answer.Val()[0], answer.Val()[1])
		if err != nil {
			return nil, err
		}
		if ok {
			found[i] = &rec
		}
	}
	if err := r.loadFinished(ctx, refs, found); err != nil {
		return nil, err
	}
	records := make([]record, 0, len(refs))
	for _, rec := range found {
		if rec != nil {
			records = append(records, *rec)
		}
	}
	return records, nil
}

// loadFinished looks for what is not found yet where finished runs with such
// ids stand.
func (r *Runner) loadFinished(ctx context.Context, refs []runRef, found []*record) error {
	answers := make([]*redis.XMessageSliceCmd, len(refs))
	_, err := r.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, ref := range refs {
			if found[i] == nil {
				answers[i] = pipe.XRangeN(ctx, r.keys.log(ref.restaurant), timeOf(ref.id), "+", nearby)
			}
		}
		return nil
	})
	if err != nil {
		return unavailable(ctx, "read runs", err)
	}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		if found[i], err = among(answer.Val(), refs[i]); err != nil {
			return err
		}
	}
	return nil
}

// seek looks for one finished run to the end of its restaurant's log.
func (r *Runner) seek(ctx context.Context, ref runRef) (*record, error) {
	from := timeOf(ref.id)
	for range r.cfg.Runs/maxPage + 2 {
		messages, err := r.redis.XRangeN(ctx, r.keys.log(ref.restaurant), from, "+", maxPage).Result()
		if err != nil {
			return nil, unavailable(ctx, "find a run", err)
		}
		rec, err := among(messages, ref)
		if rec != nil || err != nil || len(messages) < maxPage {
			return rec, err
		}
		from = messages[len(messages)-1].ID // seen again, which does no harm
	}
	return nil, nil //nolint:nilnil // there is none
}

// among gives the entry of a run; nil where it is not among them.
func among(messages []redis.XMessage, ref runRef) (*record, error) {
	for _, message := range messages {
		rec, err := entry(message, ref.restaurant)
		if err != nil {
			return nil, err
		}
		if rec.run.ID == ref.id {
			return &rec, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// timeOf is where the entry of a run may stand at the earliest.
func timeOf(id string) string { return strconv.FormatInt(idTime(id), 10) }

// page reads a restaurant's runs before a position: those that are not finished,
// by their ids, then the finished ones; the newest first.
func (r *Runner) page(ctx context.Context, restaurant menu.RestaurantID, before string, count int) ([]record, error) {
	var records []record
	upTo := "+"
	if before == "" || isID(before) {
		var err error
		if records, err = r.unfinished(ctx, restaurant, before); err != nil {
			return nil, err
		}
	} else {
		var ok bool
		if upTo, ok = preceding(before); !ok {
			return nil, nil // no position of ours
		}
	}
	if len(records) >= count {
		return records[:count], nil
	}
	messages, err := r.redis.XRevRangeN(ctx, r.keys.log(restaurant), upTo, "-", int64(count-len(records))).Result()
	if err != nil {
		return nil, unavailable(ctx, "list runs", err)
	}
	for _, message := range messages {
		rec, err := entry(message, restaurant)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	return records, nil
}

// unfinished reads the runs that wait or are at work, the newest first, from
// before the given one on.
func (r *Runner) unfinished(ctx context.Context, restaurant menu.RestaurantID, before string) ([]record, error) {
	fields, err := r.redis.HGetAll(ctx, r.keys.records(restaurant)).Result()
	if err != nil {
		return nil, unavailable(ctx, "list runs", err)
	}
	var records []record
	for id, raw := range fields {
		if !isID(id) || before != "" && id >= before {
			continue
		}
		rec, _, err := live(restaurant, raw, any(fields[id+bySuffix]))
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(b.run.ID, a.run.ID) })
	return records, nil
}

// preceding gives the number right before that of an entry; false for what is
// no number of an entry.
func preceding(position string) (string, bool) {
	ms, seq, ok := strings.Cut(position, "-")
	at, err := strconv.ParseUint(ms, 10, 64)
	within, err2 := strconv.ParseUint(seq, 10, 64)
	switch {
	case !ok || err != nil || err2 != nil || at == 0:
		return "", false
	case within > 0:
		return ms + "-" + strconv.FormatUint(within-1, 10), true
	default:
		return strconv.FormatUint(at-1, 10), true // all of that millisecond
	}
}
