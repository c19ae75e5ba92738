package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

const (
	// batchTTL is the time until Redis deletes a batch, finished or not.
	batchTTL = 24 * time.Hour
	// maxBatches is the maximum number of unfinished batches.
	maxBatches = 8
	// maxFaults is the maximum number of failed and quarantined runs in a batch's record.
	maxFaults = 1000
	// progressEvery is the minimum time between two notices about the progress of a batch.
	progressEvery = 250 * time.Millisecond
	// outcomeField is the prefix of the fields that count outcomes.
	outcomeField = "outcome:"
)

// Batch is one request to sync many restaurants. Each restaurant has its own run (policy S8).
type Batch struct {
	ID         string          `json:"batch"`                                   // 26 characters; ids sort by time
	Connection string          `json:"connection,omitempty" redis:"connection"` // only its restaurants; empty: all
	By         string          `json:"by" redis:"by"`                           // the client's id; may be empty
	Force      bool            `json:"force" redis:"force"`
	Total      int             `json:"total" redis:"total"`
	Done       int             `json:"done" redis:"done"`     // of Total
	Failed     int             `json:"failed" redis:"failed"` // of Done: failed or quarantined
	Outcomes   map[Outcome]int `json:"outcomes"`
	StartedAt  time.Time       `json:"startedAt" redis:"startedAt"`
	FinishedAt time.Time       `json:"finishedAt" redis:"finishedAt"` // zero until all are done
	// Faults are the first maxFaults runs that failed or were quarantined.
	Faults []Run `json:"faults"`
}

// Finished reports whether every restaurant is done.
func (b Batch) Finished() bool { return b.Done >= b.Total }

// MarshalJSON returns the batch in the format of the HTTP API.
func (b Batch) MarshalJSON() ([]byte, error) {
	type batch Batch
	return json.Marshal(struct {
		batch
		StartedAt  *string `json:"startedAt"`
		FinishedAt *string `json:"finishedAt"`
	}{batch(b), menu.TimeOrNull(b.StartedAt), menu.TimeOrNull(b.FinishedAt)})
}

var (
	// ErrUnknownBatch means that the batch does not exist or has expired.
	ErrUnknownBatch = errors.New("runlog: no such batch")
	// ErrTooManyBatches means that maxBatches batches are not finished.
	ErrTooManyBatches = fmt.Errorf("runlog: too many unfinished batches (maximum %d): wait until one is finished", maxBatches)
)

// StartBatch saves a new batch for the restaurants. It takes By, Connection and Force from b and sets the
// other fields. Errors: ErrTooManyBatches, redisdb.ErrUnavailable.
func (l *Log) StartBatch(ctx context.Context, b Batch, restaurants []menu.RestaurantID) (Batch, error) {
	now := l.cfg.Clock().UTC()
	b.ID, b.Outcomes, b.StartedAt, b.Faults = l.ids.next(now), map[Outcome]int{}, now, []Run{}
	if b.Total = len(restaurants); b.Total == 0 {
		b.FinishedAt = now
	}
	open, err := l.client.ZCard(ctx, l.keys.Batches()).Result()
	if err == nil && open >= maxBatches {
		return Batch{}, ErrTooManyBatches
	}
	if err == nil {
		err = l.writeBatch(ctx, b, restaurants)
	}
	return b, redisdb.CallError(ctx, "runlog: start a batch", err)
}

// writeBatch writes the batch to Redis, and then adds it to the unfinished batches. So a reader who finds
// it there finds it complete. Each step can be repeated safely.
func (l *Log) writeBatch(ctx context.Context, b Batch, restaurants []menu.RestaurantID) error {
	pending, batch := l.keys.BatchPending(b.ID), l.keys.Batch(b.ID)
	pipe := l.client.Pipeline()
	for part := range slices.Chunk(restaurants, maxPage) {
		members := make([]any, len(part))
		for i, restaurant := range part {
			members[i] = string(restaurant)
		}
		pipe.SAdd(ctx, pending, members...)
	}
	pipe.PExpire(ctx, pending, batchTTL)
	pipe.HSet(ctx, batch, b)
	pipe.PExpire(ctx, batch, batchTTL)
	if _, err := pipe.Exec(ctx); err != nil || b.Finished() {
		return err
	}
	return l.client.ZAdd(ctx, l.keys.Batches(), redis.Z{Score: float64(b.StartedAt.UnixMilli()), Member: b.ID}).Err()
}

