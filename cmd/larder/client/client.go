package client

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

// Client calls one daemon.
type Client struct {
	Base       string       // "http://127.0.0.1:8080"
	Ready      string       // the address for /readyz if it is on http.ops_listen, which guests cannot overload
	HTTP       *http.Client // without a token
	Authorized *http.Client // with a token; nil without credentials
	Err        error        // of Failed
}

// Failed returns a client whose calls return err.
func Failed(err error) *Client { return &Client{HTTP: &http.Client{}, Err: err} }

// callLimit is the time limit of one call. It is longer than the longest wait for a sync.
const callLimit = 90 * time.Second

// New returns a client that works until ctx ends. If id is empty, it sends no tokens.
func New(ctx context.Context, base, id, secret string) *Client {
	base = strings.TrimRight(base, "/")
	c := &Client{Base: base, HTTP: &http.Client{Timeout: callLimit, CheckRedirect: refuseRedirect}}
	if id != "" {
		tokens := base + "/connect/token"
		credentials := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: tokens, AuthStyle: oauth2.AuthStyleInParams}
		c.Authorized = credentials.Client(context.WithValue(ctx, oauth2.HTTPClient, c.HTTP))
		c.Authorized.Timeout, c.Authorized.CheckRedirect = callLimit, refuseRedirect
	}
	return c
}

// refuseRedirect ends a call: the token or the secret is only for the address that was given.
func refuseRedirect(to *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server redirects to %s://%s: if that is the daemon, use this address", to.URL.Scheme, to.URL.Host)
}

// longestBody limits a response, in bytes. A menu may have 64 MiB.
const longestBody = 256 << 20

// ForReadiness returns the client for /readyz, which needs no token.
func (c *Client) ForReadiness() *Client {
	return &Client{Base: cmp.Or(c.Ready, c.Base), HTTP: c.HTTP, Err: c.Err}
}

// opsRoutes is the prefix of the operators' API, which may have its own listener.
const opsRoutes = "/v1/ops/"

// OpsRestaurantPath returns the path of a restaurant's routes for operators.
func OpsRestaurantPath(id string) string { return opsRoutes + "restaurants/" + url.PathEscape(id) }

// RestaurantPath returns the path of a restaurant's public routes.
func RestaurantPath(id string) string { return "/v1/restaurants/" + url.PathEscape(id) }

// Reply is a response of the daemon with a status below 400.
type Reply struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// Envelope is the form of all responses: a result, and for a list the cursor of its next page.
type Envelope[T any] struct {
	Result T       `json:"result"`
	Next   *string `json:"next"`
}

// Decode reads the whole body as JSON.
func (r *Reply) Decode(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrForeignAnswer, err)
	}
	return nil
}

// Result decodes the result of the envelope.
func (r *Reply) Result(into any) error { return r.Decode(&Envelope[any]{Result: into}) }

// Get sends a GET request. headers are pairs of name and value.
func (c *Client) Get(ctx context.Context, path string, headers ...string) (*Reply, error) {
	return c.Call(ctx, http.MethodGet, path, nil, headers...)
}

// Get returns the result of a GET request.
func Get[T any](ctx context.Context, daemon *Client, path string) (T, error) {
	return Send[T](ctx, daemon, http.MethodGet, path, nil)
}

// Send sends a request and returns its result.
func Send[T any](ctx context.Context, daemon *Client, method, path string, body []byte) (result T, err error) {
	answer, err := daemon.Call(ctx, method, path, body)
	if err == nil {
		err = answer.Result(&result)
	}
	return result, err
}

// maxPages limits EveryPage if a server repeats a cursor.
const maxPages = 1000

// EveryPage returns a whole list. The query in path includes the page size as limit.
func EveryPage[T any](ctx context.Context, daemon *Client, path string) ([]T, error) {
	all := []T{}
	cursor := ""
	for range maxPages {
		answer, err := daemon.Get(ctx, path+"&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		var page Envelope[[]T]
		if err := answer.Decode(&page); err != nil {
			return nil, err
		}
		all = append(all, page.Result...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
	return nil, fmt.Errorf("%w: the list has no end", ErrForeignAnswer)
}

// Call sends one request. It returns an *Error for a status of 400 or above.
func (c *Client) Call(ctx context.Context, method, path string, body []byte, headers ...string) (*Reply, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // net/http would send an order with a key again by itself, and report only the second request
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := cmp.Or(c.Authorized, c.HTTP).Do(request)
	if err != nil {
		return nil, c.failed(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, longestBody))
	if err != nil {
		return nil, c.failed(err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, refusal(response, content, c.Authorized == nil)
	}
	return &Reply{Status: response.StatusCode, Header: response.Header, Body: content}, nil
}

// BaseURL returns the URL of a listener on this machine.
func BaseURL(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
