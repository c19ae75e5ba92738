package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"go.opentelemetry.io/otel/trace"

	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The lines of orders are those that logrus writes for the same fields, whatever the line before had.
func TestOrderLinesAreThoseOfLogrus(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	for name, format := range map[string]logrus.Formatter{
		"text": &logrus.TextFormatter{DisableTimestamp: true, DisableColors: true},
		"json": &logrus.JSONFormatter{DisableTimestamp: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, want bytes.Buffer
			log, plain := logrus.New(), logrus.New()
			log.Out, log.Formatter, plain.Out, plain.Formatter = &got, format, &want, format
			hook := logtest.NewLocal(log)
			h := &Handlers{Log: log}
			var fields []logrus.Fields
			for i, line := range orderLines() {
				c := requestContext(t.Context(), line.traced)
				h.logOrder(c, line.call, line.outcome, line.result, line.err)
				line.want["requestId"], line.want["client"] = respond.RequestID(c), ""
				plain.WithFields(line.want).Log(line.level, line.message)
				if got.String() != want.String() {
					t.Fatalf("line %d:\n%swant\n%s", i, &got, &want)
				}
				got.Reset()
				want.Reset()
				fields = append(fields, line.want)
			}
			for i, entry := range hook.AllEntries() { // a later line does not change them
				if diff := cmp.Diff(fields[i], entry.Data); diff != "" {
					t.Errorf("hook, line %d: %s", i, diff)
				}
			}
		})
	}
}

// orderLine is the arguments of logOrder and the line that they give.
type orderLine struct {
	traced  bool
	call    respond.OrderCall
	outcome string
	result  ordering.Result
	err     error

	level   logrus.Level
	message string
	want    logrus.Fields
}

func orderLines() []orderLine {
	create := respond.OrderCall{Operation: upstream.OpCreate, Connection: "main", Restaurant: "bistro"}
	placed := func(ref, id string, restaurant menu.RestaurantID, version int64) ordering.Result {
		return ordering.Result{
			Record: ordering.Record{Ref: ref, OrderID: id, Restaurant: restaurant, MenuVersion: version},
			Call:   ordering.Call{Operation: upstream.OpCreate, Outcome: ordering.OutcomeDone},
		}
	}
	replayed, lost := placed("R2", "100\"2", "grill", 70_000), placed("R4", "", "bistro", 70_000)
	replayed.Replayed = true
	lost.Call.Outcome, lost.Call.Attempts = ordering.OutcomeUnknown, make([]ordering.Attempt, 2)
	lost.Call.Answer = &ordering.Answer{Status: 502, Code: "down"}
	fields := func(event, ref, id, restaurant string, replayed bool, more logrus.Fields) logrus.Fields {
		all := logrus.Fields{
			"event": event, "operation": "create", "connection": "main",
			"restaurant": restaurant, "orderID": id, "replayed": replayed, "ref": ref,
		}
		maps.Copy(all, more)
		return all
	}
	line := func(outcome string, result ordering.Result, level logrus.Level, message string, want logrus.Fields) orderLine {
		return orderLine{call: create, outcome: outcome, result: result, level: level, message: message, want: want}
	}
	const done, failed = "order call done", "order request failed before a call was made"
	first := line("placed", placed("R1", "1001", "bistro", 3), logrus.InfoLevel, done,
		fields("order.placed", "R1", "1001", "bistro", false, logrus.Fields{"menuVersion": int64(3)}))
	second := line("placed", replayed, logrus.InfoLevel, done,
		fields("order.placed", "R2", "100\"2", "grill", true, logrus.Fields{"menuVersion": int64(70_000)}))
	third := line("failed", ordering.Result{}, logrus.WarnLevel, failed,
		fields("order.failed", "", "", "bistro", false, logrus.Fields{"error": "broken"}))
	third.err = errors.New("broken")
	fourth := line("unknown", lost, logrus.WarnLevel, "order call not done, or its outcome is unknown",
		fields("order.unknown", "R4", "", "bistro", false, logrus.Fields{"menuVersion": int64(70_000), "tries": 2, "status": 502, "code": "down"}))
	fifth := line("placed", placed("R5", "1005", "bistro", 3), logrus.InfoLevel, done, fields("order.placed", "R5", "1005", "bistro", false,
		logrus.Fields{"menuVersion": int64(3), "trace_id": "01000000000000000000000000000000", "span_id": "0200000000000000"}))
	fifth.traced = true
	last := line("placed", placed("R6", "1006", "bistro", 3), logrus.InfoLevel, done,
		fields("order.placed", "R6", "1006", "bistro", false, logrus.Fields{"menuVersion": int64(3)}))
	return []orderLine{first, second, third, fourth, fifth, last}
}

// requestContext returns the context of a request, which may have a recorded trace.
func requestContext(ctx context.Context, traced bool) *gin.Context {
	if traced {
		ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
		}))
	}
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody)
	c.Writer.Header().Set(respond.HeaderRequestID, respond.RequestIDFrom(""))
	return c
}

// The body of a placed order has the bytes that json.Marshal writes, whatever its id contains.
func TestPlacedBodyIsThatOfEncodingJSON(t *testing.T) {
	t.Parallel()
	type view struct {
		Ref     string         `json:"ref"`
		OrderID string         `json:"orderID"`
		Total   respond.Number `json:"total"`
		At      *string        `json:"expectedAt"`
		State   ordering.State `json:"state"`
	}
	totals := []decimal.NullDecimal{{}, decimal.NewNullDecimal(decimal.RequireFromString("210.40")), decimal.NewNullDecimal(decimal.New(1, 30))}
	ids := []string{"", "1001", "a \"b\"\\", "<b>&amp;</b>", "заказ", "\u2028\u2029", "\xff\ufffd", "\x00\b\f\n\r\t\x1f\x7f", "🍲"}
	for n, id := range ids {
		for _, total := range totals {
			record := ordering.Record{Ref: "01K0000000000000000000000R", OrderID: id, Total: total, State: ordering.StateClosed}
			if n%2 == 0 {
				record.ExpectedAt = time.Date(2026, 5, 1, 15, 30, 0, 7_654_321, time.FixedZone("", 3*3600))
			}
			at := menu.TimeOrNull(record.ExpectedAt)
			want, err := json.Marshal(respond.Result{Result: view{record.Ref, id, respond.Number(total), at, ordering.StatePlaced}})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(placedView(record)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("order %q: got %s, %v, want %s", id, got, err, want)
			}
		}
	}
}
