package upstream_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/upstream"
)

const redactedText = "[redacted]"

// kept is the part of a response's body in an Error, a Created or an Answer.
type kept struct {
	ContentType, Body string
	Cut               bool
}

// answering returns a client of a service with one response to every order call.
func answering(t *testing.T, status int, contentType, body string) *upstream.Client {
	t.Helper()
	return start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}})
}

func TestSecretsAreRemovedFromErrorBodies_W14(t *testing.T) {
	t.Parallel()
	limit := upstream.MaxErrorBytes
	for name, tc := range map[string]struct {
		body, want string
		cut        bool
	}{
		"secret and token unchanged":                 {secret + " Bearer token-1!", "[redacted] Bearer [redacted]!", false},
		"secret in a form":                           {"x=s3cret%2B%2Fvalue&y", "x=[redacted]&y", false},
		"secret in a form, lower case":               {"x=s3cret%2b%2fvalue&y", "x=[redacted]&y", false},
		"secret in JSON, escaped":                    {`{"x":"s3cret\u002B\/value"}`, `{"x":"[redacted]"}`, false},
		"secret in HTML":                             {`<b>s3cret&#43;&#x2F;value</b>`, `<b>[redacted]</b>`, false},
		"a text similar to the secret":               {"s3cret value s3cret+-value", "s3cret value s3cret+-value", false},
		"3 KiB":                                      {strings.Repeat("п", 1536), strings.Repeat("п", 1536), false},
		"64 KiB":                                     {strings.Repeat("x", limit), strings.Repeat("x", limit), false},
		"one byte above the limit":                   {strings.Repeat("x", limit+1), strings.Repeat("x", limit), true},
		"above the limit, complete characters":       {"a" + strings.Repeat("п", limit), "a" + strings.Repeat("п", limit/2-1), true},
		"above the limit only because of the secret": {secret + strings.Repeat("x", limit-10), "[redacted]" + strings.Repeat("x", limit-10), false},
		"a secret across the limit":                  {strings.Repeat("x", limit-8) + secret, strings.Repeat("x", limit-8) + "[redacte", true},
		"above the limit of reading":                 {strings.Repeat("x", 2<<20), strings.Repeat("x", limit), true},
		"bytes that are not UTF-8":                   {"\xce\xf8\xe8\xe1\xea\xe0 " + secret, "\xce\xf8\xe8\xe1\xea\xe0 [redacted]", false},
		"bytes that do not start a character":        {strings.Repeat("\x80", limit+9), strings.Repeat("\x80", limit-4), true},
		"nothing":                                    {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := answering(t, http.StatusBadRequest, "text/html; charset=x", tc.body)
			want := kept{"text/html; charset=x", tc.want, tc.cut}
			for op, call := range operations(t.Context(), client) {
				e := asError(t, call())
				if diff := cmp.Diff(want, kept{e.ContentType, string(e.Body), e.Cut}); diff != "" {
					t.Errorf("%s: kept of %.40q… (-want +got):\n%s", op, tc.body, diff)
				}
			}
		})
	}
}

func TestSecretsAreRemovedFromSuccesses(t *testing.T) {
	t.Parallel()
	const contentType = "application/vnd.orders+json; charset=utf-8"
	long := strings.Repeat("ж", upstream.MaxErrorBytes)
	for name, tc := range map[string]struct {
		status     int
		body, want string
		cut        bool
	}{
		"the interface's":      {201, ` {"result": {"orderID": "765"} } `, ` {"result": {"orderID": "765"} } `, false},
		"with unknown fields":  {200, `{"result":{"orderID":7,"eta":1e1},"x":[null]}`, `{"result":{"orderID":7,"eta":1e1},"x":[null]}`, false},
		"3 KiB":                {200, `{"result":{"orderID":"7"},"x":"` + long[:3072] + `"}`, `{"result":{"orderID":"7"},"x":"` + long[:3072] + `"}`, false},
		"a token and a secret": {202, `{"orderID":"7","t":"token-1","s":"s3cret+\/value"}`, `{"orderID":"7","t":"[redacted]","s":"[redacted]"}`, false},
		"above the limit":      {200, `{"orderID":"7","x":"` + long + `"}`, `{"orderID":"7","x":"` + long[:upstream.MaxErrorBytes-20] + ``, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, ctx := answering(t, tc.status, contentType, tc.body), t.Context()
			want := upstream.Answer{
				Status:      tc.status,
				ContentType: contentType,
				Body:        []byte(tc.want),
				Cut:         tc.cut,
			}
			created, err := client.CreateOrder(ctx, []byte(`{}`))
			if created.OrderID == "" {
				t.Errorf("CreateOrder() = %+v, %v, want an orderID", created, err)
			}
			for op, call := range map[upstream.Operation]func() (upstream.Answer, error){
				upstream.OpCreate: func() (upstream.Answer, error) {
					return upstream.Answer{
						Status:      created.Status,
						ContentType: created.ContentType,
						Body:        created.Body,
						Cut:         created.Cut,
					}, err
				},
				upstream.OpPay:      func() (upstream.Answer, error) { return client.Pay(ctx, "7", []byte(`[]`)) },
				upstream.OpComplete: func() (upstream.Answer, error) { return client.Complete(ctx, "7") },
				upstream.OpReject:   func() (upstream.Answer, error) { return client.Reject(ctx, "7", []byte(`{}`)) },
			} {
				got, err := call()
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s = %v (-want +got):\n%s", op, err, diff)
				}
			}
		})
	}
}

