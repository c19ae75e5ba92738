package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/internal/upstream"
)

// shape is the body of a response with its properties.
type shape struct {
	body string
	json bool // well-formed
	// orderID: it contains an order's id. errorShape: it has the interface's error shape (code and msg), or its
	// result has. failed: success is false. pos: its code is ERR_EXTERNAL_ERROR_WS. late: its message speaks of time.
	orderID, errorShape, failed, pos, late bool
}

func shapes() map[string]shape {
	return map[string]shape{
		"nothing":                         {},
		"an order":                        {body: `{"result":{"orderID":"765"}}`, json: true, orderID: true},
		"an order with a number":          {body: `{"Result":{"orderId":9007199254740993}}`, json: true, orderID: true},
		"an order without envelope":       {body: ` {"order_id":"7"} `, json: true, orderID: true},
		"an order and a code":             {body: `{"result":{"orderID":"7"},"code":"OK","msg":"fine"}`, json: true, orderID: true},
		"an order and an error":           {body: `{"result":{"orderID":"7"},"code":"c","msg":"the till is off"}`, json: true, orderID: true, errorShape: true},
		"an order and code 201":           {body: `{"result":{"orderID":"7"},"code":201,"msg":"created"}`, json: true, orderID: true},
		"an order with a very long id":    {body: `{"result":{"orderID":"` + strings.Repeat("7", 257) + `"}}`, json: true},
		"an order with the id 0":          {body: `{"result":{"orderID":0}}`, json: true},
		"an order with the id \"0\"":      {body: `{"result":{"orderID":"0"}}`, json: true},
		"an order with the id ..":         {body: `{"result":{"orderID":".."}}`, json: true},
		"an order with an empty GUID":     {body: `{"result":{"orderID":"00000000-0000-0000-0000-000000000000"}}`, json: true},
		"an order without id":             {body: `{"result":{"orderID":null}}`, json: true},
		"an order with an empty id":       {body: `{"result":{"orderID":""}}`, json: true},
		"a failed order":                  {body: `{"success":false,"result":{"orderID":"7"}}`, json: true, orderID: true, failed: true},
		"an empty result":                 {body: `{"result":{}}`, json: true},
		"a null result":                   {body: `{"result":null}`, json: true},
		"an empty object":                 {body: `{}`, json: true},
		"an array":                        {body: `[]`, json: true},
		"null":                            {body: `null`, json: true},
		"the error shape":                 {body: `{"code":"pos_close_order","msg":"no","requestId":"r","errors":null}`, json: true, errorShape: true},
		"the error shape, null result":    {body: `{"result":null,"code":"c","msg":"no"}`, json: true, errorShape: true},
		"the error shape, code as number": {body: `{"CODE":500,"Msg":"no"}`, json: true, errorShape: true},
		"the error shape in the result":   {body: `{"result":{"code":"c","msg":"no"}}`, json: true, errorShape: true},
		"the error shape beside a result": {body: `{"result":{},"code":"c","msg":"no"}`, json: true, errorShape: true},
		"code 0":                          {body: `{"result":{},"code":0,"msg":"fine"}`, json: true},
		"no success":                      {body: `{"result":{"success":false}}`, json: true, failed: true},
		"no success, as a text":           {body: `{"success":"False","result":{}}`, json: true, failed: true},
		"no success, as a number":         {body: `{"success":0,"success":true,"result":{}}`, json: true, failed: true},
		"code 0.0 and OK with a space":    {body: `{"code":0.0,"msg":"fine","result":{"code":"OK ","msg":"fine"}}`, json: true},
		"an order with the id 0e0":        {body: `{"result":{"orderID":0e0}}`, json: true},
		"no success, with code 0":         {body: `{"success":false,"code":0,"msg":"fine"}`, json: true, failed: true},
		"code Ok with spaces":             {body: `{"code":" Ok ","msg":"fine"}`, json: true},
		"code SUCCESS in the result":      {body: `{"result":{"code":"SUCCESS","msg":"fine"}}`, json: true},
		"success":                         {body: `{"success":true,"result":{}}`, json: true},
		"an error of the POS":             {body: `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"the cash desk is closed"}`, json: true, errorShape: true, pos: true},
		"an error of the POS, too late":   {body: `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"Creation TIMEOUT expired"}`, json: true, errorShape: true, pos: true, late: true},
		"too late, in Russian":            {body: `{"code":"c","msg":"Превышено время ожидания"}`, json: true, errorShape: true, late: true},
		"only a code":                     {body: `{"code":"c"}`, json: true},
		"only a msg":                      {body: `{"msg":"m"}`, json: true},
		"an empty code":                   {body: `{"code":"","msg":"m"}`, json: true},
		"RFC 7807":                        {body: `{"type":"x","title":"no","status":400}`, json: true},
		"HTML":                            {body: `<html><title>502 Bad Gateway</title></html>`},
		"half of an order":                {body: `{"result":{"orderID":"765"`},
		"half of the error shape":         {body: `{"code":"c","msg":"m","errors":[`},
		"two values":                      {body: `{"result":{"orderID":"1"}}{}`},
	}
}

