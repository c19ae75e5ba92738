package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"larder/internal/menu"
	menusync "larder/sync"
)

// maxKnown bounds the ids that restaurant_not_found and restaurant_required list.
const maxKnown = 100

// restaurant finds the path's restaurant. One that the caller may not see is
// unknown to it.
func (s *Server) restaurant(c *gin.Context) (menusync.Restaurant, error) {
	who, _ := callerOf(c)
	return s.visibleRestaurant(who, param(c, "restaurant"))
}

// visibleRestaurant finds a restaurant that the caller may see.
func (s *Server) visibleRestaurant(who caller, id string) (menusync.Restaurant, error) {
	restaurant, known := s.runner.Known(menu.RestaurantID(id))
	if !known || !who.sees(restaurant.Connection) {
		return menusync.Restaurant{}, restaurantNotFound(s.visibleRestaurants(who))
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

// restaurantNotFound lists the ids that exist.
func restaurantNotFound(known []menu.RestaurantID) *problem {
	return restaurantProblem(CodeRestaurantNotFound, "there is no such restaurant; ", known)
}

// restaurantRequired lists the ids to choose from.
func restaurantRequired(known []menu.RestaurantID) *problem {
	return restaurantProblem(CodeRestaurantRequired, "name the restaurant; ", known)
}

// restaurantProblem lists at most a hundred of the ids, in the sentence and as
// params.
func restaurantProblem(code Code, msg string, known []menu.RestaurantID) *problem {
	ids := append([]menu.RestaurantID{}, known[:min(len(known), maxKnown)]...)
	params := map[string]any{"known": ids}
	switch {
	case len(known) == 0:
		msg += "none is configured"
	case len(known) > maxKnown:
		params["total"] = len(known)
		msg += "the first of " + strconv.Itoa(len(known)) + " that exist are: " + join(ids, ", ")
	default:
		msg += "there are: " + join(ids, ", ")
	}
	return &problem{code: code, msg: msg, params: params}
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
