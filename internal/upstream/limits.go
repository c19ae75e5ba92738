package upstream

import (
	"context"
	"math"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// limits holds a connection's requests to its rate and concurrency. Reads
// leave one place free, so that an order never waits behind menus alone.
type limits struct {
	rate  *rate.Limiter // nil: no limit
	all   *semaphore.Weighted
	reads *semaphore.Weighted
}

func newLimits(cfg Config) *limits {
	l := &limits{
		all:   semaphore.NewWeighted(int64(cfg.Concurrency)),
		reads: semaphore.NewWeighted(int64(max(1, cfg.Concurrency-1))),
	}
	if cfg.Rate > 0 {
		burst := int(math.Ceil(min(cfg.Rate, math.MaxInt32)))
		l.rate = rate.NewLimiter(rate.Limit(cfg.Rate), burst)
	}
	return l
}

// read waits for a place for a read; the caller calls leave when it is done.
// The error is ctx's end, or a wait that would outlast it.
func (l *limits) read(ctx context.Context) (leave func(), err error) {
	if err := l.reads.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	leaveAll, err := l.write(ctx)
	if err != nil {
		l.reads.Release(1)
		return nil, err
	}
	return func() { leaveAll(); l.reads.Release(1) }, nil
}

// write waits for a place for a call that writes.
func (l *limits) write(ctx context.Context) (leave func(), err error) {
	if err := l.all.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if l.rate != nil {
		if err := l.rate.Wait(ctx); err != nil {
			l.all.Release(1)
			return nil, err
		}
	}
	return func() { l.all.Release(1) }, nil
}
