package httpapi

import (
	"crypto/rand"

	"github.com/gin-gonic/gin"
)

const (
	headerRequestID = "X-Request-Id"
	maxRequestID    = 128
)

// requestID takes the caller's X-Request-Id if it is sane (1 to 128 visible
// ASCII characters), else makes one of 26 characters.
func requestID(sent string) string {
	if sane(sent) {
		return sent
	}
	return rand.Text()
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
