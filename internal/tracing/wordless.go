package tracing

import sdk "go.opentelemetry.io/otel/sdk/trace"

// wordless is a span without the texts of errors, which libraries put there:
// Redis repeats in them what it was sent. That it failed is kept.
type wordless struct{ sdk.ReadOnlySpan }

// Events implements sdk.ReadOnlySpan: larder's own spans have none.
func (wordless) Events() []sdk.Event { return nil }

// Status implements sdk.ReadOnlySpan.
func (w wordless) Status() sdk.Status { return sdk.Status{Code: w.ReadOnlySpan.Status().Code} }
