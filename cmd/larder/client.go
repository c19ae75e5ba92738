package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// api is a running daemon as the command line speaks with it: over HTTP, with
// a bearer token like every other client.
type api struct {
	base   string // "http://127.0.0.1:8080"
	plain  *http.Client
	bearer *http.Client // with a token; nil without credentials
}

// callLimit bounds one call: the longest a sync may be waited for, and then some.
const callLimit = 90 * time.Second

// newAPI makes a client. Without id it can only read what is open. Its tokens
// have every scope that the client may have.
func newAPI(ctx context.Context, base, id, secret string) *api {
	base = strings.TrimRight(base, "/")
	a := &api{base: base, plain: &http.Client{Timeout: callLimit}}
	if id != "" {
		credentials := clientcredentials.Config{
			ClientID: id, ClientSecret: secret, TokenURL: base + "/connect/token", AuthStyle: oauth2.AuthStyleInParams,
		}
		a.bearer = credentials.Client(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, a.plain))
		a.bearer.Timeout = callLimit
	}
	return a
}

// close lets idle connections go.
func (a *api) close() { a.plain.CloseIdleConnections() }

// reply is an answer of the daemon.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// result takes the result out of its envelope.
func (r *reply) result(into any) error {
	envelope := struct {
		Result any `json:"result"`
	}{into}
	if err := json.Unmarshal(r.body, &envelope); err != nil {
		return fmt.Errorf("the answer is not what larder sends: %w", err)
	}
	return nil
}

// apiError is a refusal of the daemon.
type apiError struct {
	Status    int             `json:"status"`
	Code      string          `json:"code"`
	Msg       string          `json:"msg"`
	RequestID string          `json:"requestId"`
	Errors    []violation     `json:"errors"`
	Body      json.RawMessage `json:"-"`
}

// violation is one thing that is wrong with an order.
type violation struct {
	Path string `json:"path"`
	Code string `json:"code"`
	Msg  string `json:"msg"`
}

func (e *apiError) Error() string {
	text := fmt.Sprintf("larder answered %d %s: %s", e.Status, e.Code, e.Msg)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// get reads a path with the headers given as name, value, name, value and so on.
func (a *api) get(ctx context.Context, path string, headers ...string) (*reply, error) {
	return a.call(ctx, http.MethodGet, path, nil, headers...)
}

// call sends one request: with a token where there are credentials. Answers
// below 400 are a reply, others an *apiError.
func (a *api) call(ctx context.Context, method, path string, body []byte, headers ...string) (*reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := a.bearer
	if client == nil {
		client = a.plain
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, a.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, refusal(response.StatusCode, content)
	}
	return &reply{status: response.StatusCode, header: response.Header, body: content}, nil
}

func refusal(status int, body []byte) error {
	refused := &apiError{Status: status, Body: body}
	if err := json.Unmarshal(body, refused); err != nil || refused.Code == "" {
		refused.Code, refused.Msg = http.StatusText(status), "the answer is not larder's: is this address a larder's?"
	}
	refused.Status = status
	return refused
}

// unreachable says in a person's words why there was no answer.
func (a *api) unreachable(err error) error {
	if denied, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("larder at %s gives no token: %s %s; check --client-id and --client-secret", a.base, denied.ErrorCode, denied.ErrorDescription)
	}
	return fmt.Errorf("larder at %s does not answer: %w; is it running? (larder serve, or larder demo; --url names another)", a.base, err)
}

// decode reads the whole body as JSON.
func (r *reply) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("the answer is not what larder sends: %w", err)
	}
	return nil
}
