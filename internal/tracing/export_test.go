package tracing

import "context"

// Flush sends what waits.
func (t *Tracing) Flush(ctx context.Context) error { return t.provider.ForceFlush(ctx) }
