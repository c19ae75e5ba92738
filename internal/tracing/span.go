package tracing

import (
	"context"
	"net/http"
	"strings"

	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Span is a part of a trace. The zero Span does nothing.
type Span struct{ span trace.Span }

// Start starts a span in the trace of ctx. Without a recorded trace it returns ctx
// and a Span that does nothing. The caller ends the Span.
func Start(ctx context.Context, name ...string) (context.Context, Span) {
	return startKind(ctx, name, trace.SpanKindInternal)
}

// StartClient is Start for a request over the network.
func StartClient(ctx context.Context, name ...string) (context.Context, Span) {
	return startKind(ctx, name, trace.SpanKindClient)
}

func startKind(ctx context.Context, parts []string, kind trace.SpanKind) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(name).Start(ctx, strings.Join(parts, ""), trace.WithSpanKind(kind))
	return ctx, Span{span}
}

// Kept reports whether the Span is recorded.
func (s Span) Kept() bool { return s.span != nil && s.span.IsRecording() }

// Name sets the name of the Span.
func (s Span) Name(what string) {
	if s.Kept() {
		s.span.SetName(what)
	}
}

// Text sets an attribute. The value must contain no guest data and no secret.
func (s Span) Text(key, value string) {
	if s.Kept() {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number sets an attribute.
func (s Span) Number(key string, value int) {
	if s.Kept() {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// Fail marks the Span as failed. kind is one of a fixed list, not an error's text.
func (s Span) Fail(kind string) {
	if s.Kept() {
		s.span.SetAttributes(attribute.String("error.type", kind))
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the Span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// Inject writes the traceparent of ctx to the header of a request.
func Inject(ctx context.Context, header http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
}

// LogFields returns the trace ids of ctx for a log line; nil without a recorded trace.
func LogFields(ctx context.Context) logrus.Fields {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsSampled() {
		return nil
	}
	return logrus.Fields{"trace_id": of.TraceID().String(), "span_id": of.SpanID().String()}
}
