package upstream_test

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/upstream"
)

func TestLogNamesEveryEventAndTheConnection(t *testing.T) {
	t.Parallel()
	s := &service{handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}
	s.token = func(w http.ResponseWriter, _ *http.Request) {
		if s.tokens.Load() == 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":60}`)
	}
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	client := start(t, s, upstream.WithLogger(log))
	for range 6 { // the first gets no token, five fail after four attempts each
		if _, err := client.RejectionReasons(t.Context()); err == nil {
			t.Error("a read of a service that is down succeeded")
		}
		client.AskTokenAgain()
	}
	got := map[string]int{}
	for _, entry := range hook.AllEntries() {
		event, ok := entry.Data["event"].(string)
		if !ok || entry.Data["connection"] != "main" {
			t.Errorf("log entry %q with %v: event or connection is missing", entry.Message, entry.Data)
		}
		if loud := entry.Level <= logrus.InfoLevel; loud != slices.Contains([]string{"upstream.token_refused", "upstream.token_accepted"}, event) {
			t.Errorf("%s is logged at level %s: a change of state is logged, each attempt is not", event, entry.Level)
		}
		got[event]++
	}
	want := map[string]int{"upstream.token": 1, "upstream.retry": 15, "upstream.token_refused": 1, "upstream.token_accepted": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
