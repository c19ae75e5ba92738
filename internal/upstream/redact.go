package upstream

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/oauth2"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// redact removes the client's secret and the given tokens from text that came
// from the service, as they are and as forms and JSON spell them (policy W14).
func (c *Client) redact(text string, tokens ...*oauth2.Token) string {
	secrets := []string{c.secret}
	for _, token := range tokens {
		if token != nil {
			secrets = append(secrets, token.AccessToken)
		}
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := string(appendText(nil, secret))
		for _, form := range []string{
			secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1],
		} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
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
