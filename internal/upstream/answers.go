package upstream

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"larder/internal/menu"
)

// maxDepth is how deep an answer may nest before it counts as no JSON.
const maxDepth = 64

// document is the part of an answer that larder reads, names in any spelling
// (policy W3).
type document struct {
	json      bool // the body is well-formed JSON
	result    []byte
	hasResult bool   // and it is not null
	orderID   string // of the result, else of the body itself
	code, msg string
	requestID string
}

// errorShaped tells whether the body is the interface's error shape: code and
// msg (docs/ordering-service.md, section 7).
func (d document) errorShaped() bool { return d.code != "" && d.msg != "" }

// readDocument reads an answer's body; what is no JSON gives the zero document.
func readDocument(body []byte) document {
	checked, err := menu.Check(body, maxDepth)
	if err != nil {
		return document{}
	}
	d := document{json: true}
	r := menu.NewReader(checked)
	if r.Kind() != menu.KindObject {
		return d
	}
	var bare string
	r.Fields(func(_, folded string) {
		switch folded {
		case "result":
			d.hasResult = r.Kind() != menu.KindNull
			d.result = r.Raw()
		case "orderid":
			bare, _ = r.ID()
		case "code":
			d.code, _ = r.ID()
		case "msg":
			d.msg, _ = r.Text()
		case "requestid":
			d.requestID, _ = r.ID()
		}
	})
	d.orderID = bare
	if d.hasResult {
		inner := menu.NewReader(d.result)
		inner.Fields(func(_, folded string) {
			if folded == "orderid" {
				d.orderID, _ = inner.ID()
			}
		})
	}
	return d
}

// readReasons reads {"result":[…]} or a bare array of reasons; null is none.
func readReasons(body []byte) ([]Reason, error) {
	checked, err := menu.Check(body, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	r := menu.NewReader(checked)
	if r.Kind() == menu.KindObject {
		var list []byte
		r.Fields(func(_, folded string) {
			if folded == "result" {
				list = r.Raw()
			}
		})
		if list == nil {
			return nil, fmt.Errorf("%w: rejection reasons without result", ErrAnswer)
		}
		r = menu.NewReader(list)
	}
	reasons := []Reason{}
	if r.Kind() == menu.KindNull {
		return reasons, nil
	}
	wrong := -1
	isArray := r.Array(func(i int) {
		var reason Reason
		isObject := r.Fields(func(_, folded string) {
			switch folded {
			case "id":
				reason.ID, _ = r.ID()
			case "reason":
				reason.Reason, _ = r.Text()
			case "type":
				reason.Type, _ = r.Text()
			case "ispossibledelete":
				reason.IsPossibleDelete, _ = r.Bool()
			}
		})
		if !isObject && wrong < 0 {
			wrong = i
		}
		reasons = append(reasons, reason)
	})
	switch {
	case !isArray:
		return nil, fmt.Errorf("%w: rejection reasons are no array", ErrAnswer)
	case wrong >= 0:
		return nil, fmt.Errorf("%w: rejection reason %d is no object", ErrAnswer, wrong)
	}
	return reasons, nil
}

// retryAfter reads the header: seconds or a date; 0 for none or nonsense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
