package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/oauth2"

	"larder.local/internal/tracing"
)

// request describes one request to the service; every attempt builds it again. It contains no part
// of a client's own request.
type request struct {
	op     Operation
	method string
	url    *url.URL
	header http.Header
	body   []byte // nil without a body
	limit  int64  // of the decompressed answer
}

// httpAnswer is the answer to a request: status, header, and as much of the body as arrived.
type httpAnswer struct {
	status  int
	header  http.Header
	body    []byte
	bodyErr error         // why the body is incomplete: ErrTooLarge, a reset, a timeout
	token   *oauth2.Token // of the request; nil without one
	orderID string        // of a created order, if certaintyOf has found that it exists
}

// contentType returns the Content-Type; it is empty if it is too long.
func (a *httpAnswer) contentType() string {
	if value := a.header.Get("Content-Type"); len(value) <= maxCodeBytes {
		return value
	}
	return ""
}

// send makes one exchange with a transport. Without a token it sends no Authorization header. The error is the
// transport's: there was no answer. A transport follows no redirects: a redirect is an answer like any other (policy O8).
func (c *Client) send(ctx context.Context, via roundTrip, r *request, token *oauth2.Token) (*httpAnswer, error) {
	start := time.Now()
	ctx, span := tracing.StartClient(ctx, "upstream.", string(r.op))
	defer span.End()
	got, err := c.exchange(ctx, via, r, token)
	c.trace(span, r, got)
	status := 0
	if got != nil {
		status = got.status
	}
	c.observe(r.op, status, time.Since(start))
	return got, err
}

// trace sets the attributes of an exchange's span. Addresses and errors may contain secrets, so they are not copied.
func (c *Client) trace(span tracing.Span, r *request, got *httpAnswer) {
	span.Text("larder.connection", c.cfg.Name)
	span.Text("larder.operation", string(r.op))
	span.Text("http.request.method", r.method)
	switch {
	case got == nil:
		span.Fail("no_answer")
	case got.bodyErr != nil:
		span.Fail("no_whole_answer")
	case got.status >= http.StatusBadRequest:
		span.Fail(strconv.Itoa(got.status))
	}
	if got != nil {
		span.Number("http.response.status_code", got.status)
	}
}

// roundTrip sends a request, as http.RoundTripper does.
type roundTrip func(*http.Request) (*http.Response, error)

func (c *Client) exchange(ctx context.Context, via roundTrip, r *request, token *oauth2.Token) (*httpAnswer, error) {
	header := http.Header{"Accept": {"application/json"}, "User-Agent": {"larder"}}
	maps.Copy(header, r.header)
	if token != nil {
		header.Set("Authorization", "Bearer "+token.AccessToken)
	}
	if c.cfg.Traceparent {
		tracing.Inject(ctx, header)
	}
	req := (&http.Request{
		Method:        r.method,
		URL:           r.url,
		Host:          r.url.Host,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		ContentLength: int64(len(r.body)),
	}).WithContext(ctx)
	// GetBody stays nil, so that net/http cannot send the request twice. NopCloser does not change how net/http sends
	// the body: together with the header. Otherwise a service that answers after the header and closes could break the
	// write of the body, and its answer would be lost.
	if len(r.body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(r.body))
	}
	res, err := via(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	got := &httpAnswer{status: res.StatusCode, header: res.Header, token: token}
	if got.status < http.StatusOK { // e.g. 101: the following data is not a body and may not end
		return got, nil
	}
	limit := r.limit
	more, _ := ctx.Value(roomKey{}).(func(int64) bool)
	if got.status >= http.StatusBadRequest {
		limit, more = min(limit, maxAnswerBytes), nil // the beginning of an error is enough (policy W14)
	}
	got.body, got.bodyErr = readBody(res, limit, more)
	got.bodyErr = clearText(got.bodyErr)
	if limit < r.limit && errors.Is(got.bodyErr, ErrTooLarge) {
		got.bodyErr = nil
	}
	return got, nil
}

// readBody reads at most limit bytes, or what more allows, and decompresses gzip (policies W11, W15). The beginning of a
// longer error is returned together with ErrTooLarge.
func readBody(res *http.Response, limit int64, more func(announced int64) bool) ([]byte, error) {
	var from io.Reader = res.Body
	switch coding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
		if res.ContentLength > limit && (more == nil || !more(res.ContentLength)) {
			return nil, ErrTooLarge
		}
		limit = max(limit, res.ContentLength)
	case "gzip", "x-gzip":
		if res.ContentLength == 0 || res.StatusCode == http.StatusNoContent ||
			res.StatusCode == http.StatusNotModified {
			drain(res.Body)
			return nil, nil
		}
		unpacked, err := gzip.NewReader(&io.LimitedReader{R: res.Body, N: limit + 1})
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		from = unpacked
	default:
		drain(res.Body)
		return nil, fmt.Errorf("%w: its content encoding is neither gzip nor identity", errResponse)
	}
	return readAll(from, limit)
}

// drain reads a body that is not used, so that a complete response is known to be complete (policy O17).
func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, maxAnswerBytes+1) }

// readAll reads to the end, or until it has more than limit bytes. It joins its chunks only if the body is accepted,
// so that a larger one costs no more memory than the limit (policy W15).
func readAll(from io.Reader, limit int64) ([]byte, error) {
	var full [][]byte
	chunk := make([]byte, 0, bytes.MinRead)
	for total := int64(0); ; {
		n, err := from.Read(chunk[len(chunk):cap(chunk)])
		chunk, total = chunk[:len(chunk)+n], total+int64(n)
		switch {
		case total > limit && limit > maxAnswerBytes:
			return nil, ErrTooLarge
		case total > limit:
			return slices.Concat(append(full, chunk)...)[:limit], ErrTooLarge
		case errors.Is(err, io.EOF) && len(full) == 0:
			return chunk, nil
		case errors.Is(err, io.EOF):
			return slices.Concat(append(full, chunk)...), nil
		case err != nil:
			return slices.Concat(append(full, chunk)...), err
		case len(chunk) == cap(chunk):
			full, chunk = append(full, chunk), make([]byte, 0, min(total, limit+1-total))
		}
	}
}
