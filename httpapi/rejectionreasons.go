package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/httpapi/visible"
)

// rejectionReasons answers GET /v1/rejection-reasons; ?connection= where
// several are configured.
func (s *Server) rejectionReasons(c *gin.Context) error {
	name, given := c.GetQuery("connection")
	connection, err := visible.Connection(c, s.directory, name, given)
	if err != nil {
		return err
	}
	return s.answerReasons(c, connection)
}

// answerReasons answers with a connection's reasons, under the interface
// document's field names.
func (s *Server) answerReasons(c *gin.Context, connection string) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), statusTimeout)
	defer cancel()
	raw, err := s.replica.Reasons(ctx, connection)
	if err != nil {
		return err
	}
	body := append(make([]byte, 0, len(raw)+12), `{"result":`...)
	return s.answerHashed(c, append(append(body, raw...), '}'))
}
