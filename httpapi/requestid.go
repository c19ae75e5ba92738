package httpapi

import (
	"math/rand/v2"

	"github.com/gin-gonic/gin"
)

const (
	headerRequestID = "X-Request-Id"
	maxRequestID    = 128
	madeRequestID   = 26
)

// requestID takes the caller's X-Request-Id if it is sane (1 to 128 visible
// ASCII characters), else makes one of 26 characters.
func requestID(sent string) string {
	if sane(sent) {
		return sent
	}
	return string(newRequestID(make([]byte, 0, madeRequestID)))
}

// newRequestID appends a new id: 26 letters and digits of base32, 130 bits. It
// need not be kept from guessing, only be another one each time.
func newRequestID(dst []byte) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var dice uint64
	for i := range madeRequestID {
		if i%12 == 0 {
			dice = rand.Uint64() //nolint:gosec // ChaCha8 of the runtime, seeded by the system
		}
		dst = append(dst, digits[dice%32])
		dice /= 32
	}
	return dst
}

func sane(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// idOf is the request's id, which the edge has put into the answer's header.
func idOf(c *gin.Context) string { return c.Writer.Header().Get(headerRequestID) }
