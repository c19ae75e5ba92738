package menus

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"larder/httpapi/visible"
)

// reasonsTimeout bounds how long a list of reasons waits for Redis before it
// answers from memory.
const reasonsTimeout = time.Second

// RejectionReasons answers GET /v1/rejection-reasons; ?connection= where
// several are configured.
func (h *Handlers) RejectionReasons(c *gin.Context) error {
	name, given := c.GetQuery("connection")
	connection, err := visible.Connection(c, h.directory, name, given)
	if err != nil {
		return err
	}
	return h.Reasons(c, connection)
}

// Reasons answers with a connection's reasons, under the interface
// document's field names.
func (h *Handlers) Reasons(c *gin.Context, connection string) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), reasonsTimeout)
	defer cancel()
	raw, err := h.replica.Reasons(ctx, connection)
	if err != nil {
		return err
	}
	body := append(make([]byte, 0, len(raw)+12), `{"result":`...)
	return h.answerHashed(c, append(append(body, raw...), '}'))
}
