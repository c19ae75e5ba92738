package httpapi

import (
	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/internal/directory"
	"larder/internal/menu"
)

// restaurant finds the path's restaurant. One that the caller may not see is
// unknown to it.
func (s *Server) restaurant(c *gin.Context) (directory.Restaurant, error) {
	who, _ := auth.CallerOf(c)
	return s.visibleRestaurant(who, respond.Param(c, "restaurant"))
}

// visibleRestaurant finds a restaurant that the caller may see.
func (s *Server) visibleRestaurant(who auth.Caller, id string) (directory.Restaurant, error) {
	restaurant, ok := s.directory.Find(who.Viewer(), menu.RestaurantID(id))
	if !ok {
		return directory.Restaurant{}, respond.RestaurantNotFound(s.directory.Visible(who.Viewer()))
	}
	return restaurant, nil
}

// connection finds a connection by its name.
func (s *Server) connection(name string) Connection {
	for _, connection := range s.connections {
		if connection.Name == name {
			return connection
		}
	}
	return Connection{Name: name}
}
