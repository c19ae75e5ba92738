package httpapi

import (
	"context"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// rejectionReasons answers GET /v1/rejection-reasons; ?connection= where
// several are configured.
func (s *Server) rejectionReasons(c *gin.Context) {
	connection, err := s.reasonsOf(c)
	if err != nil {
		fail(c, err)
		return
	}
	s.answerReasons(c, connection)
}

// answerReasons answers with a connection's reasons, under the interface
// document's field names.
func (s *Server) answerReasons(c *gin.Context, connection string) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), statusTimeout)
	defer cancel()
	raw, err := s.replica.Reasons(ctx, connection)
	if err != nil {
		fail(c, err)
		return
	}
	body := append(make([]byte, 0, len(raw)+12), `{"result":`...)
	s.answerHashed(c, append(append(body, raw...), '}'))
}

// reasonsOf chooses the connection: the one asked for, else the only one that
// the caller sees.
func (s *Server) reasonsOf(c *gin.Context) (string, error) {
	asked, given := c.GetQuery("connection")
	return s.chooseConnection(c, asked, given)
}

// chooseConnection returns the connection asked for, or the only one that the
// caller sees if none is given.
func (s *Server) chooseConnection(c *gin.Context, asked string, given bool) (string, error) {
	who, _ := callerOf(c)
	names := s.seen(who)
	switch {
	case given && slices.Contains(names, asked):
		return asked, nil
	case given, len(names) == 0:
		return "", connectionNotFound(names)
	case len(names) == 1:
		return names[0], nil
	default:
		return "", &problem{
			code: CodeConnectionRequired, msg: "several connections are configured; ask with ?connection= for one of: " + strings.Join(names, ", "),
			params: map[string]any{"known": names},
		}
	}
}

// connectionNotFound lists the connections that there are, for this caller.
func connectionNotFound(names []string) *problem {
	p := &problem{
		code: CodeConnectionNotFound, msg: "there is no such connection; there are: " + strings.Join(names, ", "),
		params: map[string]any{"known": names},
	}
	if len(names) == 0 {
		p.msg = "no connection is configured"
	}
	return p
}
