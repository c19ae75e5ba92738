package upstream

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/oauth2"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// redact removes the client's secret and the given tokens from text that came
// from the service, in any of their spellings (policy W14).
func (c *Client) redact(text string, tokens ...*oauth2.Token) string {
	secrets := []string{c.secret}
	for _, token := range tokens {
		if token != nil {
			secrets = append(secrets, token.AccessToken)
		}
	}
	for _, secret := range secrets {
		switch {
		case len(secret) < minSecret:
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

// maxSpelled is the longest secret that is looked for in other spellings; a
// longer one does not stand whole in what is kept of an answer.
const maxSpelled = 8 * maxKeptBytes

// spellings matches a secret as it is, and as forms, addresses, JSON and HTML
// may spell what is no letter and no digit.
func spellings(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, c := range secret {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
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
		switch c {
		case ' ':
			b.WriteString(`|\+`)
		case '&':
			b.WriteString(`|&amp;`)
		case '<':
			b.WriteString(`|&lt;`)
		case '>':
			b.WriteString(`|&gt;`)
		case '"':
			b.WriteString(`|&quot;`)
		case '\'':
			b.WriteString(`|&apos;`)
		}
		b.WriteByte(')')
	}
	return regexp.MustCompile(b.String())
}

// keep gives what an Error keeps of a body: its first 2 KiB, whole characters,
// without secrets.
func (c *Client) keep(body []byte, tokens ...*oauth2.Token) []byte {
	if len(body) == 0 {
		return nil
	}
	// More than is kept, so that a secret across the border is found.
	text := c.redact(string(body[:min(len(body), 8*maxKeptBytes)]), tokens...)
	if len(text) <= maxKeptBytes {
		return []byte(text)
	}
	end := maxKeptBytes
	for end > maxKeptBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return []byte(text[:end])
}
