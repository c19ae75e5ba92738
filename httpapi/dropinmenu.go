package httpapi

import (
	"github.com/gin-gonic/gin"

	"larder/cache"
)

// dropInMenu answers GET /orders/api/v1/menu/view: the menu view as the
// ordering service published it, with every field that larder does not know. A
// body, which some clients send, is not read.
func (s *Server) dropInMenu(c *gin.Context) {
	connection, err := s.ownConnection(c)
	if err != nil {
		fail(c, err)
		return
	}
	named, err := restaurantOfQuery(c)
	if err != nil {
		fail(c, err)
		return
	}
	id, err := s.ownMenu(connection, named)
	if err != nil {
		fail(c, err)
		return
	}
	snapshot, err := s.replica.Catalogue(c.Request.Context(), id)
	if err != nil {
		fail(c, err)
		return
	}
	s.representation(c, snapshot, snapshot.PublishedAt, cache.PublishedMenu, func(encoding cache.Encoding) (*cache.Representation, error) {
		return s.replica.Published(c.Request.Context(), snapshot, encoding)
	})
}
