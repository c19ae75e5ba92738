package compat

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/violation"
)

// headerRef is the header with larder's reference of an order. The ordering service's responses
// have no field for it (policy O9).
const headerRef = "Larder-Order-Ref"

// writeCompat answers with the result of a call on the compatible API, or with err if no call
// was made. The ordering service's responses are passed through, refusals included
// (policy O15). A replay returns the same bytes (policy O7).
func (h *Handlers) writeCompat(c *gin.Context, result ordering.Result, err error) error {
	if err != nil {
		return respond.WithLanguage(c, err)
	}
	header := c.Writer.Header()
	header.Set(headerRef, result.Record.Ref)
	if result.Replayed {
		header[respond.HeaderReplayed] = []string{"true"}
	}
	status, body, contentType := upstreamResponse(result)
	switch {
	case status != 0:
		// The ordering service chooses type and body. In a browser, it must not run as a page of larder.
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	case result.Call.Outcome == ordering.OutcomeDone:
		contentType = respond.ContentJSON
		status, body = doneAnswer(result)
	default:
		return respond.OutcomeProblem(result)
	}
	header.Set("Cache-Control", "no-store")
	passThrough(c, status, contentType, body)
	return nil
}

// upstreamResponse returns the ordering service's response to a call. Status 0 means that there is nothing to pass
// through: a person resolved the outcome, the body was too long to keep, the response is a success that larder does not
// believe, an error of it answers a change that was sent again, or the call was not sent. An error whose outcome is
// unknown is passed through as it is (policy O8b). If the body of a refusal is lost, the result has its status, code and
// message in the format of the interface.
func upstreamResponse(result ordering.Result) (status int, body []byte, contentType string) {
	call := result.Call
	said := call.Answer
	doubtful := call.Outcome == ordering.OutcomeUnknown && said != nil && (said.Status < 400 || said.Status > 599)
	doubtful = doubtful || call.Outcome == ordering.OutcomeUnknown && result.Record.ChangedAgain(call)
	redirects := said != nil && said.Status >= 300 && said.Status < 400 // the target is not kept
	switch {
	case said == nil || doubtful || call.Outcome == ordering.OutcomeNotSent || call.Resolved != nil || redirects:
		return 0, nil, ""
	case !bodyLost(call):
		return said.Status, said.Body, said.ContentType
	case call.Outcome != ordering.OutcomeRefused:
		return 0, nil, ""
	}
	shape := compatError{
		Code: respond.Code(cmp.Or(said.Code, string(respond.CodeUpstreamRefused))), RequestID: cmp.Or(said.RequestID, call.RequestID),
		Msg: cmp.Or(said.Msg, "the ordering service refused "+respond.TextOf(call.Operation).It),
	}
	body, _ = json.Marshal(shape) // texts are always valid
	return said.Status, body, respond.ContentJSON
}

// bodyLost reports whether the body of the ordering service's response is missing: it was too long, or has
// expired (policy O13). The body of a create has the order's id, and a code comes only from a body.
func bodyLost(call ordering.Call) bool {
	said := call.Answer
	reported := said.Code != "" || call.Operation == upstream.OpCreate && call.Outcome == ordering.OutcomeDone
	return said.Cut || len(said.Body) == 0 && reported
}

// doneAnswer returns the response for a success without the ordering service's body
// (docs/ordering-service.md, section 4).
func doneAnswer(result ordering.Result) (status int, body []byte) {
	call := result.Call
	status, body = http.StatusOK, []byte(`{"result":{}}`)
	if call.Operation == upstream.OpCreate {
		text := jsontext.AppendString([]byte(`{"result":{"orderID":`), result.Record.OrderID)
		status, body = http.StatusCreated, append(text, '}', '}')
	}
	if call.Resolved == nil && call.Answer != nil && call.Answer.Status/100 == 2 {
		status = call.Answer.Status
	}
	return status, body
}

// passThrough writes a body with its original Content-Type, which may be empty.
func passThrough(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	if status == http.StatusNoContent {
		respond.Status(c, status)
		return
	}
	header["Content-Type"] = nil // also prevents that net/http guesses it
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // an error means that the client has disconnected
}

// maxMessages limits the violations in the msg of one error.
const maxMessages = 10

// compatError is the interface's error format (docs/ordering-service.md, section 7).
type compatError struct {
	Code      respond.Code          `json:"code"`
	Msg       string                `json:"msg"`
	RequestID string                `json:"requestId"`
	Errors    []violation.Violation `json:"errors"`
	More      bool                  `json:"more,omitempty"`
}

// Refuse answers with a problem. Clients of the ordering service often show only msg, so it
// includes the violations and the order's ref.
func (cfg Config) Refuse(c *gin.Context, p *respond.Problem) {
	status, _ := p.Code.Status()
	shape := compatError{
		Code:      p.Code,
		Msg:       p.Msg,
		RequestID: cmp.Or(p.RequestID, respond.RequestID(c)),
		Errors:    p.Entries(),
		More:      p.More,
	}
	if p.Code == respond.CodeValidationFailed {
		status = cfg.RefusalStatus
		shape.Msg = cmp.Or(joinMessages(p.Violations), p.Msg)
	}
	if p.Ref != "" {
		c.Header(headerRef, p.Ref)
		shape.Msg += " (ref " + p.Ref + ")"
	}
	if cfg.RefusalErrors == RefusalNone {
		shape.Errors, shape.More = nil, false
	}
	body, err := json.Marshal(shape)
	if err != nil {
		_ = c.Error(err)
		body = []byte(`{"code":"internal","msg":"","requestId":"","errors":null}`)
	}
	respond.Write(c, status, respond.ContentJSON, body)
}

// joinMessages joins the messages of the first violations.
func joinMessages(violations []violation.Violation) string {
	messages := make([]string, min(len(violations), maxMessages))
	for i := range messages {
		messages[i] = violations[i].Msg
	}
	if len(violations) > maxMessages {
		messages = append(messages, "…")
	}
	return strings.Join(messages, "; ")
}
