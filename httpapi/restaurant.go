package httpapi

import (
	"github.com/gin-gonic/gin"

	"larder/httpapi/respond"
	"larder/internal/menu"
	menusync "larder/sync"
)

// restaurant finds the path's restaurant. One that the caller may not see is
// unknown to it.
func (s *Server) restaurant(c *gin.Context) (menusync.Restaurant, error) {
	who, _ := callerOf(c)
	return s.visibleRestaurant(who, respond.Param(c, "restaurant"))
}

// visibleRestaurant finds a restaurant that the caller may see.
func (s *Server) visibleRestaurant(who caller, id string) (menusync.Restaurant, error) {
	restaurant, known := s.runner.Known(menu.RestaurantID(id))
	if !known || !who.sees(restaurant.Connection) {
		return menusync.Restaurant{}, respond.RestaurantNotFound(s.visibleRestaurants(who))
	}
	return restaurant, nil
}

// visibleRestaurants returns the ids of the restaurants that the caller may see, in the
// configured order.
func (s *Server) visibleRestaurants(who caller) []menu.RestaurantID {
	ids := []menu.RestaurantID{}
	for _, restaurant := range s.runner.Restaurants() {
		if who.sees(restaurant.Connection) {
			ids = append(ids, restaurant.ID)
		}
	}
	return ids
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
