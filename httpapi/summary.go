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

// summary answers GET /v1/ops/summary, the states from memory; ?q= are words as
// of the list, whose restaurants are counted then.
func (s *Server) summary(c *gin.Context) {
	text, err := searchText(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	view := s.standings().count(who, searchWords(text))
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

// count counts the caller's restaurants in which every word occurs, and those
// in each state.
func (s *standings) count(who caller, words []string) summaryView {
	view := summaryView{States: map[condition]int{}}
	var of [everyCondition + 1]int // restaurants in each set of conditions
	for at, one := range s.of.all {
		if who.sees(one.Connection) && one.named(words) {
			of[s.all[at]]++
			view.Restaurants++
		}
	}
	for _, state := range filters() {
		view.States[state] = 0
		for set, n := range of {
			if conditions(set).meets(state) {
				view.States[state] += n
			}
		}
	}
	return view
}
