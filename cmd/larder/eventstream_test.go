package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"larder/internal/client"
)

const (
	// quietEvents is the time without any event or heartbeat after which a stream
	// counts as lost.
	quietEvents = time.Minute
	// longestEvent limits one line of a stream, in bytes.
	longestEvent = 1 << 20
)

// eventStream reads the server-sent events of a daemon. Only close is safe for
// concurrent use.
type eventStream struct {
	lines *bufio.Scanner
	quiet *time.Timer // closes the stream
	end   func()
}

// openEvents opens a stream of a's server-sent events. It ends with ctx or after
// close.
func openEvents(ctx context.Context, a *client.Client, path string) (*eventStream, error) {
	caller := *a.HTTP
	if a.Authorized != nil {
		caller = *a.Authorized
	}
	caller.Timeout = 0 // a stream has no time limit
	ctx, cancel := context.WithCancel(ctx)
	quiet := time.AfterFunc(quietEvents, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.Base+path, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := caller.Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("GET %s: %s", path, response.Status), response.Body.Close())
	}
	if err != nil {
		quiet.Stop()
		cancel()
		return nil, err
	}
	s := &eventStream{lines: bufio.NewScanner(response.Body), quiet: quiet}
	s.lines.Buffer(nil, longestEvent)
	s.end = sync.OnceFunc(func() {
		quiet.Stop()
		cancel()
		_ = response.Body.Close()
	})
	context.AfterFunc(ctx, s.close)
	return s, nil
}

// close ends the stream. It can be called several times.
func (s *eventStream) close() { s.end() }

// next returns the name and the data of the next event, or io.EOF at the end of the
// stream.
func (s *eventStream) next() (name string, data []byte, err error) {
	for s.lines.Scan() {
		s.quiet.Reset(quietEvents)
		field, value, _ := strings.Cut(s.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case s.lines.Text() == "" && name != "":
			return name, data, nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value...)
		}
	}
	return "", nil, errors.Join(s.lines.Err(), io.EOF)
}
