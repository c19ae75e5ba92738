// Package tracing lets one request be followed through larder to the ordering
// service and back: OpenTelemetry spans, sent by OTLP over HTTP.
//
// Its one invariant is that nothing waits for it: a span that ends is put into
// a queue of bounded length, and what does not fit, or cannot be sent, is
// dropped and counted. Without an endpoint nothing is made at all.
//
// Any package may call Start with the context that it was given. Below a request
// that is traced Start begins a span, elsewhere it does nothing. No span carries
// a body, a key, a query, a caller's address or an error's text: they may hold
// a guest's data. Only cmd opens and closes a Tracing.
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

// name is what spans name as their library.
const name = "larder"

const (
	// sendLimit bounds the sending of one batch, with its retries.
	sendLimit = 10 * time.Second
	// closeLimit bounds the sending of what is left at the end.
	closeLimit = 2 * time.Second
	// maxText is the longest text that an attribute keeps, in bytes.
	maxText = 200
)

// Tracing makes spans and sends them. A nil *Tracing is one that is off: its
// methods do nothing. It is safe for concurrent use. OpenTelemetry's batch
// processor sends in a goroutine of its own, which Close ends.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// New makes what the section asks for, nil without an endpoint. version is the
// build's. What the section does not say (headers, certificates, compression) is
// taken from OpenTelemetry's standard environment, OTEL_EXPORTER_OTLP_…; the
// endpoint is not. The caller calls Close. Errors: *setting.Error, joined.
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
			Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 2 * time.Second, MaxElapsedTime: sendLimit,
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

// Redis traces what a client sends: the names of commands, never their
// arguments. It is for the wiring, before anything is sent.
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

// Serve begins the span of a request that came in, below the one that its
// traceparent names where it has one. Its name is given at the end, by Served.
func (t *Tracing) Serve(ctx context.Context, header http.Header, method string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

// Root begins a trace of something that nobody asked for by a request.
func (t *Tracing) Root(ctx context.Context, what string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, what, trace.WithNewRoot())
	return ctx, Span{span}
}

// Close sends what is left, for two seconds at most, and closes the connections
// to the endpoint. It is for the end, when no more spans are made.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	err := t.provider.Shutdown(ctx)
	if ctx.Err() != nil { // the endpoint hangs
		_ = t.exporter.Shutdown(ctx) // interrupts what is being sent; its error is ctx's
		return nil
	}
	if err != nil {
		return fmt.Errorf("tracing: close: %w", err)
	}
	return nil
}

// Spans counts the spans that were kept since the start.
type Spans struct {
	Sent    uint64
	Dropped uint64 // too many waited, or the endpoint did not take them
}

// Spans returns what was counted.
func (t *Tracing) Spans() Spans {
	if t == nil {
		return Spans{}
	}
	return Spans{Sent: t.exporter.sent.Load(), Dropped: t.exporter.dropped.Load()}
}

// rootSampler decides what begins a trace: a request, or what Root names. What talks
// to others by itself (a check of Redis every few seconds) begins none.
type rootSampler struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (s rootSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Kind == trace.SpanKindClient {
		return sdk.SamplingResult{Decision: sdk.Drop}
	}
	return s.Sampler.ShouldSample(p)
}
