package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/httpapi/events"
	"larder/internal/menu"
)

// feedLimit limits a test's stream, and each wait for an event.
const feedLimit = 30 * time.Second

// event is one server-sent event.
type event struct{ id, name, data string }

// menuEvent is the data of an event about a menu.
type menuEvent struct {
	Restaurant  string
	Version     int
	Products    []menu.Availability
	Ingredients []menu.Availability
}

// about decodes the data of an event and checks its name.
func (e event) about(t *testing.T, name string) (about menuEvent) {
	t.Helper()
	if e.name != name {
		t.Fatalf("got %+v, want %s", e, name)
	}
	if err := json.Unmarshal([]byte(e.data), &about); err != nil {
		t.Fatalf("%v in %s", err, e.data)
	}
	return about
}

// feed is an open stream.
type feed struct {
	t        *testing.T
	response *http.Response
	lines    *bufio.Scanner
	retry    string // id of the last event
	close    func()
}

// openFeed opens a stream, which ends with the test.
func openFeed(t *testing.T, address string, headers ...string) *feed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), feedLimit)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := transport(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	closed := func() {
		cancel()
		_ = response.Body.Close()
	}
	t.Cleanup(closed)
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("GET %s: %d %s", address, response.StatusCode, body)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	return &feed{
		t:        t,
		response: response,
		lines:    lines,
		close:    closed,
	}
}

// follow opens a stream of a restaurant's menu.
func (w *fixture) follow(restaurant string, headers ...string) *feed {
	w.t.Helper()
	return openFeed(w.t, w.url+"/v1/events?restaurant="+restaurant, headers...)
}

// read returns the next event, or the error that ended the stream.
func (f *feed) read() (e event, err error) {
	for f.lines.Scan() {
		field, value, _ := strings.Cut(f.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case f.lines.Text() == "" && e.name != "":
			return e, nil
		case f.lines.Text() == "":
		case field == "": // a heartbeat
		case field == "retry":
			f.retry = value
		case field == "id":
			e.id = value
		case field == "event":
			e.name = value
		case field == "data":
			e.data += value
		default:
			return e, fmt.Errorf("a line that is no server-sent event: %q", f.lines.Text())
		}
	}
	if err := f.lines.Err(); err != nil {
		return e, err
	}
	return e, io.EOF
}

// beat waits for a heartbeat. An event before it fails the test.
func (f *feed) beat() {
	f.t.Helper()
	for f.lines.Scan() {
		switch line := f.lines.Text(); {
		case strings.HasPrefix(line, ":"):
			return
		case line != "":
			f.t.Fatalf("got %q, want a heartbeat", line)
		}
	}
	f.t.Fatalf("no heartbeat: %v", f.lines.Err())
}

// next waits for an event.
func (f *feed) next() event {
	f.t.Helper()
	e, err := f.read()
	if err != nil {
		f.t.Fatalf("no event: %v", err)
	}
	return e
}

// over waits for the clean end of the stream. Events that were published before it may still
// arrive.
func (f *feed) over() {
	f.t.Helper()
	var err error
	for err == nil {
		_, err = f.read()
	}
	if err != io.EOF { //nolint:errorlint // read gives it as it is
		f.t.Fatalf("got %v, want the end of the stream", err)
	}
}

// metric waits until /metrics has the line.
func (w *fixture) metric(line string) {
	w.t.Helper()
	var text string
	for deadline := time.Now().Add(feedLimit); time.Now().Before(deadline); {
		if text = string(w.get("/metrics").body); strings.Contains(text, "\n"+line+"\n") {
			return
		}
	}
	w.t.Fatalf("/metrics never had %q:\n%s", line, text)
}

// eager sets ten heartbeats per second.
func eager(p *plan) { p.cfg.Events.Heartbeat = 100 * time.Millisecond }

// withEvents changes http.events.
func withEvents(change func(*events.Config)) func(*plan) {
	return func(p *plan) { change(&p.cfg.Events) }
}
