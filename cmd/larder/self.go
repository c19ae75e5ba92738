package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// self asks a larder, from within, what others ask it from outside: GET /livez
// at its listener. It keeps its connection, so that it need not wait for a place
// once http.max_connections are open: a full larder is alive.
type self struct {
	url    string
	client *http.Client
}

// newSelf makes a self whose questions are answered within the limit or not at
// all.
func newSelf(base string, limit time.Duration) *self {
	return &self{url: base + "/livez", client: &http.Client{
		Timeout:   limit,
		Transport: &http.Transport{MaxIdleConns: 1, DisableCompression: true}, // no proxy: it is this process
	}}
}

// ask is content with 200, and tells else what it got.
func (s *self) ask(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body) // to its end, so that the connection can be kept
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s, not 200", s.url, response.Status)
	}
	return err
}

func (s *self) close() { s.client.CloseIdleConnections() }
