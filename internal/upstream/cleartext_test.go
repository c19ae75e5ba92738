package upstream_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/upstream"
)

// net/http puts the name of one of its functions before some errors of an idle connection (policy H13).
func TestTransportErrorsHaveClearTexts_H13(t *testing.T) {
	t.Parallel()
	cause := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	for _, err := range []error{cause, fmt.Errorf("readLoopPeekFailLocked: %w", cause)} {
		got := upstream.ClearText(err)
		if got.Error() != "remote error: tls: certificate required" || !errors.Is(got, cause) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := upstream.ClearText(nil); err != nil {
		t.Error(err)
	}
	certificate := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	if got := upstream.ClearText(certificate); !errors.Is(got, certificate) || got.Error() != certificate.Error() {
		t.Errorf("%v: %v", certificate, got)
	}
}

// net/http quotes malformed parts of a response. A service that repeats the request there must not get it into the log.
func TestErrorsDoNotQuoteResponses(t *testing.T) {
	t.Parallel()
	const secret = "Jane Doe"
	for name, response := range map[string]string{
		"protocol":          "%s\r\n\r\n",
		"version":           "HTTP/%s 201 Created\r\n\r\n",
		"status code":       "HTTP/1.1 {%s}\r\n\r\n",
		"no colon":          "HTTP/1.1 201 Created\r\n%s\r\n\r\n",
		"name of a field":   "HTTP/1.1 201 Created\r\n{%s}: x\r\n\r\n",
		"first line":        "HTTP/1.1 201 Created\r\n %s\r\n\r\n",
		"length":            "HTTP/1.1 201 Created\r\nContent-Length: %s\r\n\r\n",
		"two lengths":       "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nContent-Length: %s\r\n\r\n",
		"transfer encoding": "HTTP/1.1 201 Created\r\nTransfer-Encoding: %s\r\n\r\n",
		"content encoding":  "HTTP/1.1 201 Created\r\nContent-Encoding: %s\r\nContent-Length: 2\r\n\r\n{}",
		"chunk":             "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
		"trailer":           "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n%s\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = fmt.Fprintf(conn, response, secret)
				_ = conn.Close()
			}})
			_, order := client.CreateOrder(t.Context(), []byte(`{}`))
			_, menu := client.MenuView(t.Context(), "bistro", upstream.Validator{}, 1<<20)
			for _, err := range []error{order, menu} {
				failed, ok := errors.AsType[*upstream.Error](err)
				if !ok || failed.Err == nil || strings.Contains(failed.Err.Error(), "Jane") || strings.HasSuffix(failed.Err.Error(), ":") {
					t.Errorf("got %v, want an error without the text of the response", err)
				}
			}
		})
	}
}

func TestLogCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"POS_STOP": "POS_STOP", "E-12.3 x": "E-12.3 x", `{"guest":"Jane"}`: "", "Grüße": "", strings.Repeat("x", 65): "", "a:b": "",
	} {
		if got := upstream.LogCode(code); got != want {
			t.Errorf("LogCode(%q) = %q, want %q", code, got, want)
		}
	}
}
