package compat_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
	"larder.local/ordering"
)

// Any bytes of the ordering service are passed through the compatible API unchanged. A replay on
// either API is the first response (policies O7, O15).
func TestReplaysOfAnyBytes_O15(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		media  string
		body   string
		whole  bool
	}{
		"a message that is no UTF-8": {422, "application/json", "{\"code\":\"c\xff\",\"msg\":\"caf\xe9 \xf0\x9f\",\"requestId\":\"r\xfe\",\"errors\":[\"\xe9\"]}", true},
		"half a surrogate":           {422, "application/json", `{"code":"c","msg":"\ud83d \u0000","requestId":"\udc00","errors":["\ud83d"]}`, true},
		"another charset":            {403, "text/html; charset=windows-1251", "<h1>\xcd\xe5\xf2</h1>", true},
		"a type that is no ASCII":    {400, "text/plain; name=\xe9", "no", false},
		"binary":                     {409, "application/octet-stream", "\x00\x01\xff\xfe\r\n\r\n", true},
		"created, another charset":   {201, "application/json", "{\"result\":{\"orderID\":\"NUMBER\",\"note\":\"caf\xe9\"}}", true},
		"markup in the message":      {422, "application/json", `{"code":"<b>","msg":"<script>&\u2028","requestId":"r","errors":[{"<a>":"&\u2028"}]}`, true},
		"as long as is kept":         {422, "application/json", `{"code":"c","msg":"m","requestId":"r","errors":["` + strings.Repeat("ж", (64<<10-52)/2) + `"]}`, false},
		"numbers":                    {422, "application/json", `{"code":"c","msg":"m","requestId":7,"errors":[1e400,1.50,9007199254740993]}`, true},
		"no such status":             {799, "application/json", `{"code":"c","msg":"m","requestId":"r","errors":null}`, false},
		"a status below all":         {99, "text/plain", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			base := apitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/connect/token" {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"access_token":"a-token-that-is-long-enough","expires_in":3600}`))
					return
				}
				answerRaw(w, test.status, test.media, strings.Replace(test.body, "NUMBER", strconv.FormatInt(calls.Add(1), 10), 1))
			}))
			w := apitest.New(t, func(p *apitest.Plan) {
				p.HTTP.Rate = httpapi.RateConfig{}
				p.Services = map[string]ordering.Service{"main": client(t, base, "demo", "demo-secret")}
			})
			shop := w.As(apitest.ClientShop)
			body := strings.Replace(apitest.Order(), "{", `{"restaurantID": "bistro", `, 1)
			for _, path := range []string{apitest.OrdersPath, apitest.CreatePath} {
				send := func() apitest.Reply { return w.Post(path, body, append(apitest.Key(path), shop...)...) }
				first := send()
				apitest.SameReplay(t, first, send())
				want := strings.Replace(test.body, "NUMBER", "2", 1)
				if path == apitest.CreatePath && test.whole && (string(first.Body) != want || first.Header.Get("Content-Type") != test.media || first.Status != test.status) {
					t.Errorf("passed on: %d %q %q, want %d %q %q", first.Status, first.Header.Get("Content-Type"), first.Body, test.status, test.media, want)
				}
			}
		})
	}
}

// answerRaw answers with bytes that net/http would not send.
func answerRaw(w http.ResponseWriter, status int, media, body string) {
	conn, wire, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = wire.WriteString(strings.Join([]string{
		"HTTP/1.1 " + threeDigits(status) + " x", "Content-Type: " + media, "Connection: close", "", body,
	}, "\r\n"))
	_ = wire.Flush()
}

func threeDigits(n int) string {
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}
