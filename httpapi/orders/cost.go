package orders

import (
	"bytes"

	"github.com/gin-gonic/gin"

	"larder/httpapi/ratelimit"
)

// What an order takes of its rate limit beside the first token: another one for
// each of these. An ordinary order is far below both.
const (
	bytesPerToken = 8 << 10
	linesPerToken = 500
)

// Tokens returns how many tokens checking the order takes: it costs by the
// size of the body and the number of its lines, dishes and ingredients (policy
// H7). Lines are counted by their opening brackets, before anything is decoded.
func Tokens(body []byte) int {
	return 1 + len(body)/bytesPerToken + bytes.Count(body, []byte("{"))/linesPerToken
}

// chargeOrder takes what an order's size costs beside the token that the
// request has taken on arrival.
func (h *Handlers) chargeOrder(c *gin.Context, l *ratelimit.Limiter, body []byte) {
	if more := Tokens(body) - 1; more > 0 {
		l.Charge(ratelimit.AddressKey(h.Auth.ClientIP(c)), more)
	}
}
