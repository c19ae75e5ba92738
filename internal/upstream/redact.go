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
