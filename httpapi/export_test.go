package httpapi

import (
	"net"

	"larder/httpapi/express"
)

// Express puts the express lane before a test's listener.
func (s *Server) Express(inner net.Listener) *express.Listener { return s.express(inner) }
