package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/oauth2"

	"larder.local/internal/jsontext"
)

// maxDepth is the maximum nesting depth of an answer; a deeper one counts as invalid JSON.
const maxDepth = 64

// maxOrderID is the length of the longest orderID that is believed.
const maxOrderID = 256

// responseBody contains the parts of an answer that larder reads, with names in any spelling (policy W3).
type responseBody struct {
	json    bool // the body is well-formed JSON
	result  string
	orderID string // in the result, otherwise in the body itself; empty if there are different ones
	twoIDs  bool   // there are different ones
	// code, msg, requestID and success are those of the body, otherwise those of the result.
	code, msg string
	requestID string
	failed    bool // success is false, 0 or no, also as a text
}

// isErrorShape reports whether the body has the error shape of the interface: code and msg
// (docs/ordering-service.md, section 7). Codes of successes, which some services send, are no error.
func (d responseBody) isErrorShape() bool {
	code := strings.ToLower(strings.TrimSpace(d.code))
	return d.msg != "" && code != "" && code != "ok" && code != "success" && !isNumber(code, 0, 0) && !isNumber(code, 200, 299)
}

// namesError reports whether the body has the code of an error, with or without a text.
func (d responseBody) namesError() bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(d.code)), "err")
}

// isNumber reports whether a text is a spelling of a number in a range.
func isNumber(text string, least, most float64) bool {
	if text == "" || strings.Trim(text, "0123456789.e+-") != "" { // the error of ParseFloat allocates
		return false
	}
	number, err := strconv.ParseFloat(text, 64)
	return err == nil && number >= least && number <= most
}

// readResponseBody decodes an answer's body; it returns the zero value if the body is not JSON.
func readResponseBody(body []byte) responseBody {
	d := responseBody{json: true}
	if !d.read(jsontext.String(body)) {
		return responseBody{}
	}
	var inner responseBody
	inner.read(d.result)
	d.twoIDs = d.twoIDs || inner.twoIDs || d.orderID != "" && inner.orderID != "" && d.orderID != inner.orderID
	d.orderID, d.failed = cmp.Or(inner.orderID, d.orderID), d.failed || inner.failed
	if d.twoIDs {
		d.orderID = ""
	}
	if !d.isErrorShape() && (inner.isErrorShape() || inner.namesError() && !d.namesError()) {
		d.code, d.msg, d.requestID = inner.code, inner.msg, cmp.Or(inner.requestID, d.requestID)
	}
	return d
}

// read reads the members of an object. It reports whether the text is well-formed.
func (d *responseBody) read(text string) bool {
	r := jsontext.NewReader(text, maxDepth)
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			d.result = r.Raw()
		case "orderid":
			id, _ := r.ID()
			if strings.Trim(id, "0.-+ ") == "" || isNumber(id, 0, 0) || len(id) > maxOrderID {
				continue // a service that has no number: 0, an empty GUID (policy O17)
			}
			d.twoIDs = d.twoIDs || d.orderID != "" && d.orderID != id
			d.orderID = id
		case "code":
			d.code, _ = r.ID()
		case "msg":
			d.msg, _ = r.Text()
		case "requestid":
			d.requestID, _ = r.ID()
		case "success":
			d.failed = d.failed || slices.Contains([]string{"false", "0", "no"}, strings.ToLower(strings.Trim(r.Raw(), `" `)))
		}
	}
	return r.Err() == nil
}

