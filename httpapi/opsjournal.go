package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"
)

// acceptance is the answer of POST /v1/ops/journal/accept.
type acceptance struct {
	Connection string `json:"connection"`
	Accepted   bool   `json:"accepted"` // false: its creates were not paused
}

// acceptJournal answers POST /v1/ops/journal/accept: new orders of a connection
// are placed again although Redis was restored or has lost orders (policy O14a).
func (s *Server) acceptJournal(c *gin.Context) {
	connection, err := s.reasonsOf(c)
	if err != nil {
		fail(c, err)
		return
	}
	accepted, err := s.orders.AcceptRestore(c.Request.Context(), connection)
	if err != nil {
		fail(c, err)
		return
	}
	if accepted {
		who, _ := callerOf(c)
		s.log.WithFields(logrus.Fields{
			"event": "journal.accept", "requestId": idOf(c), "client": who.Client, "connection": connection,
		}).Warn("a restored journal was accepted: new orders are placed again")
		s.note(c, deed{Action: actionAcceptRestore, Connection: orNull(connection)})
	}
	answer(c, http.StatusOK, result{acceptance{connection, accepted}})
}
