package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering"
)

const headerReplayed = "Idempotent-Replayed"

// answerOutcome answers with what became of a call that was begun, by this
// request or by an earlier one. Everything in the body is told from the
// record, so that a replay is equal byte for byte (policy O7).
func (s *Server) answerOutcome(c *gin.Context, result ordering.Result) {
	header := c.Writer.Header()
	if result.Replayed {
		header[headerReplayed] = []string{"true"}
	}
	if result.Call.Outcome != ordering.OutcomeDone {
		fail(c, outcomeProblem(result))
		return
	}
	header.Set("Cache-Control", "no-store")
	// Only the answer has a kept sheet: the order itself outlives its request.
	room := s.sheets.take()
	defer s.sheets.giveBack(room)
	if result.Call.Operation == upstream.OpCreate {
		room.answer = appendPlaced(room.answer[:0], result.Record)
		write(c, http.StatusCreated, contentJSON, room.answer)
		return
	}
	room.answer = appendChanged(room.answer[:0], result)
	write(c, http.StatusOK, contentJSON, room.answer)
}

// appendPlaced writes the 201 of a placed order. It says what was answered
// first, whatever became of the order since.
func appendPlaced(text []byte, record ordering.Record) []byte {
	text = jsontext.AppendString(append(text, `{"result":{"ref":`...), record.Ref)
	text = jsontext.AppendString(append(text, `,"orderID":`...), record.OrderID)
	text = jsontext.NumberOf(record.Total.Decimal).Append(append(text, `,"total":`...))
	text = jsontext.AppendString(append(text, `,"state":`...), string(ordering.StatePlaced))
	return append(text, '}', '}')
}

// appendChanged writes the 200 of a change: the order as it stood after it.
// Nothing follows a completion or a rejection, and a payment only pays.
func appendChanged(text []byte, result ordering.Result) []byte {
	record := result.Record
	state, paid := ordering.StatePlaced, true
	switch result.Call.Operation {
	case upstream.OpComplete:
		state, paid = ordering.StateClosed, record.Paid
	case upstream.OpReject:
		state, paid = ordering.StateRejected, record.Paid
	default: // a payment
	}
	text = jsontext.AppendString(append(text, `{"result":{"ref":`...), record.Ref)
	text = jsontext.AppendString(append(text, `,"orderID":`...), record.OrderID)
	text = jsontext.AppendString(append(text, `,"state":`...), string(state))
	text = strconv.AppendBool(append(text, `,"paid":`...), paid)
	return append(text, '}', '}')
}

// outcomeProblem is what became of a call that was not done.
func outcomeProblem(result ordering.Result) *problem {
	call, words := result.Call, wordsOf(result.Call.Operation)
	p := &problem{ref: result.Record.Ref, requestID: call.RequestID, instance: instanceOf(result)}
	switch call.Outcome {
	case ordering.OutcomeRefused:
		p.code, p.msg = CodeUpstreamRefused, "the ordering service refused "+words.it
		if call.Settled != nil {
			p.msg = words.it + " did not take effect: a person found that out, for the ordering service had not said"
			return p
		}
		if said := call.Answer; said != nil {
			p.upstream = upstreamSaid(said)
			if said.Msg != "" {
				p.msg += ": " + said.Msg
			}
		}
	case ordering.OutcomeNotSent:
		p.code, p.msg = CodeUpstreamUnavailable, words.it+" did not reach the ordering service; nothing was "+words.done+", try again"
		p.retryAfter = max(time.Second, result.RetryAfter)
	default:
		p.code = CodeOrderOutcomeUnknown
		p.msg = "the ordering service did not say whether it took " + words.it + "; do not send it again under another key before this is settled"
	}
	return p
}

// words are how an operation reads in a sentence.
type words struct{ it, done string }

func wordsOf(operation ordering.Operation) words {
	switch operation {
	case upstream.OpPay:
		return words{"the payment", "paid"}
	case upstream.OpComplete:
		return words{"the completion", "completed"}
	case upstream.OpReject:
		return words{"the rejection", "rejected"}
	default:
		return words{"the order", "placed"}
	}
}

// instanceOf is the path of the request that began the call.
func instanceOf(result ordering.Result) string {
	if result.Call.Operation == upstream.OpCreate {
		return "/v1/restaurants/" + url.PathEscape(string(result.Record.Restaurant)) + "/orders"
	}
	return "/v1/orders/" + url.PathEscape(result.Record.OrderID) + "/" + string(result.Call.Operation)
}

// upstreamSaid passes on what the ordering service said (policy O15).
func upstreamSaid(said *ordering.Answer) *upstreamAnswer {
	passed := &upstreamAnswer{Status: said.Status, Code: said.Code, Msg: said.Msg, RequestID: said.RequestID}
	if !said.Cut {
		passed.Errors = reasonsIn(said.Body)
	}
	return passed
}

// reasonsIn gives the errors member of the document's error shape, where the
// answer has one.
func reasonsIn(body []byte) json.RawMessage {
	var shape struct {
		Errors json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &shape) != nil || string(shape.Errors) == "null" {
		return nil
	}
	return shape.Errors
}
