package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"larder/httpapi"
)

// api is a running daemon as the command line speaks with it: over HTTP, with
// a bearer token like every other client.
type api struct {
	base   string // "http://127.0.0.1:8080"
	ready  string // where /readyz is asked, if elsewhere: operators' listener, which guests cannot fill
	plain  *http.Client
	bearer *http.Client // with a token; nil without credentials
}

// callLimit bounds one call: the longest a sync may be waited for, and then some.
const callLimit = 90 * time.Second

// newAPI makes a client, for as long as ctx is not over. Without id it can only
// read what is open. Its tokens have every scope that the client may have.
func newAPI(ctx context.Context, base, id, secret string) *api {
	base = strings.TrimRight(base, "/")
	a := &api{base: base, plain: &http.Client{Timeout: callLimit}}
	if id != "" {
		credentials := clientcredentials.Config{
			ClientID: id, ClientSecret: secret, TokenURL: base + "/connect/token", AuthStyle: oauth2.AuthStyleInParams,
		}
		a.bearer = credentials.Client(context.WithValue(ctx, oauth2.HTTPClient, a.plain))
		a.bearer.Timeout = callLimit
	}
	return a
}

// forReadiness is the client for /readyz, which must not need a token.
func (a *api) forReadiness() *api { return &api{base: cmp.Or(a.ready, a.base), plain: a.plain} }

// opsRoutes begin the paths that http.ops_listen moves.
const opsRoutes = "/v1/ops/"

func opsPath(id string) string { return opsRoutes + "restaurants/" + url.PathEscape(id) }

func restaurantPath(id string) string { return "/v1/restaurants/" + url.PathEscape(id) }

// reply is an answer of the daemon.
type reply struct {
	status int
	header http.Header
	body   json.RawMessage
}

// envelope is the form of every answer: its result, and of a list where it goes on.
type envelope[T any] struct {
	Result T       `json:"result"`
	Next   *string `json:"next"`
}

// decode reads the whole body as JSON.
func (r *reply) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("%w: %w", errForeignAnswer, err)
	}
	return nil
}

// result takes the result out of its envelope.
func (r *reply) result(into any) error { return r.decode(&envelope[any]{Result: into}) }

// get reads a path with the headers given as name, value, name, value and so on.
func (a *api) get(ctx context.Context, path string, headers ...string) (*reply, error) {
	return a.call(ctx, http.MethodGet, path, nil, headers...)
}

// resultOf reads the result of a GET.
func resultOf[T any](ctx context.Context, a *api, path string) (result T, err error) {
	answer, err := a.get(ctx, path)
	if err == nil {
		err = answer.result(&result)
	}
	return result, err
}

// maxPages bounds how many pages of a list are read.
const maxPages = 1000

