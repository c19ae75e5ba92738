package tracing

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// maxWaiting is how many ended spans wait at most; some megabytes.
	maxWaiting = 4096
	// maxBatch is how many are sent together; as many that wait are sent at once.
	maxBatch = 512
	// sendEvery is how long fewer wait.
	sendEvery = 2 * time.Second
)

// queue holds the spans that have ended until they are sent. The processors of
// OpenTelemetry's own start a goroutine each when they are made; this one is
// run by its owner.
type queue struct {
	exporter sdk.SpanExporter
	log      logrus.FieldLogger
	many     chan struct{} // holds a token when a batch is full

	sent, dropped atomic.Uint64
	failing       bool // of run and flush, which are not called at the same time

	mu      sync.Mutex
	waiting []sdk.ReadOnlySpan
}

func newQueue(exporter sdk.SpanExporter, log logrus.FieldLogger) *queue {
	return &queue{exporter: exporter, log: log, many: make(chan struct{}, 1)}
}

// OnStart implements sdk.SpanProcessor.
func (*queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements sdk.SpanProcessor: it keeps the span, or drops it where too
// many wait.
func (q *queue) OnEnd(span sdk.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	q.mu.Lock()
	full, batch := len(q.waiting) >= maxWaiting, len(q.waiting)+1 >= maxBatch
	if !full {
		q.waiting = append(q.waiting, wordless{span})
	}
	q.mu.Unlock()
	if full {
		q.dropped.Add(1)
	}
	if batch {
		select {
		case q.many <- struct{}{}:
		default:
		}
	}
}

// Shutdown implements sdk.SpanProcessor; Tracing.Close has sent what was left.
func (*queue) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor.
func (q *queue) ForceFlush(ctx context.Context) error {
	q.flush(ctx)
	return ctx.Err()
}

// run sends until ctx ends.
func (q *queue) run(ctx context.Context) {
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-q.many:
		}
		q.flush(ctx)
	}
}

// flush sends what waits, as far as it waited when it began.
func (q *queue) flush(ctx context.Context) {
	q.mu.Lock()
	all := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for len(all) > 0 {
		batch := all[:min(maxBatch, len(all))]
		if err := q.send(ctx, batch); err != nil && ctx.Err() != nil {
			q.putBack(all) // larder stops: Close tries once more
			return
		}
		all = all[len(batch):]
	}
}

// putBack puts spans before those that have ended since.
func (q *queue) putBack(spans []sdk.ReadOnlySpan) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(slices.Clip(spans), q.waiting...)
}

// dropRest counts what could not be sent before the end.
func (q *queue) dropRest() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped.Add(uint64(len(q.waiting)))
	q.waiting = nil
}

// send sends one batch, and drops it where that fails before ctx ends. That it
// cannot is said once, and once that it can again.
func (q *queue) send(ctx context.Context, batch []sdk.ReadOnlySpan) error {
	limited, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	err := q.exporter.ExportSpans(limited, batch)
	switch {
	case err == nil:
		q.sent.Add(uint64(len(batch)))
	case ctx.Err() != nil:
		return err
	default:
		q.dropped.Add(uint64(len(batch)))
	}
	if failing := err != nil; failing != q.failing {
		q.failing = failing
		if failing {
			q.log.WithError(err).WithField("event", "tracing.failed").Warn("spans cannot be sent and are dropped; see tracing.endpoint")
		} else {
			q.log.WithField("event", "tracing.resumed").Info("spans are sent again")
		}
	}
	return err
}
