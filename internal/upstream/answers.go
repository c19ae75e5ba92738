package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/oauth2"

	"larder/internal/jsontext"
)

// maxDepth is how deep an answer may nest before it counts as no JSON.
const maxDepth = 64

// responseBody is the part of an answer that larder reads, names in any spelling
// (policy W3).
type responseBody struct {
	json      bool // the body is well-formed JSON
	result    string
	hasResult bool   // and it is not null
	orderID   string // of the result, else of the body itself
	code, msg string
	requestID string
}

// isErrorShape reports whether the body is the interface's error shape: code and
// msg (docs/ordering-service.md, section 7).
func (d responseBody) isErrorShape() bool { return d.code != "" && d.msg != "" }

// readResponseBody reads an answer's body; the zero value if it is not JSON.
func readResponseBody(body []byte) responseBody {
	d := responseBody{json: true}
	r := jsontext.NewReader(string(body), maxDepth)
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			d.hasResult = r.Kind() != jsontext.KindNull
			d.result = r.Raw()
		case "orderid":
			d.orderID, _ = r.ID()
		case "code":
			d.code, _ = r.ID()
		case "msg":
			d.msg, _ = r.Text()
		case "requestid":
			d.requestID, _ = r.ID()
		}
	}
	if r.Err() != nil {
		return responseBody{}
	}
	if d.hasResult {
		inner := jsontext.NewReader(d.result, maxDepth)
		for name := range inner.Members() {
			if jsontext.FoldName(name) == "orderid" {
				d.orderID, _ = inner.ID()
			}
		}
	}
	return d
}

// readReasons reads {"result":[…]} or a bare array of reasons; null means none.
func readReasons(body []byte) ([]Reason, error) {
	text, err := jsontext.Check(string(body), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrResponse, err)
	}
	r := jsontext.NewReader(text, maxDepth)
	if r.Kind() == jsontext.KindObject {
		text = ""
		for name := range r.Members() {
			if jsontext.FoldName(name) == "result" {
				text = r.Raw()
			}
		}
		if text == "" {
			return nil, fmt.Errorf("%w: rejection reasons without result", ErrResponse)
		}
		r = jsontext.NewReader(text, maxDepth)
	}
	reasons := []Reason{}
	if kind := r.Kind(); kind != jsontext.KindArray && kind != jsontext.KindNull {
		return nil, fmt.Errorf("%w: rejection reasons are no array", ErrResponse)
	}
	for i := range r.Elements() {
		if r.Kind() != jsontext.KindObject {
			return nil, fmt.Errorf("%w: rejection reason %d is no object", ErrResponse, i)
		}
		reasons = append(reasons, readReason(&r))
	}
	return reasons, nil
}

func readReason(r *jsontext.Reader) (reason Reason) {
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "id":
			reason.ID, _ = r.ID()
		case "reason":
			reason.Reason, _ = r.Text()
		case "type":
			reason.Type, _ = r.Text()
		case "ispossibledelete":
			reason.IsPossibleDelete, _ = r.Bool()
		}
	}
	return reason
}

// retryAfter reads the header: seconds or a date; 0 for none or nonsense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// failure makes an Error of an answer: the service's words where it has the
// document's shape, the body, Retry-After, and whether a read may
// be tried again. What it means for a call that writes is judged by write.
func (c *Client) failure(op Operation, got *answer, cause error, tokens ...*oauth2.Token) *Error {
	d := readResponseBody(got.body)
	e := &Error{
		Operation: op, Status: got.status,
		Code:        clip(c.redact(d.code, tokens...), maxCodeBytes),
		Msg:         clip(c.redact(d.msg, tokens...), maxTextBytes),
		RequestID:   clip(c.redact(d.requestID, tokens...), maxCodeBytes),
		ContentType: got.contentType(),
		RetryAfter:  retryAfter(got.header, c.clock()),
		Err:         cause,
	}
	e.Body, e.Cut = c.storedBody(got, tokens...)
	switch {
	case got.status >= 500, got.status == http.StatusRequestTimeout:
		e.again, e.fault = true, true
	case got.status == http.StatusTooManyRequests:
		e.again = true
	case cause != nil && !errors.Is(cause, ErrTooLarge) && !errors.Is(cause, ErrResponse):
		e.again, e.fault = true, true // the body broke off
	}
	return e
}

// noResponse makes an Error of a request that got no answer.
func (c *Client) noResponse(op Operation, err error) *Error {
	return &Error{Operation: op, Err: err, again: true, fault: !errors.Is(err, context.Canceled)}
}

// sendWatch knows the connection of one request, so that it can report whether any
// byte of it may have been sent (policy O8, "nothing written").
type sendWatch struct {
	conn atomic.Pointer[net.Conn] // nil: the request got none
}

// watch returns a context whose request is watched.
func (w *sendWatch) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { w.conn.Store(&info.Conn) },
	})
}

// nothingSent reports whether certainly no byte of the request was sent. Each
// attempt has one connection of its own, so all that it carried is the attempt's.
func (w *sendWatch) nothingSent() bool {
	conn := w.conn.Load()
	if conn == nil {
		return true
	}
	counted, ok := (*conn).(*countingConn) // another one, of TLS behind a proxy, does not count
	return ok && counted.written.Load() == 0
}