func TestNoContentIsASuccessWithoutABody(t *testing.T) {
	t.Parallel()
	client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }})
	got, err := client.Complete(t.Context(), "7")
	if diff := cmp.Diff(upstream.Answer{Status: http.StatusNoContent}, got); err != nil || diff != "" {
		t.Errorf("Complete() = %v (-want +got):\n%s", err, diff)
	}
}

func TestIncompleteBodiesAreMarked(t *testing.T) {
	t.Parallel()
	client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "99")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"code":"x","msg":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}})
	_, err := client.CreateOrder(t.Context(), []byte("{}"))
	e := asError(t, err)
	want := kept{"application/json", `{"code":"x","msg":`, true}
	if diff := cmp.Diff(want, kept{e.ContentType, string(e.Body), e.Cut}); diff != "" || !e.Refused() {
		t.Errorf("a 422 with an incomplete body: refused %v (-want +got):\n%s", e.Refused(), diff)
	}
}

func TestALongContentTypeIsDropped(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{256: 256, 257: 0} {
		client := answering(t, http.StatusBadRequest, strings.Repeat("x", length), "no")
		_, err := client.CreateOrder(t.Context(), []byte("{}"))
		if got := len(asError(t, err).ContentType); got != want {
			t.Errorf("a content type of %d bytes: %d kept, want %d", length, got, want)
		}
	}
}

// A response of unknown length is read up to its limit, and not one byte further.
func TestAResponseAboveItsLimitIsRejected(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, encoding := range []string{"identity", "gzip"} {
		for size, tooLarge := range map[int]bool{limit: false, limit + 1: true} {
			client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				body := []byte(`{"result":[]}` + strings.Repeat(" ", size-13))
				var out io.Writer = w
				if encoding == "gzip" {
					packed := gzip.NewWriter(w)
					defer func() { _ = packed.Close() }()
					out = packed
				}
				_ = http.NewResponseController(w).Flush() // so that there is no Content-Length
				_, _ = out.Write(body)
			}})
			if _, err := client.RejectionReasons(t.Context()); errors.Is(err, upstream.ErrTooLarge) != tooLarge || (err != nil) != tooLarge {
				t.Errorf("%d bytes, %s: %v, want too large: %v", size, encoding, err, tooLarge)
			}
		}
	}
}

// The size of log texts is limited, whatever the service sends (policy W14).
func TestErrorTextsAreLimited_W14(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("п", 50_000)
	client := answering(t, http.StatusConflict, "application/json", `{"code":"`+long+`","msg":"`+long+`","requestId":"`+long+`"}`)
	_, err := client.CreateOrder(t.Context(), []byte("{}"))
	e := asError(t, err)
	// The limit of the body is in the middle of a character.
	if len(e.Code) != 256 || len(e.Msg) != 2048 || len(e.RequestID) != 256 || len(e.Body) != upstream.MaxErrorBytes-1 || !e.Cut {
		t.Errorf("code %d, msg %d, request id %d, body %d bytes, cut %v; want 256, 2048, 256, 65535, true",
			len(e.Code), len(e.Msg), len(e.RequestID), len(e.Body), e.Cut)
	}
	if text := err.Error(); len(text) > 2048 || len(text) < 2040 || !utf8.ValidString(text) {
		t.Errorf("Error() has %d bytes, valid UTF-8 %v, want 2 KiB of whole characters", len(text), utf8.ValidString(text))
	}
}

func TestShortTokensAreNotRemoved(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"t": "the dish is stopped", "dis": "the dish is stopped", "dish": "the [redacted] is stopped",
	} {
		s := &service{handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "the dish is stopped")
		}}
		s.token = func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"access_token":"`+token+`","expires_in":60}`)
		}
		_, err := start(t, s).CreateOrder(t.Context(), []byte("{}"))
		if got := string(asError(t, err).Body); got != want {
			t.Errorf("token %q: kept body %q, want %q", token, got, want)
		}
	}
}

func TestSecretsAreRemovedFromErrorFields(t *testing.T) {
	t.Parallel()
	s := &service{handler: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"code":12,"msg":"bad token-1","requestID":"s3cret+\/value","errors":null}`)
	}}
	_, err := start(t, s).Pay(t.Context(), "1", []byte("[]"))
	e := asError(t, err)
	if e.Code != "12" || e.Msg != "bad [redacted]" || e.RequestID != redactedText {
		t.Errorf("error = %+v", e)
	}
	if want := "upstream: pay: status 500 Internal Server Error: 12: bad [redacted]"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err.Error(), want)
	}
}
