package orders

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/jsontext"
)

// acceptance is the response of POST /v1/ops/journal/accept.
type acceptance struct {
	Connection string `json:"connection"`
	Accepted   bool   `json:"accepted"` // false: orders were not paused
}

// AcceptJournal answers POST /v1/ops/journal/accept. It ends the pause of orders after
// Redis was restored or has lost orders (policy O14a).
func (h *Handlers) AcceptJournal(c *gin.Context) error {
	connection, err := h.connectionToAccept(c)
	if err != nil {
		return err
	}
	accepted, err := h.deps.Orders.AcceptRestore(c.Request.Context(), connection)
	if err != nil {
		return err
	}
	if accepted {
		h.deps.Log.WithFields(logrus.Fields{
			"event":      "journal.accept",
			"requestId":  respond.RequestID(c),
			"client":     auth.CallerOf(c).Client,
			"connection": connection,
		}).Warn("restored journal accepted; orders and changes of orders are sent again")
		h.deps.Audit.Add(c, audit.Entry{Action: audit.AcceptRestore, Connection: respond.OrNull(connection)})
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: acceptance{connection, accepted}})
}

// connectionToAccept returns the connection in the query or the body, or the only one. Both may name it if they agree.
func (h *Handlers) connectionToAccept(c *gin.Context) (string, error) {
	name, given, err := readAcceptance(c)
	if err != nil {
		return "", err
	}
	asked, inQuery := c.GetQuery("connection")
	if inQuery && given && asked != name {
		return "", respond.InvalidParameter("connection", "differs between the query and the body; send it only once")
	}
	if inQuery {
		name, given = asked, true
	}
	return visible.Connection(c, h.deps.Directory, name, given)
}

// readAcceptance reads the body of POST /v1/ops/journal/accept: empty, or an object whose only field is connection.
func readAcceptance(c *gin.Context) (connection string, given bool, err error) {
	body, err := respond.ReadBody(c, respond.MaxBody)
	if err != nil || len(body) == 0 {
		return "", false, err
	}
	if err := respond.RequireJSON(c.GetHeader("Content-Type")); err != nil {
		return "", false, err
	}
	err = respond.ReadObject(body, "", map[string]func(*jsontext.Reader) bool{
		"connection": func(r *jsontext.Reader) (ok bool) {
			twice := given
			connection, ok = r.Text()
			given = true
			return ok && !twice
		},
	})
	if _, wrong := errors.AsType[*respond.Problem](err); wrong {
		err = &respond.Problem{
			Code: respond.CodeMalformedJSON,
			Msg:  `the body must be empty or an object with the optional field connection, a string: {"connection": "main"}`,
		}
	}
	return connection, given, err
}