// certaintyOf returns the certainty of an answer to a call that writes (policies O8,
// W13); nil means done.
func (c *Client) certaintyOf(op Operation, got *answer, used *oauth2.Token) *Error {
	d := readResponseBody(got.body)
	if got.bodyErr != nil {
		d = responseBody{} // half a body says nothing
	}
	if got.status >= 200 && got.status <= 299 && done(op, got, d) {
		return nil
	}
	e := c.failure(op, got, got.bodyErr, used)
	e.again = false
	switch s := got.status; {
	case s >= 200 && s <= 299:
		if op != OpCreate && d.isErrorShape() {
			// The interface does not show the status of a failed payment: its
			// error shape is a no, whatever the status.
			e.refused = true
			return e
		}
		e.Effect = EffectUnknown
		if e.Err == nil {
			e.Err = fmt.Errorf("%w: a success that says nothing certain", ErrResponse)
		}
	case s == http.StatusUnauthorized: // a second time: turned away, not judged
	case s == http.StatusTooManyRequests,
		s == http.StatusServiceUnavailable && *c.cfg.RetryUnavailable:
		e.again = true
	case s == http.StatusRequestTimeout:
		e.Effect = EffectUnknown
	case s >= 300 && s <= 499:
		e.refused = true
	case s >= 500 && s <= 599 && d.isErrorShape():
		e.refused = true
	default:
		e.Effect = EffectUnknown
	}
	return e
}

// done reports whether a 2xx answer says that the call took effect: a created
// order has its id; of the others any JSON or nothing will do, unless it is
// the interface's error shape (policy W13).
func done(op Operation, got *answer, d responseBody) bool {
	switch {
	case got.bodyErr != nil:
		return false
	case op == OpCreate:
		return d.orderID != ""
	case len(got.body) == 0:
		return true
	default:
		return d.json && (d.hasResult || !d.isErrorShape())
	}
}

// redacted stands where a secret stood.
const redacted = "[redacted]"

// redact removes the client's secret and the given tokens from text that came
// from the service, in any of their spellings (policy W14).
func (c *Client) redact(text string, tokens ...*oauth2.Token) string {
	secrets := []string{c.cfg.ClientSecret}
	for _, token := range tokens {
		if token != nil {
			secrets = append(secrets, token.AccessToken)
		}
	}
	for _, secret := range secrets {
		switch {
		case len(secret) < minSecret, !mayContain(text, secret):
		case len(secret) <= maxSpelled:
			text = spellings(secret).ReplaceAllLiteralString(text, redacted)
		default:
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	return text
}

// minSecret is the shortest secret that is looked for: to take every "t" out of
// a text hides nothing and leaves nothing to read.
const minSecret = 4

// maxSpelled is the longest secret that is looked for in other spellings;
// beyond what a header holds, only as it is.
const maxSpelled = 16 << 10

// mayContain reports in one pass, before anything is compiled, whether the text may
// hold the secret: no spelling is shorter than it, and its letters and digits
// stand for themselves in each.
func mayContain(text, secret string) bool {
	if len(text) < len(secret) {
		return false
	}
	longest := ""
	for _, run := range strings.FieldsFunc(secret, func(c rune) bool { return !plain(c) }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return strings.Contains(text, longest)
}

// plain reports whether a character is spelled as itself everywhere.
func plain(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// otherSpellings are patterns of a form's and of HTML's own spellings.
//
//nolint:gochecknoglobals // read only
var otherSpellings = map[rune]string{
	' ': `\+`, '&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\'': "&apos;",
}

// spellings matches a secret as it is, and as forms, addresses, JSON and HTML
// may spell what is no letter and no digit.
func spellings(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, c := range secret {
		if plain(c) {
			b.WriteRune(c)
			continue
		}
		literal := regexp.QuoteMeta(string(c))
		fmt.Fprintf(&b, `(?:%s|\\%s|(?i:`, literal, literal)
		for _, octet := range []byte(string(c)) {
			fmt.Fprintf(&b, `%%%02x`, octet)
		}
		b.WriteByte('|')
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, `\\u%04x`, unit)
		}
		fmt.Fprintf(&b, `|&#0*%d;|&#x0*%x;)`, c, c)
		if other, ok := otherSpellings[c]; ok {
			b.WriteString("|" + other)
		}
		b.WriteByte(')')
	}
	return regexp.MustCompile(b.String())
}

// storedBody returns what is kept of an answer's body: without secrets, at most
// MaxErrorBytes, whole characters. cut reports whether that is not the whole body.
func (c *Client) storedBody(got *answer, tokens ...*oauth2.Token) (body []byte, cut bool) {
	cut = got.bodyErr != nil
	if len(got.body) == 0 {
		return nil, cut
	}
	text := c.redact(string(got.body), tokens...) // before the cut, so that none is cut in two
	kept := clip(text, MaxErrorBytes)
	return []byte(kept), cut || len(kept) < len(text)
}

// clip returns a text's beginning, at most that many bytes, whole characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
