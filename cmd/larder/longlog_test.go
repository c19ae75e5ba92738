package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sirupsen/logrus"
)

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
