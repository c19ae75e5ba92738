package httpapi

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/ordering"
)

// keyDropIn is of gin.Context: there for every request on the drop-in face,
// matched by a route or not. Its value is the CompatConfig.
const keyDropIn = "larder.dropIn"

// maxSaid is how many violations are told in the msg of one refusal.
const maxSaid = 10

// dropInError is the interface's error shape (docs/ordering-service.md, section 7).
type dropInError struct {
	Code      Code                 `json:"code"`
	Msg       string               `json:"msg"`
	RequestID string               `json:"requestId"`
	Errors    []ordering.Violation `json:"errors"`
	More      bool                 `json:"more,omitempty"`
}

// dropInOf tells whether the request came to the drop-in face.
func dropInOf(c *gin.Context) (CompatConfig, bool) {
	value, _ := c.Get(keyDropIn)
	cfg, ok := value.(CompatConfig)
	return cfg, ok
}

// refuse answers with a problem.
func (cfg CompatConfig) refuse(c *gin.Context, p *problem) {
	if p.ref != "" {
		c.Header(headerRef, p.ref)
	}
	status, body, err := cfg.refusal(c, p)
	if err != nil {
		_ = c.Error(err)
		body = []byte(`{"code":"internal","msg":"","requestId":"","errors":null}`)
	}
	write(c, status, contentJSON, body)
}

// refusal is an error answer of the drop-in face. A client of the ordering
// service often shows msg and nothing else: it tells what is wrong, and the
// ref that the order has in the journal.
func (cfg CompatConfig) refusal(c *gin.Context, p *problem) (status int, body []byte, err error) {
	status, _ = p.code.status()
	shape := dropInError{Code: p.code, Msg: p.msg, RequestID: cmp.Or(p.requestID, idOf(c)), Errors: p.listed(), More: p.more}
	if p.code == CodeValidationFailed {
		status = cfg.RefusalStatus
		shape.Msg = cmp.Or(saidOf(p.violations), p.msg)
	}
	if p.ref != "" {
		shape.Msg += " (ref " + p.ref + ")"
	}
	if cfg.RefusalErrors == RefusalNone {
		shape.Errors, shape.More = nil, false
	}
	body, err = json.Marshal(shape)
	return status, body, err
}

// saidOf joins the sentences of the first violations.
func saidOf(violations []ordering.Violation) string {
	var said strings.Builder
	for i := range violations {
		if i == maxSaid {
			said.WriteString("; …")
			break
		}
		if i > 0 {
			said.WriteString("; ")
		}
		said.WriteString(violations[i].Msg)
	}
	return said.String()
}
