package tracing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// maxWaiting is how many finished spans may wait; some megabytes.
	maxWaiting = 4096
	// maxBatch is how many spans are sent together. A full batch is sent immediately.
	maxBatch = 512
	// sendEvery is how long an incomplete batch waits.
	sendEvery = 2 * time.Second
)

// exporter sends spans without the texts of errors, and counts them. It logs when the endpoint starts
// to fail, and returns no error, because the caller would log each one.
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
			e.log.WithError(err).WithField("event", "tracing.failed").Warn("cannot send spans, they are dropped; check tracing.endpoint")
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

// processor is the SDK's batch processor with a counted limit. The SDK also drops
// spans from a full queue, but does not report the number.
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

// redactedSpan is a span without the texts of errors. Libraries add them, and Redis
// repeats the command in them. The status code stays.
type redactedSpan struct{ sdk.ReadOnlySpan }

// Events implements sdk.ReadOnlySpan. Larder's own spans have none.
func (redactedSpan) Events() []sdk.Event { return nil }

// Status implements sdk.ReadOnlySpan.
func (s redactedSpan) Status() sdk.Status { return sdk.Status{Code: s.ReadOnlySpan.Status().Code} }