// Batch returns a batch that any instance has started. Errors: ErrUnknownBatch, redisdb.ErrUnavailable.
func (l *Log) Batch(ctx context.Context, id string) (Batch, error) {
	if !isID(id) {
		return Batch{}, ErrUnknownBatch
	}
	pipe := l.client.Pipeline()
	fields, faults := pipe.HGetAll(ctx, l.keys.Batch(id)), pipe.HVals(ctx, l.keys.BatchFaults(id))
	if _, err := pipe.Exec(ctx); err != nil {
		return Batch{}, redisdb.CallError(ctx, "runlog: read a batch", err)
	}
	if len(fields.Val()) == 0 {
		return Batch{}, ErrUnknownBatch
	}
	b := Batch{ID: id, Outcomes: map[Outcome]int{}, Faults: []Run{}}
	if err := fields.Scan(&b); err != nil {
		return Batch{}, fmt.Errorf("runlog: batch %s: %w", id, err)
	}
	for name, count := range fields.Val() {
		if outcome, ok := strings.CutPrefix(name, outcomeField); ok {
			b.Outcomes[Outcome(outcome)], _ = strconv.Atoi(count)
		}
	}
	for _, raw := range faults.Val() {
		var run Run
		if err := json.Unmarshal([]byte(raw), &run); err != nil {
			return Batch{}, fmt.Errorf("runlog: a run of batch %s: %w", id, err)
		}
		b.Faults = append(b.Faults, run)
	}
	slices.SortFunc(b.Faults, func(x, y Run) int { return strings.Compare(string(x.Restaurant), string(y.Restaurant)) })
	return b, nil
}

// OpenBatches returns the ids of the unfinished batches.
func (l *Log) OpenBatches(ctx context.Context) ([]string, error) {
	// There may be more than maxBatches, because instances start batches concurrently.
	return l.client.ZRange(ctx, l.keys.Batches(), 0, 2*maxBatches).Result()
}

// CloseBatch removes a batch from the unfinished batches. It reports whether this call removed it.
func (l *Log) CloseBatch(ctx context.Context, id string) (bool, error) {
	closed, err := l.client.ZRem(ctx, l.keys.Batches(), id).Result()
	return closed > 0, err
}

// Pending returns the restaurants of a batch that are not done. Errors: redisdb.ErrUnavailable.
func (l *Log) Pending(ctx context.Context, id string) ([]menu.RestaurantID, error) {
	members, err := l.client.SMembers(ctx, l.keys.BatchPending(id)).Result()
	pending := make([]menu.RestaurantID, len(members))
	for i, member := range members {
		pending[i] = menu.RestaurantID(member)
	}
	return pending, redisdb.CallError(ctx, "runlog: read a batch", err)
}

// IsPending reports whether a restaurant of a batch is not done. Errors: redisdb.ErrUnavailable.
func (l *Log) IsPending(ctx context.Context, id string, restaurant menu.RestaurantID) (bool, error) {
	pending, err := l.client.SIsMember(ctx, l.keys.BatchPending(id), string(restaurant)).Result()
	return pending, redisdb.CallError(ctx, "runlog: read a batch", err)
}

// CountDone counts the restaurant of a run as done, with the run's outcome. Errors: redisdb.ErrUnavailable.
func (l *Log) CountDone(ctx context.Context, b Batch, run Run) error {
	var record []byte
	if run.Outcome == OutcomeFailed || run.Outcome == OutcomeQuarantined {
		record = run.JSON()
	}
	k := l.keys
	err := batchDoneScript.Run(ctx, l.redis, []string{k.Batch(b.ID), k.BatchPending(b.ID), k.BatchFaults(b.ID)},
		string(run.Restaurant), string(run.Outcome), record, maxFaults, menu.FormatTime(l.cfg.Clock()),
		k.RunNotices(), NoticeProgress, b.ID, b.Connection, progressEvery.Milliseconds()).Err()
	return redisdb.CallError(ctx, "runlog: count a run of a batch", err)
}
