package httpapi

import (
	"strconv"
	"strings"

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
		return menusync.Restaurant{}, s.unknownRestaurant(who)
	}
	return restaurant, nil
}

// visible are the restaurants that the caller may see, in the configured order.
func (s *Server) visible(who caller) []menusync.Restaurant {
	all := s.runner.Restaurants()
	if who.Connection == "" {
		return all
	}
	var seen []menusync.Restaurant
	for _, restaurant := range all {
		if who.sees(restaurant.Connection) {
			seen = append(seen, restaurant)
		}
	}
	return seen
}

// unknownRestaurant lists the ids that exist, for this caller.
func (s *Server) unknownRestaurant(who caller) error {
	visible := s.visible(who)
	known := make([]menu.RestaurantID, len(visible))
	for i, restaurant := range visible {
		known[i] = restaurant.ID
	}
	return restaurantNotFound(known)
}

// restaurantNotFound lists the ids that exist.
func restaurantNotFound(known []menu.RestaurantID) *problem {
	ids, params := listOf(known)
	p := &problem{code: CodeRestaurantNotFound, params: params}
	switch {
	case len(known) == 0:
		p.msg = "there is no such restaurant; none is configured"
	case len(known) > maxKnown:
		p.msg = "there is no such restaurant; the first of " + strconv.Itoa(len(known)) + " that exist are: " + ids
	default:
		p.msg = "there is no such restaurant; there are: " + ids
	}
	return p
}

// restaurantRequired lists the ids to choose from.
func restaurantRequired(known []menu.RestaurantID) *problem {
	ids, params := listOf(known)
	p := &problem{code: CodeRestaurantRequired, msg: "name the restaurant, one of: " + ids, params: params}
	if len(known) > maxKnown {
		p.msg = "name the restaurant; the first of " + strconv.Itoa(len(known)) + " are: " + ids
	}
	return p
}

// listOf gives at most a hundred of the ids, in a text and as params.
func listOf(known []menu.RestaurantID) (text string, params map[string]any) {
	ids := make([]string, min(len(known), maxKnown))
	for i := range ids {
		ids[i] = string(known[i])
	}
	params = map[string]any{"known": ids}
	if len(known) > maxKnown {
		params["total"] = len(known)
	}
	return strings.Join(ids, ", "), params
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
