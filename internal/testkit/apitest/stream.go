package apitest

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

	"larder.local/httpapi/events"
	"larder.local/internal/menu"
)

// StreamLimit limits a test's stream, and each wait for an event.
const StreamLimit = 30 * time.Second

// Event is one server-sent event.
type Event struct{ ID, Name, Data string }

// MenuEvent is the data of an event about a menu.
type MenuEvent struct {
	Restaurant  string
	Version     int
	Products    []menu.Availability
	Ingredients []menu.Availability
}

// About decodes the data of an event and checks its name.
func (e Event) About(t *testing.T, name string) (about MenuEvent) {
	t.Helper()
	if e.Name != name {
		t.Fatalf("got %+v, want %s", e, name)
	}
	if err := json.Unmarshal([]byte(e.Data), &about); err != nil {
		t.Fatalf("%v in %s", err, e.Data)
	}
	return about
}

// Stream is an open stream.
type Stream struct {
	T        *testing.T
	Response *http.Response
	Lines    *bufio.Scanner
	Retry    string // id of the last event
	Close    func()
}

// OpenStream opens a stream, which ends with the test.
func OpenStream(t *testing.T, address string, headers ...string) *Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), StreamLimit)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := Client(t).Do(request)
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
	return &Stream{
		T:        t,
		Response: response,
		Lines:    lines,
		Close:    closed,
	}
}

// Follow opens a stream of a restaurant's menu.
func (w *Fixture) Follow(restaurant string, headers ...string) *Stream {
	w.T.Helper()
	return OpenStream(w.T, w.URL+"/v1/events?restaurant="+restaurant, headers...)
}

// Read returns the next event, or the error that ended the stream.
func (f *Stream) Read() (e Event, err error) {
	for f.Lines.Scan() {
		field, value, _ := strings.Cut(f.Lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case f.Lines.Text() == "" && e.Name != "":
			return e, nil
		case f.Lines.Text() == "":
		case field == "": // a heartbeat
		case field == "retry":
			f.Retry = value
		case field == "id":
			e.ID = value
		case field == "event":
			e.Name = value
		case field == "data":
			e.Data += value
		default:
			return e, fmt.Errorf("a line that is no server-sent event: %q", f.Lines.Text())
		}
	}
	if err := f.Lines.Err(); err != nil {
		return e, err
	}
	return e, io.EOF
}

// Beat waits for a heartbeat. An event before it fails the test.
func (f *Stream) Beat() {
	f.T.Helper()
	for f.Lines.Scan() {
		switch line := f.Lines.Text(); {
		case strings.HasPrefix(line, ":"):
			return
		case line != "":
			f.T.Fatalf("got %q, want a heartbeat", line)
		}
	}
	f.T.Fatalf("no heartbeat: %v", f.Lines.Err())
}

// Next waits for an event.
func (f *Stream) Next() Event {
	f.T.Helper()
	e, err := f.Read()
	if err != nil {
		f.T.Fatalf("no event: %v", err)
	}
	return e
}

// Over waits for the clean end of the stream. Events that were published before it may still
// arrive.
func (f *Stream) Over() {
	f.T.Helper()
	var err error
	for err == nil {
		_, err = f.Read()
	}
	if err != io.EOF { //nolint:errorlint // read gives it as it is
		f.T.Fatalf("got %v, want the end of the stream", err)
	}
}

// WaitMetric waits until /metrics has the line.
func (w *Fixture) WaitMetric(line string) {
	w.T.Helper()
	var text string
	for deadline := time.Now().Add(StreamLimit); time.Now().Before(deadline); {
		if text = string(w.Get("/metrics").Body); strings.Contains(text, "\n"+line+"\n") {
			return
		}
	}
	w.T.Fatalf("/metrics never had %q:\n%s", line, text)
}

// Eager sets ten heartbeats per second.
func Eager(p *Plan) { p.HTTP.Events.Heartbeat = 100 * time.Millisecond }

// WithEvents changes http.events.
func WithEvents(change func(*events.Config)) func(*Plan) {
	return func(p *Plan) { change(&p.HTTP.Events) }
}
