package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"larder.local/internal/testkit/apicoverage"
)

// Reply is a complete response.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Problem is an error response.
type Problem struct {
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

// Client returns a client for one test. It neither sends Accept-Encoding nor decompresses, so that tests see the bytes.
func Client(t *testing.T) *http.Client {
	t.Helper()
	raw := &http.Transport{DisableCompression: true}
	t.Cleanup(raw.CloseIdleConnections)
	return &http.Client{
		Transport:     apicoverage.Transport(t, raw),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Do sends a request. headers are pairs of name and value.
func (w *Fixture) Do(method, path, body string, headers ...string) Reply {
	w.T.Helper()
	return Do(w.T, method, w.URL+path, body, headers...)
}

// Do sends a request to an address. headers are pairs of name and value.
func Do(t *testing.T, method, address, body string, headers ...string) Reply {
	t.Helper()
	got, err := Request(t, method, address, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Request is Do for goroutines other than the test's.
func Request(t *testing.T, method, address, body string, headers ...string) (Reply, error) {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, content)
	if err != nil {
		return Reply{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	request.Host = request.Header.Get("Host") // empty: the Host of the address
	client := Client(t)
	defer client.CloseIdleConnections() // the fault matrix sends ten thousand requests
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, fmt.Errorf("%s %s: %w", method, address, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Reply{}, fmt.Errorf("%s %s: %w", method, address, err)
	}
	return Reply{Status: response.StatusCode, Header: response.Header, Body: text}, nil
}

// Get sends a GET.
func (w *Fixture) Get(path string, headers ...string) Reply {
	w.T.Helper()
	return w.Do(http.MethodGet, path, "", headers...)
}

// Post sends JSON.
func (w *Fixture) Post(path, body string, headers ...string) Reply {
	w.T.Helper()
	return w.Do(http.MethodPost, path, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// Token requests a client's token with all its scopes.
func (w *Fixture) Token(client string) string {
	w.T.Helper()
	form := url.Values{"client_id": {client}, "client_secret": {Secret(client)}, "grant_type": {"client_credentials"}}
	got := w.Do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if got.Status != http.StatusOK || json.Unmarshal(got.Body, &answer) != nil || answer.AccessToken == "" {
		w.T.Fatalf("token of %s: %d %s", client, got.Status, got.Body)
	}
	return answer.AccessToken
}

// As returns the Authorization header of a client, to be appended to a request.
func (w *Fixture) As(client string) []string {
	w.T.Helper()
	return []string{"Authorization", "Bearer " + w.Token(client)}
}

// Into decodes the `result` of a response.
func (r Reply) Into(t *testing.T, result any) {
	t.Helper()
	var envelope struct{ Result json.RawMessage }
	if err := json.Unmarshal(r.Body, &envelope); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
}

// Is checks the status of a successful response.
func (r Reply) Is(t *testing.T, status int) Reply {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got status %d, want %d; body %s", r.Status, status, r.Body)
	}
	return r
}

// Refused checks that the response is a complete problem document with this status and code.
func (r Reply) Refused(t *testing.T, status int, code string) Problem {
	t.Helper()
	var got Problem
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("status %d, want %d %s: not a problem document: %v in %q", r.Status, status, code, err, r.Body)
	}
	if r.Status != status || got.Code != code {
		t.Fatalf("got %d %s (%s), want %d %s", r.Status, got.Code, got.Detail, status, code)
	}
	if media := r.Header.Get("Content-Type"); media != "application/problem+json; charset=utf-8" {
		t.Errorf("%s: Content-Type %q", code, media)
	}
	if got.Status != status || got.Title == "" || got.Detail == "" ||
		got.Msg != got.Detail || got.Instance == "" || got.Type != "urn:larder:problem:"+code {
		t.Errorf("%s: incomplete problem: %s", code, r.Body)
	}
	if got.RequestID == "" || got.RequestID != r.Header.Get("X-Request-Id") {
		t.Errorf("%s: requestId %q, X-Request-Id %q", code, got.RequestID, r.Header.Get("X-Request-Id"))
	}
	if cc := r.Header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("%s: Cache-Control %q", code, cc)
	}
	return got
}

// SignInBody returns the body of a sign-in.
func SignInBody(client, secret string) string {
	text, _ := json.Marshal(map[string]string{"client": client, "secret": secret})
	return string(text)
}

// Cookie returns the only cookie that a response sets.
func (r Reply) Cookie(t *testing.T) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: r.Header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies in %v, want one", len(cookies), r.Header)
	}
	return cookies[0]
}

// SignIn returns the headers that a browser sends after signing in.
func (w *Fixture) SignIn(client string) []string {
	w.T.Helper()
	cookie := w.Post(SessionPath, SignInBody(client, Secret(client))).Is(w.T, http.StatusOK).Cookie(w.T)
	return []string{"Cookie", cookie.Name + "=" + cookie.Value}
}
