package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
)

// traceCall ends the span of a call with its outcome.
func traceCall(span tracing.Span, record *Record, e *CallResult) {
	span.Text("larder.connection", record.Connection)
	span.Text("larder.restaurant", string(record.Restaurant))
	span.Text("larder.ref", record.Ref)
	span.Text("larder.outcome", string(e.Outcome))
	span.Number("larder.tries", len(e.Attempts))
	if e.Outcome != OutcomeDone {
		span.Fail(string(e.Outcome))
	}
	span.End()
}

// classify sets the outcome of a call that failed (policy O8). An outcome that is not certain is
// unknown. It returns the wait that the service requested.
func classify(e *CallResult, err error) (wait time.Duration) {
	e.Outcome = OutcomeUnknown
	answer, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return 0
	}
	e.Outcome = outcomeOf(answer.Effect)
	if answer.Status != 0 {
		e.Answer = &Answer{
			Status:      answer.Status,
			ContentType: answer.ContentType,
			Code:        answer.Code,
			Msg:         answer.Msg,
			RequestID:   answer.RequestID,
			RetryAfter:  answer.RetryAfter,
			Body:        answer.Body,
			Cut:         answer.Cut,
		}
	}
	return answer.RetryAfter
}

// doubt makes the refusal of a second copy unknown: the service may refuse it because the first copy took effect (policy O8b).
func (e *CallResult) doubt() {
	e.Outcome = OutcomeUnknown
	for i := range e.Attempts {
		if e.Attempts[i].Outcome == OutcomeRefused {
			e.Attempts[i].Outcome = OutcomeUnknown
		}
	}
}

// outcomeOf returns the outcome of a call or of an attempt.
func outcomeOf(effect upstream.Effect) Outcome {
	switch effect {
	case upstream.EffectNone:
		return OutcomeNotSent
	case upstream.EffectRefused:
		return OutcomeRefused
	case upstream.EffectDone:
		return OutcomeDone
	default:
		return OutcomeUnknown
	}
}

// logCall logs why a call was not sent, or why its outcome is unknown. The client's answer does not contain the reason.
func (o *Orders) logCall(ctx context.Context, b begunCall, outcome Outcome, err error) {
	operation := b.call().Operation
	if outcome == OutcomeRefused {
		return
	}
	cause := err
	entry := o.log.WithFields(fields("order.call_failed", &b.record, operation, outcome)).WithFields(tracing.LogFields(ctx))
	if answer, ok := errors.AsType[*upstream.Error](err); ok {
		cause = answer.Err
		code := upstream.LogCode(answer.Code)
		entry = entry.WithFields(logrus.Fields{"status": answer.Status, "code": code})
		code = upstream.RefusalCode(operation, answer.Status, code, answer.Msg)
		if outcome == OutcomeUnknown && code != "" && !b.record.ChangedAgain(b.call()) {
			// Not its message, which may have data of the guest; the record has it.
			entry = entry.WithField("hint",
				fmt.Sprintf("if this code always means that the service refused, add connections[].refusal_codes: [%q]", code))
		}
	}
	if cause != nil {
		entry = entry.WithError(cause)
	}
	if outcome == OutcomeNotSent {
		entry.Warn("a call could not be sent to the ordering service")
		return
	}
	entry.Warn("the outcome of a call to the ordering service is unknown")
}
