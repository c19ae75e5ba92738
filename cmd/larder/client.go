package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
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

// baseURL returns the URL at which this machine reaches a listener.
func baseURL(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
