package tracing

import "context"

// Flush sends the queued spans.
func (t *Tracing) Flush(ctx context.Context) error { return t.provider.ForceFlush(ctx) }
