package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
)

// order answers GET /v1/orders/{orderID}: the journal's record. Orders of
// connections that the caller does not see are unknown to it.
func (s *Server) order(c *gin.Context) {
	connections, err := s.asked(c)
	if err != nil {
		fail(c, err)
		return
	}
	record, err := s.orders.ByOrderID(c.Request.Context(), connections, param(c, "orderID"))
	if err != nil {
		fail(c, err)
		return
	}
	answer(c, http.StatusOK, result{viewOf(record)})
}

// orderByKey answers GET /v1/orders?key=: the record of what the caller asked
// for under that key. A guest's page learns what a guest may (policy H3).
func (s *Server) orderByKey(c *gin.Context) {
	connections, err := s.asked(c)
	if err != nil {
		fail(c, err)
		return
	}
	key, wrong := bareKey(c, c.Query("key"))
	if wrong != "" {
		fail(c, invalid("key", "is the Idempotency-Key of an order, which "+wrong))
		return
	}
	who, _ := callerOf(c)
	record, err := s.orders.ByKey(c.Request.Context(), connections, who.Client, key)
	switch {
	case err != nil:
		fail(c, err)
	case isGuest(c):
		answer(c, http.StatusOK, result{viewForGuest(record)})
	default:
		answer(c, http.StatusOK, result{viewOf(record)})
	}
}

// asked are the connections whose orders a request is about: the one of
// ?connection=, else all that the caller sees.
func (s *Server) asked(c *gin.Context) ([]string, error) {
	who, _ := callerOf(c)
	seen := s.seen(who)
	name, given := c.GetQuery("connection")
	if !given {
		return seen, nil
	}
	if !slices.Contains(seen, name) {
		return nil, connectionNotFound(seen)
	}
	return []string{name}, nil
}

// seen are the names of the connections that the caller sees, in their order.
func (s *Server) seen(who caller) []string {
	names := make([]string, 0, len(s.connections))
	for _, connection := range s.connections {
		if who.sees(connection.Name) {
			names = append(names, connection.Name)
		}
	}
	return names
}
