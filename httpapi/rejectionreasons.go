package httpapi

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
)

// rejectionReasons answers GET /v1/rejection-reasons; ?connection= where
// several are configured.
func (s *Server) rejectionReasons(c *gin.Context) error {
	name, given := c.GetQuery("connection")
	connection, err := s.chooseConnection(c, name, given)
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

// chooseConnection returns the connection asked for, or the only one that the
// caller sees if none is given.
func (s *Server) chooseConnection(c *gin.Context, asked string, given bool) (string, error) {
	who, _ := auth.CallerOf(c)
	if !given {
		return s.onlyConnection(who, "ask with ?connection= for")
	}
	if names := s.directory.Connections(who.Viewer()); !slices.Contains(names, asked) {
		return "", respond.ConnectionNotFound(names)
	}
	return asked, nil
}
