package sync

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	stdsync "sync"

	"golang.org/x/sync/semaphore"

	"larder.local/cache"
	"larder.local/internal/upstream"
)

const (
	// bytesPerBodyByte is a run's peak memory for each byte of a menu view. Measured: 5 to 8.
	bytesPerBodyByte = 8
	// bytesPerObject and bytesPerComma are the same for each object and each comma of a view whose elements are short. A
	// comma ends an element of a list, or a field.
	bytesPerObject, bytesPerComma = 320, 64
	// manyMemory is added for a view of more than manyObjects, so that few run together: their garbage takes memory too.
	manyObjects, manyMemory = 50_000, 48 << 20
	// firstBody is the assumed size of a menu view before the first fetch.
	// spareBody is the assumed growth since the last one.
	firstBody = 1 << 20
	spareBody = 64 << 10
	// largeRun is the memory of a run from which its garbage is collected earlier: at largeRunGC percent of the memory in use
	// (GOGC) while it runs, and at its end.
	largeRun, largeRunGC = 64 << 20, 40
	// growFactor enlarges a reservation that was too small for the view.
	growFactor = 4
)

// budget limits the memory that all runs of this process use for menu views and compiled menus (sync.memory).
// Waiting runs are served in order, so that small reservations do not delay a large one forever.
type budget struct {
	places *semaphore.Weighted
	size   int64

	mu    stdsync.Mutex
	large int // runs of at least largeRun
	gc    int // GOGC without them
}

// largest returns the size of the largest menu view that one run may fetch.
func (b *budget) largest() int64 { return min(b.size/bytesPerBodyByte, upstream.MaxMenuBytes) }

// reservation is the part of the budget that one run holds.
type reservation struct {
	budget *budget
	memory int64
}

// bodyMemory returns the memory that a run needs for a menu view of unknown content.
func bodyMemory(size int64) int64 { return size * bytesPerBodyByte }

// viewMemory returns the memory that a run needs for a menu view (policy W15a).
func (b *budget) viewMemory(body []byte) int64 {
	objects, commas := bytes.Count(body, []byte("{")), bytes.Count(body, []byte(","))
	memory := max(bodyMemory(int64(len(body))), int64(objects)*bytesPerObject+int64(commas)*bytesPerComma)
	if objects > manyObjects && memory < b.size {
		memory = min(memory+manyMemory, b.size)
	}
	return memory
}

// reserve waits for memory. The error is ctx's cause.
func (b *budget) reserve(ctx context.Context, memory int64) (*reservation, error) {
	memory = min(memory, b.size)
	if !b.places.TryAcquire(memory) {
		if err := b.places.Acquire(ctx, memory); err != nil {
			text := fmt.Sprintf("other runs use all of sync.memory (%s); raise it, or lower sync.concurrency", cache.ByteSize(b.size))
			return nil, &stepError{doing: "wait for memory", err: limitError{text, context.Cause(ctx)}}
		}
	}
	held := &reservation{budget: b}
	held.set(memory)
	return held, nil
}

// resize changes the reservation without waiting. It reports false, and changes nothing, if the memory is not free.
func (s *reservation) resize(memory int64) bool {
	if more := memory - s.memory; more > 0 && !s.budget.places.TryAcquire(more) {
		return false
	} else if more < 0 {
		s.budget.places.Release(-more)
	}
	s.set(memory)
	return true
}

// set notes how much memory is reserved. The first large run lowers GOGC, and the end of the last one sets it again.
func (s *reservation) set(memory int64) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.large
	if s.memory >= largeRun {
		b.large--
	}
	if memory >= largeRun {
		b.large++
	}
	s.memory = memory
	switch {
	case before == 0 && b.large > 0:
		if b.gc = debug.SetGCPercent(largeRunGC); 0 <= b.gc && b.gc < largeRunGC { // it was lower
			debug.SetGCPercent(b.gc)
		}
	case before > 0 && b.large == 0:
		debug.SetGCPercent(b.gc)
	}
}

// release releases all of it. It may be called again. After a large run, it first collects the garbage, because that would use
// the memory of the next run.
func (s *reservation) release() {
	if s.memory >= largeRun {
		runtime.GC()
	}
	s.resize(0)
}

// expectedSize estimates the size of the menu view from the last one. Under a hold it adds the view that is served.
func (st *state) expectedSize() int64 {
	size := int64(firstBody)
	if last := st.last.size(); last > 0 {
		size = last + last/8 + spareBody
	}
	return size + st.heldSize()
}

// heldSize returns the size of the view that a hold serves; 0 without a hold.
func (st *state) heldSize() int64 {
	if st.current.Held {
		return int64(st.current.Bytes)
	}
	return 0
}

// size returns the size of the body in bytes; 0 if it is unknown.
func (f lastFetch) size() int64 {
	text, _, _ := strings.Cut(f.BodyHash, "-")
	size, _ := strconv.ParseInt(text, 10, 64)
	return size
}

// fetchWithin fetches the menu view within a reservation, which grows to the announced size. A view that needs more memory
// than there is for it is dropped and fetched again with a larger reservation. It releases the old one first, so that waiting
// runs hold no memory and cannot block each other. The caller releases the reservation.
func (p *pipelineRun) fetchWithin(ctx context.Context, st state, seen upstream.Validator) (upstream.Menu, *reservation, error) {
	b, size, need := p.runner.budget, st.expectedSize(), int64(0)
	for first := true; ; first = false {
		held, err := b.reserve(ctx, max(bodyMemory(min(size, b.largest())), need))
		if err != nil {
			return upstream.Menu{}, nil, err
		}
		announced := int64(0)
		room := upstream.WithRoom(ctx, func(length int64) bool {
			announced = length + st.heldSize()
			return announced <= b.largest() && held.resize(max(held.memory, bodyMemory(announced)))
		})
		answer, err := readMenu(room, p, st, first, seen, min(held.memory/bytesPerBodyByte, b.largest()))
		if err == nil {
			own := b.viewMemory(answer.Body)
			need = min(max(need, own+bodyMemory(st.heldSize())), b.size)
			if own > b.size {
				err = fmt.Errorf("%w: it has too many elements for sync.memory; raise sync.memory", upstream.ErrTooLarge)
			} else if held.resize(need) {
				return answer, held, nil
			}
		}
		held.release()
		switch tooLarge := errors.Is(err, upstream.ErrTooLarge) && len(answer.Body) == 0; {
		case err == nil: // the memory was not free
			continue
		case tooLarge && size < b.largest() && announced <= b.largest():
			size = cmp.Or(announced, size*growFactor)
			continue
		case tooLarge && b.largest() < upstream.MaxMenuBytes:
			largest := cache.ByteSize(b.largest())
			err = fmt.Errorf("%w: the view is larger than %s, an eighth of sync.memory; raise sync.memory", upstream.ErrTooLarge, largest)
		}
		return upstream.Menu{}, nil, fmt.Errorf("%w: %w", errService, &stepError{doing: "fetch " + p.subject(), err: err})
	}
}
