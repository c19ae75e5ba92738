package tracing

import (
	"context"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Flush sends the queued spans.
func (t *Tracing) Flush(ctx context.Context) error { return t.provider.ForceFlush(ctx) }

// SendTo replaces the sender of spans. Call it before the first span.
func (t *Tracing) SendTo(sender sdk.SpanExporter) { t.exporter.SpanExporter = sender }
