package sandbox

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// answer is a complete response that is not yet written, so that a fault can change it.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status < http.StatusBadRequest }

func (a answer) with(name, value string) answer {
	a.header.Set(name, value)
	return a
}

func (a answer) write(w http.ResponseWriter) {
	a.writeHead(w)
	// Errors are ignored: the client has disconnected.
	_, _ = w.Write(a.body)
}

func (a answer) writeHead(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.status != http.StatusNotModified && a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
}

// encode writes v as JSON without escaping HTML characters.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // all encoded values are plain: it cannot fail
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

const contentTypeJSON = "application/json; charset=utf-8"

func jsonAnswer(status int, body []byte) answer {
	return answer{status: status, header: http.Header{"Content-Type": {contentTypeJSON}}, body: body}
}

// result returns a success: {"result": v}.
func result(status int, v any) answer {
	return jsonAnswer(status, encode(map[string]any{"result": v}))
}

// envelope wraps raw in {"result": …}. A byte order mark stays at the start.
func envelope(raw []byte) []byte {
	view := bytes.TrimPrefix(raw, []byte(byteOrderMark))
	return slices.Concat(raw[:len(raw)-len(view)], []byte(`{"result":`), view, []byte("}"))
}

const byteOrderMark = "\xef\xbb\xbf"

// errorBody is an error of the interface (docs/ordering-service.md, section 7).
type errorBody struct {
	Code      string   `json:"code"`
	Msg       string   `json:"msg"`
	RequestID string   `json:"requestId"`
	Errors    []string `json:"errors"`
}

// refuse returns an error of the interface; reasons may be nil.
func (c *call) refuse(status int, code, msg string, reasons ...string) answer {
	return jsonAnswer(status, encode(errorBody{Code: code, Msg: msg, RequestID: c.requestID, Errors: reasons}))
}
