package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"larder/internal/upstream"
)

// shape is the body of a response with its properties.
type shape struct {
	body string
	json bool // well-formed
	// result: the body has a result that is not null. orderID: it contains an order's id.
	// errorShape: it has the interface's error shape (code and msg).
	result, orderID, errorShape bool
}

func shapes() map[string]shape {
	return map[string]shape{
		"nothing":                         {},
		"an order":                        {body: `{"result":{"orderID":"765"}}`, json: true, result: true, orderID: true},
		"an order with a number":          {body: `{"Result":{"orderId":9007199254740993}}`, json: true, result: true, orderID: true},
		"an order without envelope":       {body: ` {"order_id":"7"} `, json: true, orderID: true},
		"an order and a code":             {body: `{"result":{"orderID":"7"},"code":"OK","msg":"fine"}`, json: true, result: true, orderID: true, errorShape: true},
		"an order without id":             {body: `{"result":{"orderID":null}}`, json: true, result: true},
		"an order with an empty id":       {body: `{"result":{"orderID":""}}`, json: true, result: true},
		"an empty result":                 {body: `{"result":{}}`, json: true, result: true},
		"a null result":                   {body: `{"result":null}`, json: true},
		"an empty object":                 {body: `{}`, json: true},
		"an array":                        {body: `[]`, json: true},
		"null":                            {body: `null`, json: true},
		"the error shape":                 {body: `{"code":"pos_close_order","msg":"no","requestId":"r","errors":null}`, json: true, errorShape: true},
		"the error shape, null result":    {body: `{"result":null,"code":"c","msg":"no"}`, json: true, errorShape: true},
		"the error shape, code as number": {body: `{"CODE":500,"Msg":"no"}`, json: true, errorShape: true},
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

// expected is an independent implementation of policy O8 (and W13 for successes).
func expected(op upstream.Operation, status int, s shape, retryUnavailable bool) writeOutcome {
	switch {
	case status <= 299 && op == upstream.OpCreate:
		if s.orderID {
			return isDone
		}
		return isUnknown
	case status <= 299:
		if s.errorShape && !s.result {
			return isRefused
		}
		if s.json || s.body == "" {
			return isDone
		}
		return isUnknown
	case status == http.StatusUnauthorized:
		return writeOutcome{tries: 2} // once more, with a new token
	case status == http.StatusTooManyRequests,
		status == http.StatusServiceUnavailable && retryUnavailable:
		return notSent
	case status == http.StatusRequestTimeout:
		return isUnknown
	case status <= 499, s.errorShape:
		return isRefused
	default:
		return isUnknown
	}
}

// TestCertaintyOfEveryStatus tests the outcome and the number of attempts of each call for
// every status and every shape of body.
func TestCertaintyOfEveryStatus(t *testing.T) {
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
				cfg.RetryUnavailable = &retryUnavailable
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

// A redirect with any Location is a refusal.
func TestRedirectsAreRefusals(t *testing.T) {
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
				if check(t, op, err, s.calls.Load()-before, isRefused); t.Failed() {
					t.Fatalf("status %d to %q", status, location)
				}
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
