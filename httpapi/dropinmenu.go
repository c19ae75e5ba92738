package httpapi

import (
	"github.com/gin-gonic/gin"
)

// dropInMenu answers GET /orders/api/v1/menu/view: the menu view as the
// ordering service published it, with every field that larder does not know. A
// body, which some clients send, is not read.
func (s *Server) dropInMenu(c *gin.Context) {
	named, err := restaurantOfQuery(c)
	if err != nil {
		fail(c, err)
		return
	}
	s.readHot(c, &hotRead{kind: readView, restaurant: named})
}
