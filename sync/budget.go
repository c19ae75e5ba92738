package sync

import (
	"cmp"
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
	// bytesPerBodyByte is a run's peak memory for each byte of a menu view. Measured: 5 to 8.
	bytesPerBodyByte = 8
	// firstBody is the assumed size of a menu view before the first fetch.
	// spareBody is the assumed growth since the last one.
	firstBody = 1 << 20
	spareBody = 64 << 10
	// growFactor enlarges a reservation that was too small for the view.
	growFactor = 4
)

// budget limits the memory that all runs of this process use for menu views and compiled menus (sync.memory).
// Waiting runs are served in order, so that small reservations do not delay a large one forever.
type budget struct {
	places *semaphore.Weighted
	size   int64
}

// largest returns the size of the largest menu view that one run may fetch.
func (b *budget) largest() int64 { return min(b.size/bytesPerBodyByte, upstream.MaxMenuBytes) }

// reservation is the part of the budget that one run holds.
type reservation struct {
	budget *budget
	body   int64 // size of the menu view that it is for
}

// reserve waits for the memory that a menu view of body bytes needs. It limits body
// to the largest view. The error is ctx's cause.
func (b *budget) reserve(ctx context.Context, body int64) (*reservation, error) {
	body = min(body, b.largest())
	if !b.places.TryAcquire(body * bytesPerBodyByte) {
		if err := b.places.Acquire(ctx, body*bytesPerBodyByte); err != nil {
			return nil, &stepError{doing: "wait for memory", err: memoryLimitError{size: b.size, cause: context.Cause(ctx)}}
		}
	}
	return &reservation{budget: b, body: body}, nil
}

// memoryLimitError ends a run that got no memory before its context ended.
type memoryLimitError struct {
	size  int64
	cause error
}

func (e memoryLimitError) Error() string {
	return "other runs use all of sync.memory (" + cache.ByteSize(e.size).String() + "); raise it, or lower sync.concurrency"
}
func (e memoryLimitError) Unwrap() error { return e.cause }

// shrink releases the memory that a menu view of body bytes does not need.
func (s *reservation) shrink(body int64) {
	if spare := s.body - body; spare > 0 {
		s.budget.places.Release(spare * bytesPerBodyByte)
		s.body = body
	}
}

// grow enlarges the reservation for a menu view of body bytes, if other runs leave the memory. It does not wait, because
// runs that wait must hold none.
func (s *reservation) grow(body int64) bool {
	if body > s.budget.largest() || !s.budget.places.TryAcquire(max(0, body-s.body)*bytesPerBodyByte) {
		return false
	}
	s.body = max(s.body, body)
	return true
}

// release releases all of it. It may be called again.
func (s *reservation) release() { s.shrink(0) }

// expectedSize estimates the size of the menu view from the last one. Under a hold it adds the view that is served.
func (p *pipelineRun) expectedSize() int64 {
	size := int64(firstBody)
	if last := p.lastFetch.size(); last > 0 {
		size = last + last/8 + spareBody
	}
	return size + p.heldSize()
}

// heldSize returns the size of the view that a hold serves; 0 without a hold.
func (p *pipelineRun) heldSize() int64 {
	if p.current.Held {
		return int64(p.current.Bytes)
	}
	return 0
}

// size returns the size of the body in bytes; 0 if it is unknown.
func (f lastFetch) size() int64 {
	text, _, _ := strings.Cut(f.BodyHash, "-")
	size, _ := strconv.ParseInt(text, 10, 64)
	return size
}

// fetchWithin fetches the menu view within a reservation, which grows to the announced size. A view that is larger is
// dropped and fetched again with a larger reservation. It releases the old one first, so that waiting runs hold no memory
// and cannot block each other. The caller releases the reservation.
func (p *pipelineRun) fetchWithin(ctx context.Context, seen upstream.Validator) (upstream.Menu, *reservation, error) {
	for size := p.expectedSize(); ; {
		held, err := p.runner.budget.reserve(ctx, size)
		if err != nil {
			return upstream.Menu{}, nil, err
		}
		announced := int64(0)
		room := upstream.WithRoom(ctx, func(bytes int64) bool {
			announced = bytes + p.heldSize()
			return held.grow(announced)
		})
		answer, err := p.readMenu(room, seen, held.body)
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
		if largest := p.runner.budget.largest(); tooLarge && size < largest && announced <= largest {
			size = cmp.Or(announced, size*growFactor)
			continue
		}
		if tooLarge && held.budget.largest() < upstream.MaxMenuBytes {
			largest := cache.ByteSize(held.budget.largest())
			err = fmt.Errorf("%w: the view is larger than %s, an eighth of sync.memory; raise sync.memory", upstream.ErrTooLarge, largest)
		}
		return upstream.Menu{}, nil, fmt.Errorf("%w: %w", errService, &stepError{doing: "fetch " + p.subject(), err: err})
	}
}
