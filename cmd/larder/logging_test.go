package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
)

// net/http writes bytes without a request to the standard log. They may contain personal data, so they are not logged.
func TestBytesWithoutARequestAreNotLogged(t *testing.T) {
	t.Parallel()
	const personal = "Jane Doe, 1 Elm Street"
	s := newService(t)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(token, r)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", token.Body.Len(), token.Body, personal)
		_ = buffered.Flush()
		_, _ = buffered.ReadByte() // until larder closes the connection
	}))
	t.Cleanup(tokens.Close)
	p := startProcess(t, append(s.env(), "LARDER_CONNECTIONS_0_AUTH_URL="+tokens.URL), "serve")
	waitReady(t, p.url(t)) // it has menus, so it has used the token
	if log := p.log.String(); strings.Contains(log, personal) || strings.Contains(log, "Unsolicited") {
		t.Errorf("the log has bytes of the service:\n%s", log)
	}
}

// A line has the same content as that of logrus.JSONFormatter, whatever the fields contain.
func TestJSONLinesAreThoseOfLogrus(t *testing.T) {
	t.Parallel()
	type named string
	entry := logrus.NewEntry(logrus.New()).WithFields(logrus.Fields{
		"event": "order.placed", "quoted": "a \"b\"\n\u2028\x00<&>\xff", "error": errors.New("refused"), "named": named("x"),
		"count": 3, "large": int64(1) << 60, "ok": true, "ms": 1.25, "list": []string{"a"}, "nothing": nil,
	})
	entry.Level, entry.Message, entry.Time = logrus.WarnLevel, "it is \"late\"", time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	line, err := jsonLines{}.Format(entry)
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&logrus.JSONFormatter{TimestampFormat: "2006-01-02T15:04:05.000Z07:00"}).Format(entry)
	if err != nil {
		t.Fatal(err)
	}
	decoded := func(text []byte) (fields map[string]any) {
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return fields
	}
	if diff := cmp.Diff(decoded(want), decoded(line)); diff != "" {
		t.Errorf("%s\n(-logrus +larder)\n%s", line, diff)
	}
}

// Redis and the services may send values of any length. Each has at most 4 KiB in a line, in both formats.
func TestLongLogValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("€", 50_000)
	for name, format := range map[string]logrus.Formatter{
		"json": jsonLines{},
		"text": &safeText{logrus.TextFormatter{DisableColors: true}},
	} {
		for kind, value := range map[string]any{
			"text":        long,
			"error":       errors.New(long),
			"list":        []string{long, long},
			"bytes":       []byte(long),
			"map":         map[string]any{"a": map[string]string{"b": long}},
			"nil pointer": (*json.SyntaxError)(nil),
			"stringer":    netip.MustParseAddr("127.0.0.1"),
		} {
			var out bytes.Buffer
			log := logrus.New()
			log.SetOutput(&out)
			log.SetFormatter(format)
			log.WithFields(logrus.Fields{"value": value, "short": "as it is"}).Info(long)
			line := out.String()
			if !strings.Contains(line, "as it is") || len(line) > 2*maxLogged+4000 || !strings.HasSuffix(line, "\n") || !utf8.ValidString(line) {
				t.Errorf("%s, %s: a line of %d bytes, %.200q", name, kind, len(line), line)
			}
			if strings.Count(line, "more bytes)") != 2 && kind != "nil pointer" && kind != "stringer" {
				t.Errorf("%s, %s: the line does not say twice what is missing: %.200q", name, kind, line)
			}
			if name == "json" && !json.Valid(out.Bytes()) {
				t.Errorf("%s: no JSON: %.200q", kind, line)
			}
		}
	}
}
