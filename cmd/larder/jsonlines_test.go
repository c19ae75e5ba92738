package main

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
)

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