// readReasons decodes {"result":[…]} or a bare array of reasons; null means none.
func readReasons(body []byte) ([]Reason, error) {
	text, err := jsontext.Check(string(body), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errResponse, err)
	}
	r := jsontext.NewReader(text, maxDepth)
	if r.Kind() == jsontext.KindObject {
		var d responseBody
		if d.read(text); d.result == "" {
			return nil, fmt.Errorf("%w: the rejection reasons have no result", errResponse)
		}
		r = jsontext.NewReader(d.result, maxDepth)
	}
	reasons := []Reason{}
	if kind := r.Kind(); kind != jsontext.KindArray && kind != jsontext.KindNull {
		return nil, fmt.Errorf("%w: the rejection reasons are not an array", errResponse)
	}
	for i := range r.Elements() {
		if r.Kind() != jsontext.KindObject {
			return nil, fmt.Errorf("%w: rejection reason %d is not an object", errResponse, i)
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

// retryAfter parses the header: seconds or a date; it returns 0 if the header is missing or invalid.
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

// failure returns an Error with an answer's code, message, body (without secrets) and Retry-After. It decides whether a read
// may be retried, and whether the circuit breaker counts a failure. certaintyOf adds the effect of a call that writes.
func (c *Client) failure(op Operation, got *httpAnswer, cause error) *Error {
	d := readResponseBody(got.body)
	e := &Error{
		Operation:   op,
		Status:      got.status,
		Code:        clip(c.redact(d.code, got.token), maxCodeBytes),
		Msg:         clip(c.redact(d.msg, got.token), maxTextBytes),
		RequestID:   clip(c.redact(d.requestID, got.token), maxCodeBytes),
		ContentType: got.contentType(),
		RetryAfter:  retryAfter(got.header, c.clock()),
		Err:         cause,
	}
	e.Body, e.Cut = c.storedBody(got)
	incomplete := cause != nil && !errors.Is(cause, ErrTooLarge) && !errors.Is(cause, errResponse)
	limited := got.status == http.StatusTooManyRequests
	e.fault = got.status >= 500 || got.status == http.StatusRequestTimeout || incomplete && !limited
	e.again = e.fault || limited
	return e
}

func noResponse(op Operation, err error) *Error {
	return &Error{Operation: op, Err: advised(clearText(err)), again: true, fault: !errors.Is(err, context.Canceled)}
}

// clearError is an error with a text for people.
type clearError struct {
	error

	text string
}

// Error implements error.
func (e *clearError) Error() string { return e.text }

// Unwrap returns the error.
func (e *clearError) Unwrap() error { return e.error }

// clearText returns an error of net/http without the name of a function that it sometimes puts before it, and without
// quotations. It quotes malformed parts of a response, and a broken service may repeat a request there, with guest data or
// a secret. The errors of certificates quote no response.
func clearText(err error) error {
	if _, ofCertificate := errors.AsType[*tls.CertificateVerificationError](err); ofCertificate || err == nil {
		return err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "readLoopPeekFailLocked: "), `"`)
	if text = strings.TrimRight(text, ":; [("); text == err.Error() {
		return err
	}
	return &clearError{err, text}
}

var logCode = regexp.MustCompile(`^[A-Za-z0-9_. -]{1,64}$`)

// LogCode returns the service's error code for a log line: nothing if the text is longer than codes are, or has characters
// that codes do not have. A broken service may repeat a request there, with guest data.
func LogCode(code string) string { return logCode.FindString(code) }

// certaintyOf decides from an answer what effect a call that writes had (policies O8b, W13). It
// returns nil if the call is done, otherwise an Error with the Effect.
func (c *Client) certaintyOf(op Operation, got *httpAnswer) *Error {
	d, status := readResponseBody(got.body), got.status
	if got.bodyErr != nil {
		d = responseBody{} // an incomplete body proves nothing
	}
	success := status >= 200 && status <= 299
	if success && done(op, got, d) {
		if op == OpCreate {
			got.orderID = d.orderID
		}
		return nil
	}
	if success && op != OpCreate && (d.isErrorShape() || d.namesError() || d.failed) {
		status = http.StatusInternalServerError
	}
	e := c.failure(op, got, got.bodyErr)
	e.again = false
	switch {
	case refused(op, status, d, &c.cfg):
		e.Effect = EffectRefused
	case status == http.StatusUnauthorized: // the service rejected the token and did not process the call
	case status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status == http.StatusServiceUnavailable && c.cfg.RetryUnavailable:
		e.again = true
	default:
		e.Effect = EffectUnknown
		if success && e.Err == nil {
			e.Err = fmt.Errorf("%w: a success status without the expected body", errResponse)
		}
	}
	return e
}

// done reports whether a 2xx answer means that the call took effect. No answer may report an error. That to a new order must
// contain the order's id; that to a change may be empty, or any JSON (policies W13 and O8b).
func done(op Operation, got *httpAnswer, d responseBody) bool {
	switch {
	case got.bodyErr != nil:
		return false
	case op == OpCreate:
		return d.orderID != "" && !d.failed && !d.isErrorShape()
	case len(got.body) == 0:
		return true
	default:
		return d.json && !d.isErrorShape() && !d.namesError() && !d.failed
	}
}

// redacted replaces a secret.
const redacted = "[redacted]"

// redact removes the client's secret and the token, which may be nil, from text of the service, in any spelling
// (policy W14).
func (c *Client) redact(text string, token *oauth2.Token) string {
	text = withoutSecret(withoutSecret(text, c.cfg.ClientSecret), *c.secret.Load())
	if token != nil {
		text = withoutSecret(text, token.AccessToken)
	}
	return text
}

func withoutSecret(text, secret string) string {
	switch {
	case len(secret) < minSecret, !mayContain(text, secret):
		return text
	case len(secret) <= maxSpelled:
		return spellings(secret).ReplaceAllLiteralString(text, redacted)
	default:
		return strings.ReplaceAll(text, secret, redacted)
	}
}

// minSecret is the length of the shortest secret that is redacted. Redacting shorter secrets would
// hide nothing and make texts unreadable.
const minSecret = 4

// maxSpelled is the length of the longest secret that is also redacted in other spellings. A longer secret, which
// would not fit in a header, is redacted only as it is.
const maxSpelled = 16 << 10

// mayContain reports, without compiling a pattern, whether the text may contain the secret. Every spelling contains
// the secret's letters and digits unchanged.
func mayContain(text, secret string) bool {
	for run := range strings.FieldsFuncSeq(secret, func(c rune) bool { return !plain(c) }) {
		if !strings.Contains(text, run) {
			return false
		}
	}
	return true
}

// plain reports whether a character has only one spelling.
func plain(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// otherSpellings are patterns of spellings that only forms and HTML use.
//
//nolint:gochecknoglobals // read only
var otherSpellings = map[rune]string{
	' ':  `\+`,
	'&':  "&amp;",
	'<':  "&lt;",
	'>':  "&gt;",
	'"':  "&quot;",
	'\'': "&apos;",
}

// spellings returns a pattern that matches a secret as it is, and with other spellings of its
// special characters in forms, URLs, JSON and HTML.
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

// storedBody returns the part of an answer's body that is kept: without secrets, at most
// maxErrorBytes, in whole characters. cut reports whether the body was longer or incomplete.
func (c *Client) storedBody(got *httpAnswer) (body []byte, cut bool) {
	cut = got.bodyErr != nil
	if len(got.body) == 0 {
		return nil, cut
	}
	text := c.redact(jsontext.String(got.body), got.token) // before the cut, which could split a secret
	kept := clip(text, maxErrorBytes)
	return []byte(kept), cut || len(kept) < len(text)
}

// clip returns at most limit bytes from the beginning of a text, in whole characters.
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
