package sync

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
)

const (
	// batchLife is how long a batch is kept, and with it the time in which it
	// can be done.
	batchLife = 24 * time.Hour
	// maxBatches bounds the batches that are open at one time.
	maxBatches = 8
	// maxFaults bounds the runs that a batch keeps because they went wrong.
	maxFaults = 1000
	// outcomeField begins the fields of a batch that count its outcomes.
	outcomeField = "outcome:"
)

// Batch is a resync of many restaurants that was asked for at once. Each of
// them has a run of its own (policy S8).
type Batch struct {
	ID         string          `json:"batch"`                                   // 26 characters, sorted by time
	Connection string          `json:"connection,omitempty" redis:"connection"` // whose restaurants; empty: all
	By         string          `json:"by" redis:"by"`                           // who asked for it; may be empty
	Force      bool            `json:"force" redis:"force"`
	Total      int             `json:"total" redis:"total"`
	Done       int             `json:"done" redis:"done"`     // of Total
	Failed     int             `json:"failed" redis:"failed"` // of Done: failed or quarantined
	Outcomes   map[Outcome]int `json:"outcomes"`
	StartedAt  time.Time       `json:"startedAt" redis:"startedAt"`
	FinishedAt time.Time       `json:"finishedAt" redis:"finishedAt"` // zero until all are done
	// Faults are the runs that failed or were quarantined, the first thousand.
	Faults []Run `json:"faults"`
}

// Finished reports whether every restaurant is done.
func (b Batch) Finished() bool { return b.Done >= b.Total }

// MarshalJSON returns the batch as the HTTP interface shows it.
func (b Batch) MarshalJSON() ([]byte, error) {
	type batch Batch
	return json.Marshal(struct {
		batch
		StartedAt  *string `json:"startedAt"`
		FinishedAt *string `json:"finishedAt"`
	}{batch(b), formatTime(b.StartedAt), formatTime(b.FinishedAt)})
}

var (
	// ErrUnknownBatch is a batch of which nothing is kept (any more).
	ErrUnknownBatch = errors.New("sync: no such batch")
	// ErrTooManyBatches says that as many are open as may be: wait for one.
	ErrTooManyBatches = fmt.Errorf("sync: %d batches are open, as many as there may be", maxBatches)
)

// BatchRequest asks for a resync of many restaurants.
type BatchRequest struct {
	Connection string // only its restaurants; empty: all
	By         string // who asks; may be empty
	Force      bool   // as of a Request
}

// StartBatch notes a resync of every restaurant, or of every one of a
// connection, and returns at once: a Scheduler starts the runs, this process's
// or, should it end, another's. Errors: ErrTooManyBatches,
// redisdb.ErrUnavailable.
func (r *Runner) StartBatch(ctx context.Context, req BatchRequest) (Batch, error) {
	now := r.clock().UTC()
	b := Batch{
		ID: r.ids.next(now), Connection: req.Connection, By: cleanName(req.By), Force: req.Force,
		Outcomes: map[Outcome]int{}, StartedAt: now, Faults: []Run{},
	}
	var restaurants []any
	for _, restaurant := range r.set.Load().restaurants {
		if req.Connection == "" || restaurant.Connection == req.Connection {
			restaurants = append(restaurants, string(restaurant.ID))
		}
	}
	if b.Total = len(restaurants); b.Total == 0 {
		b.FinishedAt = now
	}
	open, err := r.client.ZCard(ctx, r.keys.Batches()).Result()
	if err == nil && open >= maxBatches {
		return Batch{}, ErrTooManyBatches
	}
	if err == nil {
		err = r.writeBatch(ctx, b, restaurants)
	}
	if err != nil {
		return Batch{}, unavailable(ctx, "start a batch", err)
	}
	r.newBatch.Set()
	return b, nil
}

// writeBatch puts the batch into Redis: what a reader needs first, then the
// word that there is one. Each step may be done twice.
func (r *Runner) writeBatch(ctx context.Context, b Batch, restaurants []any) error {
	k := r.keys
	_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for part := range slices.Chunk(restaurants, maxPage) {
			pipe.SAdd(ctx, k.BatchPending(b.ID), part...)
		}
		pipe.PExpire(ctx, k.BatchPending(b.ID), batchLife)
		pipe.HSet(ctx, k.Batch(b.ID), b)
		pipe.PExpire(ctx, k.Batch(b.ID), batchLife)
		return nil
	})
	if err != nil || b.Finished() {
		return err
	}
	return r.client.ZAdd(ctx, k.Batches(), redis.Z{Score: float64(b.StartedAt.UnixMilli()), Member: b.ID}).Err()
}

// Batch gives a batch as it stands, on any replica. Errors: ErrUnknownBatch,
// redisdb.ErrUnavailable.
func (r *Runner) Batch(ctx context.Context, id string) (Batch, error) {
	if !isID(id) {
		return Batch{}, ErrUnknownBatch
	}
	var fields *redis.MapStringStringCmd
	var faults *redis.StringSliceCmd
	_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		fields = pipe.HGetAll(ctx, r.keys.Batch(id))
		faults = pipe.HVals(ctx, r.keys.BatchFaults(id))
		return nil
	})
	if err != nil {
		return Batch{}, unavailable(ctx, "read a batch", err)
	}
	if len(fields.Val()) == 0 {
		return Batch{}, ErrUnknownBatch
	}
	b := Batch{ID: id, Outcomes: map[Outcome]int{}, Faults: []Run{}}
	if err := fields.Scan(&b); err != nil {
		return Batch{}, fmt.Errorf("sync: batch %s: %w", id, err)
	}
	for name, count := range fields.Val() {
		if outcome, ok := strings.CutPrefix(name, outcomeField); ok {
			b.Outcomes[Outcome(outcome)], _ = strconv.Atoi(count)
		}
	}
	for _, raw := range faults.Val() {
		var run Run
		if err := json.Unmarshal([]byte(raw), &run); err != nil {
			return Batch{}, fmt.Errorf("sync: a run of batch %s: %w", id, err)
		}
		b.Faults = append(b.Faults, run)
	}
	slices.SortFunc(b.Faults, func(x, y Run) int { return strings.Compare(string(x.Restaurant), string(y.Restaurant)) })
	return b, nil
}
