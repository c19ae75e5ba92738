package respond

import (
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
	// minPublicKey is the shortest key that can hold 128 random bits, in
	// base64. A guest's key is all that protects the order's state (policy H3).
	minPublicKey = 22
)

// IdempotencyKey reads the key of a request that changes something: 1 to 255
// printable characters, bare or quoted (policy O7). "" only where none is
// required and none was sent. guest is whether the request has no token.
func IdempotencyKey(c *gin.Context, required, guest bool) (string, error) {
	sent := c.Request.Header.Values(headerKey)
	switch {
	case len(sent) > 1:
		return "", keyRequired("send one Idempotency-Key, not several")
	case len(sent) == 1:
		key, wrong := BareKey(sent[0], guest)
		if wrong != "" {
			return "", keyRequired("the Idempotency-Key " + wrong)
		}
		return key, nil
	case required || guest:
		return "", keyRequired("send an Idempotency-Key: a new random one for each order, and the same one again to learn what became of it")
	default:
		return "", nil
	}
}

func keyRequired(msg string) error {
	return &Problem{Code: CodeIdempotencyKeyRequired, Msg: msg}
}

// BareKey strips the quotes of a key; wrong says what is wrong with it.
func BareKey(sent string, guest bool) (key, wrong string) {
	key = strings.TrimSpace(sent)
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	switch {
	case key == "" || len(key) > maxKey || !IsASCII(key, ' '):
		return "", "has 1 to 255 printable ASCII characters"
	case guest && len(key) < minPublicKey:
		return "", "has at least 128 random bits where there is no token: 22 characters or more"
	default:
		return key, ""
	}
}
