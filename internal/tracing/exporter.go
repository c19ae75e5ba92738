package tracing

import (
	"context"
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

// exporter sends spans without the texts of errors, and counts them. It
// reports an endpoint that fails in the log and not to its caller, which would
// print every failure.
type exporter struct {
	sdk.SpanExporter
	log           logrus.FieldLogger
	waiting       atomic.Int64
	sent, dropped atomic.Uint64
	failing       bool // of ExportSpans, which is never called concurrently
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	redacted := make([]sdk.ReadOnlySpan, len(spans))
	for i, span := range spans {
		redacted[i] = redactedSpan{span}
	}
	err := e.SpanExporter.ExportSpans(ctx, redacted)
	e.waiting.Add(-int64(len(spans)))
	if err != nil {
		e.dropped.Add(uint64(len(spans)))
		if !e.failing {
			e.log.WithError(err).WithField("event", "tracing.failed").Warn("spans cannot be sent and are dropped; see tracing.endpoint")
		}
	} else {
		e.sent.Add(uint64(len(spans)))
		if e.failing {
			e.log.WithField("event", "tracing.resumed").Info("spans are sent again")
		}
	}
	e.failing = err != nil
	return nil
}

// processor is the SDK's batch processor with a counted limit: the SDK drops
// spans from a full queue too, but does not say how many.
type processor struct {
	sdk.SpanProcessor
	exporter *exporter
}

// OnEnd implements sdk.SpanProcessor.
func (p processor) OnEnd(span sdk.ReadOnlySpan) {
	if p.exporter.waiting.Add(1) > maxWaiting {
		p.exporter.waiting.Add(-1)
		p.exporter.dropped.Add(1)
		return
	}
	p.SpanProcessor.OnEnd(span)
}

// redactedSpan is a span without the texts of errors, which libraries add: Redis
// repeats in them what it was sent. The status code stays.
type redactedSpan struct{ sdk.ReadOnlySpan }

// Events implements sdk.ReadOnlySpan: larder's own spans have none.
func (redactedSpan) Events() []sdk.Event { return nil }

// Status implements sdk.ReadOnlySpan.
func (s redactedSpan) Status() sdk.Status { return sdk.Status{Code: s.ReadOnlySpan.Status().Code} }