// everyPage reads a whole list of the daemon; path has its limit.
func everyPage[T any](ctx context.Context, daemon *api, path string) ([]T, error) {
	all := []T{}
	cursor := ""
	for range maxPages {
		answer, err := daemon.get(ctx, path+"&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		var page envelope[[]T]
		if err := answer.decode(&page); err != nil {
			return nil, err
		}
		all = append(all, page.Result...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
	return nil, fmt.Errorf("%w: the list has no end", errForeignAnswer)
}

// operate sends one request of an operator and prints the answer.
func operate[T any](cmd *cobra.Command, env *environment, method, path string, body []byte, text func(answer envelope[T])) error {
	daemon, err := target(cmd, env, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	answer, err := daemon.call(cmd.Context(), method, path, body)
	if err != nil {
		return err
	}
	return printAnswer(cmd, env, answer, text)
}

// printAnswer prints an answer as JSON, as it came, or as text for people.
func printAnswer[T any](cmd *cobra.Command, env *environment, answer *reply, text func(answer envelope[T])) error {
	if asJSON(cmd) {
		return printJSON(env.out, answer.body)
	}
	var decoded envelope[T]
	if err := answer.decode(&decoded); err != nil {
		return err
	}
	text(decoded)
	return nil
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
	response, err := cmp.Or(a.bearer, a.plain).Do(request)
	if err != nil {
		return nil, a.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, a.unreachable(err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, refusal(response, content, a.bearer == nil)
	}
	return &reply{status: response.StatusCode, header: response.Header, body: content}, nil
}

// apiError is a refusal of the daemon.
type apiError struct {
	Status    int         `json:"status"`
	Code      string      `json:"code"`
	Msg       string      `json:"msg"`
	RequestID string      `json:"requestId"`
	Errors    []violation `json:"errors"`
	More      bool        `json:"more"` // there are more violations than Errors
	Ref       string      `json:"ref"`  // of an order that may have been sent
	Upstream  *struct {
		Errors json.RawMessage `json:"errors"` // the ordering service's reasons, in whatever shape
	} `json:"upstream"`
	Body      json.RawMessage `json:"-"` // all of it, when it is JSON
	anonymous bool            // asked without credentials
	ofOps     bool            // about a path of /v1/ops
	// retryAfter is how long to wait before asking again; 0 where it is not said.
	retryAfter time.Duration
}

func refusal(response *http.Response, body []byte, anonymous bool) error {
	status, refused := response.StatusCode, &apiError{anonymous: anonymous}
	if asked := response.Request; asked != nil {
		refused.ofOps = strings.HasPrefix(asked.URL.Path, opsRoutes)
	}
	if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.retryAfter = time.Duration(max(wait, 0)) * time.Second
	}
	if err := json.Unmarshal(body, refused); err != nil || refused.Code == "" {
		refused.Code, refused.Msg = http.StatusText(status), "the answer is not larder's: is this address a larder's?"
	}
	if json.Valid(body) {
		refused.Body = body
	}
	refused.Status = status
	return refused
}

func (e *apiError) Error() string {
	text := fmt.Sprintf("larder answered %d %s: %s", e.Status, e.Code, e.Msg)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.ofOps && e.Code == string(httpapi.CodeNotFound) {
		text += "; the routes of operators are not at this address"
	}
	if e.Status == http.StatusUnauthorized && e.anonymous {
		text += "; say who asks: --config FILE, or --client-id and --client-secret"
	}
	return text
}

// refusedWith reports whether err is a refusal with one of the statuses.
func refusedWith(err error, statuses ...int) bool {
	refused, ok := errors.AsType[*apiError](err)
	return ok && slices.Contains(statuses, refused.Status)
}

// reasons are the ordering service's own, one for each line; a shape that is
// not known is shown as it came.
func (e *apiError) reasons() []string {
	if e.Upstream == nil || len(e.Upstream.Errors) == 0 || string(e.Upstream.Errors) == "null" {
		return nil
	}
	sent := e.Upstream.Errors
	var list []json.RawMessage
	if json.Unmarshal(sent, &list) != nil {
		list = []json.RawMessage{sent}
	}
	lines := make([]string, len(list))
	for i, raw := range list {
		var v violation
		if json.Unmarshal(raw, &lines[i]) == nil {
			continue
		}
		if lines[i] = string(raw); json.Unmarshal(raw, &v) == nil && v.Msg != "" {
			lines[i] = v.line()
		}
	}
	return lines
}

// violation is one thing that is wrong with an order.
type violation struct {
	Path string `json:"path"`
	Code string `json:"code"`
	Msg  string `json:"msg"`
}

// line is the violation on one line.
func (v violation) line() string { return joined("  ", v.Path, v.Code, v.Msg) }

// unreachableError is a message for people: why a daemon did not answer.
type unreachableError struct {
	msg string
	err error
}

func (e *unreachableError) Error() string { return e.msg }

func (e *unreachableError) Unwrap() error { return e.err }

// unreachable makes an unreachableError of a call that got no answer.
func (a *api) unreachable(err error) error {
	msg := fmt.Sprintf("larder at %s does not answer%s; is it running? (larder serve, or larder demo; --url names another)",
		a.base, transportText(err))
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	if denied, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text := strings.TrimSpace(denied.ErrorCode + " " + denied.ErrorDescription)
		if text == "" {
			text = fmt.Sprintf("status %d, and the answer is not larder's: is this address a larder's?", denied.Response.StatusCode)
		}
		msg = fmt.Sprintf("larder at %s gives no token: %s", a.base, text)
		if denied.ErrorCode == "invalid_client" {
			msg = fmt.Sprintf("authentication failed at %s: unknown client or wrong secret; check --client-id and --client-secret", a.base)
		}
	}
	return &unreachableError{msg, err}
}

// transportText is what is worth saying of a call without an answer; that nothing
// listens is said already.
func transportText(err error) string {
	dns, unknownHost := errors.AsType[*net.DNSError](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case unknownHost && dns.IsNotFound:
		return ": there is no host " + dns.Name
	case ok && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return " in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ""
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ": it closed the connection"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return " to https; try http"
	default:
		return " (" + rootCause(err).Error() + ")"
	}
}

// rootCause is the cause at the bottom, without the layers that repeat the
// address.
func rootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
