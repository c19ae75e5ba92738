package httpapi

import (
	"net"

	"github.com/sirupsen/logrus"

	"larder/httpapi/express"
)

// Express puts the express lane before a test's listener.
func (s *Server) Express(inner net.Listener) *express.Listener { return s.express(inner) }

// PlacesFor is how many connections are let in; 0 is no limit.
func PlacesFor(limit, files int, log logrus.FieldLogger) int {
	return newOpenConnections(limit, files, log).limit
}
