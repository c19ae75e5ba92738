package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	menusync "larder/sync"
)

// syncAll answers POST /v1/ops/sync: a resync of every restaurant that the
// caller may see, each joined or forced by policy S8. Nothing of it waits for
// the answer.
func (s *Server) syncAll(c *gin.Context) {
	force, err := forced(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	batch, err := s.runner.StartBatch(c.Request.Context(), menusync.BatchRequest{
		Connection: who.Connection, By: who.Client, Force: force,
	})
	if err != nil {
		fail(c, err)
		return
	}
	did := deed{Action: actionSyncAll, Connection: orNull(who.Connection), Batch: &batch.ID}
	if force {
		did.Action = actionForceAll
	}
	s.note(c, did)
	c.Header("Location", "/v1/ops/sync/"+batch.ID)
	answer(c, http.StatusAccepted, result{struct {
		Batch string `json:"batch"`
		Total int    `json:"total"`
	}{batch.ID, batch.Total}})
}

// batch answers GET /v1/ops/sync/{batch}, for those who have lost the events.
func (s *Server) batch(c *gin.Context) {
	who, _ := callerOf(c)
	batch, err := s.runner.Batch(c.Request.Context(), param(c, "batch"))
	if err == nil && !seesBatch(who, batch.Connection) {
		err = menusync.ErrUnknownBatch
	}
	if err != nil {
		fail(c, err)
		return
	}
	answer(c, http.StatusOK, result{batch})
}
