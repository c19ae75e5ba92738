package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// problem is an error response.
type problem struct {
	Type, Title, Detail, Instance, Code, Msg, RequestID, Ref string
	Status                                                   int
	Errors                                                   []struct {
		Path, Code, Msg string
		Params          map[string]any
	}
	Upstream *struct {
		Status               int
		Code, Msg, RequestID string
		Errors               []string
	}
}

// transport neither sends Accept-Encoding nor decompresses, so that tests see the bytes.
func transport(t *testing.T) *http.Client {
	t.Helper()
	raw := &http.Transport{DisableCompression: true}
	t.Cleanup(raw.CloseIdleConnections)
	return &http.Client{
		Transport:     watched{t, raw},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do sends a request. headers are pairs of name and value.
func (w *fixture) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	return do(w.t, method, w.url+path, body, headers...)
}

func do(t *testing.T, method, address, body string, headers ...string) reply {
	t.Helper()
	got, err := request(t, method, address, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// request is do for goroutines other than the test's.
func request(t *testing.T, method, address, body string, headers ...string) (reply, error) {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, content)
	if err != nil {
		return reply{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	request.Host = request.Header.Get("Host") // empty: the Host of the address
	client := transport(t)
	defer client.CloseIdleConnections() // the fault matrix sends ten thousand requests
	response, err := client.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, address, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, address, err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: text}, nil
}

func (w *fixture) get(path string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodGet, path, "", headers...)
}

// post sends JSON.
func (w *fixture) post(path, body string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodPost, path, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// token requests a client's token with all its scopes.
func (w *fixture) token(client string) string {
	w.t.Helper()
	form := url.Values{"client_id": {client}, "client_secret": {secretOf(client)}, "grant_type": {"client_credentials"}}
	got := w.do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if got.status != http.StatusOK || json.Unmarshal(got.body, &answer) != nil || answer.AccessToken == "" {
		w.t.Fatalf("token of %s: %d %s", client, got.status, got.body)
	}
	return answer.AccessToken
}

// as returns the Authorization header of a client, to be appended to a request.
func (w *fixture) as(client string) []string {
	w.t.Helper()
	return []string{"Authorization", "Bearer " + w.token(client)}
}

// into decodes the `result` of a response.
func (r reply) into(t *testing.T, result any) {
	t.Helper()
	var envelope struct{ Result json.RawMessage }
	if err := json.Unmarshal(r.body, &envelope); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

// is checks the status of a successful response.
func (r reply) is(t *testing.T, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("got status %d, want %d; body %s", r.status, status, r.body)
	}
	return r
}

// refused checks that the response is a complete problem document with this status and code.
func (r reply) refused(t *testing.T, status int, code string) problem {
	t.Helper()
	var got problem
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("status %d, want %d %s: not a problem document: %v in %q", r.status, status, code, err, r.body)
	}
	if r.status != status || got.Code != code {
		t.Fatalf("got %d %s (%s), want %d %s", r.status, got.Code, got.Detail, status, code)
	}
	if media := r.header.Get("Content-Type"); media != "application/problem+json; charset=utf-8" {
		t.Errorf("%s: Content-Type %q", code, media)
	}
	if got.Status != status || got.Title == "" || got.Detail == "" || got.Msg != got.Detail || got.Instance == "" || got.Type != "urn:larder:problem:"+code {
		t.Errorf("%s: incomplete problem: %s", code, r.body)
	}
	if got.RequestID == "" || got.RequestID != r.header.Get("X-Request-Id") {
		t.Errorf("%s: requestId %q, X-Request-Id %q", code, got.RequestID, r.header.Get("X-Request-Id"))
	}
	if cc := r.header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("%s: Cache-Control %q", code, cc)
	}
	return got
}
