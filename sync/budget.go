package sync

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/semaphore"

	"larder/cache"
	"larder/internal/upstream"
)

const (
	// bytesPerBodyByte is what a run takes at its peak for each byte of a menu view,
	// from the body to what is published: 5 to 8 were measured.
	bytesPerBodyByte = 8
	// firstBody is the size that a menu view is thought to have before the
	// first pull, spareBody what one may have grown by since the last.
	firstBody = 1 << 20
	spareBody = 64 << 10
	// growFactor is how much larger the share is, each time a view outgrows it.
	growFactor = 4
)

// budget bounds the memory that the runs of this process take at the same time
// for menu views and what is made of them (sync.memory). Who waits for a large
// share is not overtaken by those who want small ones.
type budget struct {
	places *semaphore.Weighted
	size   int64
}

func newBudget(size cache.ByteSize) *budget {
	return &budget{places: semaphore.NewWeighted(int64(size)), size: int64(size)}
}

// largest is the largest menu view that one run may hold.
func (b *budget) largest() int64 { return min(b.size/bytesPerBodyByte, upstream.MaxMenuBytes) }

// reservation is what one run holds of the budget.
type reservation struct {
	budget *budget
	body   int64 // size of the menu view that it is enough for
}

// reserve waits for a share for a menu view of so many bytes, or for the largest
// there may be. The error is ctx's cause.
func (b *budget) reserve(ctx context.Context, body int64) (*reservation, error) {
	body = min(body, b.largest())
	if !b.places.TryAcquire(body * bytesPerBodyByte) {
		if err := b.places.Acquire(ctx, body*bytesPerBodyByte); err != nil {
			return nil, &stepError{doing: "wait for memory", err: memoryLimitError{size: b.size, cause: context.Cause(ctx)}}
		}
	}
	return &reservation{budget: b, body: body}, nil
}

// memoryLimitError is a run that ended before its turn came.
type memoryLimitError struct {
	size  int64
	cause error
}

func (e memoryLimitError) Error() string {
	return "other runs hold all that sync.memory allows, " + cache.ByteSize(e.size).String()
}
func (e memoryLimitError) Unwrap() error { return e.cause }

// shrink gives back what a menu view of so many bytes does not need.
func (s *reservation) shrink(body int64) {
	if spare := s.body - body; spare > 0 {
		s.budget.places.Release(spare * bytesPerBodyByte)
		s.body = body
	}
}

// release gives everything back. It may be called again.
func (s *reservation) release() { s.shrink(0) }

// expectedSize is the size that the menu view probably has: that of the last one,
// and of a held one that is served in its place.
func (p *pipelineRun) expectedSize() int64 {
	size := int64(firstBody)
	if last := p.lastFetch.size(); last > 0 {
		size = last + last/8 + spareBody
	}
	return size + p.heldSize()
}

// heldSize is the size of the view that a hold serves beside the one that came.
func (p *pipelineRun) heldSize() int64 {
	if p.current.Held {
		return int64(p.current.Bytes)
	}
	return 0
}

// size returns how many bytes the body had; 0 where that is not known.
func (f lastFetch) size() int64 {
	text, _, _ := strings.Cut(f.BodyHash, "-")
	size, _ := strconv.ParseInt(text, 10, 64)
	return size
}

// fetchWithin asks for the menu view within a share of the budget. A view that is
// larger than its share is dropped and asked for again once there is a larger
// one: whoever waits holds nothing, so that all come to their turn. The caller
// releases the share.
func (p *pipelineRun) fetchWithin(ctx context.Context, seen upstream.Validator) (upstream.Menu, *reservation, error) {
	for size := p.expectedSize(); ; size *= growFactor {
		held, err := p.runner.budget.reserve(ctx, size)
		if err != nil {
			return upstream.Menu{}, nil, err
		}
		answer, err := p.target.source.MenuView(ctx, p.target.upstream, seen, held.body)
		if err == nil {
			if answer.NotModified {
				held.release()
			} else {
				held.shrink(int64(len(answer.Body)) + p.heldSize())
			}
			return answer, held, nil
		}
		held.release()
		tooLarge := errors.Is(err, upstream.ErrTooLarge)
		if tooLarge && size < p.runner.budget.largest() {
			continue
		}
		if tooLarge && held.budget.largest() < upstream.MaxMenuBytes {
			largest := cache.ByteSize(held.budget.largest())
			err = fmt.Errorf("%w: it has more than %s, an eighth of sync.memory", upstream.ErrTooLarge, largest)
		}
		return upstream.Menu{}, nil, fmt.Errorf("%w: %w", errService, &stepError{doing: "fetch " + p.subject(), err: err})
	}
}
