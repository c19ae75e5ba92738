package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/ordering"
)

// summarised is how many orders a summary counts one by one.
const summarised = 100

// summaryView is how the caller's restaurants and orders are, in numbers.
type summaryView struct {
	Restaurants int               `json:"restaurants"`
	States      map[condition]int `json:"states"`
	// UnknownOrders counts the orders to settle, up to a hundred: More says that
	// there are others. Null while the journal cannot be asked.
	UnknownOrders *int `json:"unknownOrders"`
	More          bool `json:"moreUnknownOrders"`
}

// summary answers GET /v1/ops/summary, the states from memory.
func (s *Server) summary(c *gin.Context) {
	who, _ := callerOf(c)
	visible := s.visible(who)
	view := summaryView{Restaurants: len(visible), States: map[condition]int{}}
	for _, one := range conditions() {
		view.States[one] = 0
	}
	for _, restaurant := range visible {
		version, has := s.replica.Version(restaurant.ID)
		all := s.conditionsOf(version, has)
		for _, one := range conditions() {
			if meets(all, one) {
				view.States[one]++
			}
		}
	}
	query := ordering.Query{Connections: s.seen(who), State: ordering.StateUnknown, Limit: summarised}
	records, next, err := s.orders.List(c.Request.Context(), query)
	if err != nil {
		s.log.WithFields(logrus.Fields{"event": "ops.summary", "requestId": idOf(c)}).WithError(err).Debug("orders cannot be counted")
	} else {
		count := len(records)
		view.UnknownOrders, view.More = &count, next != ""
	}
	answer(c, http.StatusOK, result{view})
}