// expected is an independent implementation of policy O8b (and W13 for successes).
func expected(op upstream.Operation, status int, s shape, retryUnavailable bool) writeOutcome {
	switch {
	case status <= 299 && op == upstream.OpCreate:
		if s.orderID && !s.failed && !s.errorShape {
			return isDone
		}
		return isUnknown
	case status <= 299 && (s.errorShape || s.failed):
		return expected(op, 500, s, retryUnavailable)
	case status <= 299:
		if s.json || s.body == "" {
			return isDone
		}
		return isUnknown
	}
	switch status {
	case 301, 302, 307, 308:
		return isRefused
	case 401:
		return writeOutcome{tries: 2} // once more, with a new token
	case 425, 429:
		return notSent
	case 408:
		return isUnknown
	case 409:
		if op == upstream.OpCreate {
			return isUnknown
		}
		return isRefused
	case 500:
		if s.errorShape && !s.late && (op == upstream.OpComplete || op == upstream.OpReject || op == upstream.OpPay && s.pos) {
			return isRefused
		}
		return isUnknown
	case 503:
		if retryUnavailable {
			return notSent
		}
		return isUnknown
	}
	if status >= 400 && status <= 499 {
		return isRefused
	}
	return isUnknown
}

// TestCertaintyOfEveryStatus_O8b_W13 tests the outcome and the number of attempts of each call for
// every status and every shape of body.
func TestCertaintyOfEveryStatus_O8b_W13(t *testing.T) {
	t.Parallel()
	for _, retryUnavailable := range []bool{true, false} {
		for name, s := range shapes() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var tries atomic.Int64
				var status int
				answer := roundTrip(func(r *http.Request) (*http.Response, error) {
					tries.Add(1)
					return &http.Response{
						StatusCode:    status,
						Request:       r,
						ContentLength: int64(len(s.body)),
						Header:        http.Header{"Location": {"/elsewhere"}},
						Body:          io.NopCloser(strings.NewReader(s.body)),
					}, nil
				})
				token := roundTrip(func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(`{"access_token":"token"}`))}, nil
				})
				cfg := config("http://service.test")
				cfg.RetryUnavailable = retryUnavailable
				client := connect(t, cfg, upstream.WithTransports(token, answer))
				for status = 200; status <= 599; status++ {
					for op, call := range operations(t.Context(), client) {
						before := tries.Load()
						err := call()
						want := expected(op, status, s, retryUnavailable)
						if check(t, op, err, tries.Load()-before, want); t.Failed() {
							t.Fatalf("status %d with %s, 503 retried: %v", status, name, retryUnavailable)
						}
					}
				}
			})
		}
	}
}

// O8b: a redirect that keeps the method is a refusal, with any Location. After others, the call may have been executed.
func TestRedirects_O8b(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"", "/elsewhere", "http://elsewhere.test/", "%zz", "http://[::1"} {
		for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
			s := &service{handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			}}
			client := start(t, s)
			for op, call := range operations(t.Context(), client) {
				before := s.calls.Load()
				err := call()
				want := isUnknown
				if status == 301 || status == 302 || status >= 307 {
					want = isRefused
				}
				if check(t, op, err, s.calls.Load()-before, want); t.Failed() {
					t.Fatalf("status %d to %q", status, location)
				}
			}
		}
	}
}

// O8b: entries of connections[].refusal_codes make an error of the service a refusal, except with 502 and 504.
func TestRefusalCodes_O8b(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entry, body string
		want        writeOutcome
	}{
		"the code":                   {"STOPPED", `{"code":"STOPPED","msg":"dish a"}`, isRefused},
		"the code without a message": {"STOPPED", `{"code":"STOPPED"}`, isRefused},
		"the code and a part":        {"POS: is Stopped", `{"code":"POS","msg":"Dish a IS STOPPED"}`, isRefused},
		"the code and another part":  {"POS: is stopped", `{"code":"POS","msg":"no answer"}`, isUnknown},
		"a code with a colon":        {"POS:7", `{"code":"POS:7","msg":"no"}`, isRefused},
		"another code":               {"STOPPED", `{"code":"STOPPED2","msg":"x"}`, isUnknown},
		"the code in a text":         {"STOPPED", `STOPPED`, isUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for status, want := range map[int]writeOutcome{500: tc.want, 501: tc.want, 503: tc.want, 520: tc.want, 502: isUnknown, 504: isUnknown} {
				s := &service{handler: reply(status, tc.body)}
				client := startWith(t, s, func(cfg *upstream.Config) { cfg.RefusalCodes = []string{tc.entry} })
				_, err := client.CreateOrder(t.Context(), []byte(`{}`))
				check(t, upstream.OpCreate, err, s.calls.Load(), want)
			}
		})
	}
}

// O8b: with a word of connections[].timeout_words in the message, in any case, an error of the service refuses nothing.
func TestTimeoutWords_O8b(t *testing.T) {
	t.Parallel()
	s := &service{handler: reply(500, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"КАССА: НЕТ СВЯЗИ"}`)}
	for _, tc := range []struct {
		words []string
		want  writeOutcome
	}{{nil, isRefused}, {[]string{"слишком долго"}, isRefused}, {[]string{"слишком долго", "Нет связи"}, isUnknown}} {
		client := startWith(t, s, func(cfg *upstream.Config) { cfg.TimeoutWords = tc.words })
		for op, call := range operations(t.Context(), client) {
			before, want := s.calls.Load(), tc.want
			if op == upstream.OpCreate {
				want = isUnknown
			}
			err := call()
			if check(t, op, err, s.calls.Load()-before, want); t.Failed() {
				t.Fatalf("timeout_words %q", tc.words)
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
