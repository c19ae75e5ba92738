// Package tracing records how a request passes through larder to the ordering service and back:
// OpenTelemetry spans, sent by OTLP over HTTP.
//
// Invariant: nothing waits for tracing. A finished span goes into a queue of limited length. Spans that
// do not fit, or cannot be sent, are dropped and counted. Without an endpoint no spans are created.
//
// Any package may call Start with its context. In a traced request Start starts a span, elsewhere it
// does nothing. No span contains a body, a key, a query, a client's address or an error's text, because
// they may hold guest data. Only cmd creates and closes a Tracing.
package tracing

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// name is the library name in spans.
const name = "larder"

const (
	// sendLimit limits the sending of one batch, with its retries.
	sendLimit = 10 * time.Second
	// closeLimit limits the sending of the last spans at the end.
	closeLimit = 2 * time.Second
	// maxText is the longest text of an attribute, in bytes.
	maxText = 200
)

// Tracing creates and sends spans. The methods of a nil *Tracing do nothing. It is safe for concurrent
// use. OpenTelemetry's batch processor sends in its own goroutine, which Close ends.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// New returns a Tracing for the configuration, nil without an endpoint. version is the build's. OpenTelemetry's
// standard environment variables, OTEL_EXPORTER_OTLP_…, provide everything else (headers, certificates,
// compression), but not the endpoint. The caller calls Close. Errors: *setting.Error, joined.
func New(cfg Config, version string, log logrus.FieldLogger) (*Tracing, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Endpoint == "" {
		return nil, nil //nolint:nilnil // nil is a Tracing that is off
	}
	sender, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(strings.TrimRight(cfg.Endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithTimeout(sendLimit),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled:         true,
			InitialInterval: 500 * time.Millisecond,
			MaxInterval:     2 * time.Second,
			MaxElapsedTime:  sendLimit,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	t := &Tracing{exporter: &exporter{SpanExporter: sender, log: log}}
	limits := sdk.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxText
	sampled := sdk.TraceIDRatioBased(cfg.Sample)
	t.provider = sdk.NewTracerProvider(
		sdk.WithSpanProcessor(processor{exporter: t.exporter, SpanProcessor: sdk.NewBatchSpanProcessor(t.exporter,
			sdk.WithMaxQueueSize(maxWaiting), sdk.WithMaxExportBatchSize(maxBatch),
			sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendLimit),
		)}),
		sdk.WithRawSpanLimits(limits),
		sdk.WithSampler(sdk.ParentBased(rootSampler{sampled}, sdk.WithRemoteParentSampled(sampled))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", name), attribute.String("service.version", version),
		)),
	)
	t.tracer = t.provider.Tracer(name)
	return t, nil
}

// Redis traces the commands of clients: their names, never their arguments. Call it before the first command.
func (t *Tracing) Redis(clients ...redis.UniversalClient) error {
	if t == nil {
		return nil
	}
	for _, client := range clients {
		err := redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(t.provider),
			redisotel.WithDBStatement(false), redisotel.WithCallerEnabled(false), redisotel.WithDialFilter(true))
		if err != nil {
			return fmt.Errorf("tracing: redis: %w", err)
		}
	}
	return nil
}

// Serve starts the span of an incoming request, as a child of its traceparent if
// there is one. The caller sets the name with Span.Name.
func (t *Tracing) Serve(ctx context.Context, header http.Header, method string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

// Root starts the trace of work without a request.
func (t *Tracing) Root(ctx context.Context, what string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, what, trace.WithNewRoot())
	return ctx, Span{span}
}

// Close sends the remaining spans, for two seconds at most, and closes the
// connections to the endpoint. Call it after the last span.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	err := t.provider.Shutdown(ctx)
	if ctx.Err() != nil { // the endpoint does not respond
		_ = t.exporter.Shutdown(ctx) // cancels the request; its error is ctx's
		return nil
	}
	if err != nil {
		return fmt.Errorf("tracing: close: %w", err)
	}
	return nil
}

// Spans returns how many spans were sent since the start, and how many were dropped because the queue was full
// or the endpoint did not accept them.
func (t *Tracing) Spans() (sent, dropped uint64) {
	if t == nil {
		return 0, 0
	}
	return t.exporter.sent.Load(), t.exporter.dropped.Load()
}

// rootSampler decides what may start a trace: a request or Root, but not a client's
// own request, such as the regular check of Redis.
type rootSampler struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (s rootSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Kind == trace.SpanKindClient {
		return sdk.SamplingResult{Decision: sdk.Drop}
	}
	return s.Sampler.ShouldSample(p)
}
