package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"larder/cache"
)

// changesSince answers GET /v1/restaurants/{restaurant}/changes?since= with
// ready bytes: what differs between that version and the current one.
func (s *Server) changesSince(c *gin.Context) {
	snapshot, err := s.snapshot(c)
	if err != nil {
		fail(c, err)
		return
	}
	since, err := versionNumber("since", c.Query("since"))
	if err != nil {
		fail(c, err)
		return
	}
	s.representation(c, subject{snapshot, cache.ChangesOnly, snapshot.ModifiedAt}, func(encoding cache.Encoding) (*cache.Representation, error) {
		return s.replica.Changes(c.Request.Context(), snapshot, since, encoding)
	})
}

// versionNumber reads the number of a version.
func versionNumber(name, text string) (int64, error) {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, invalid(name, "is the number of a version, from 1")
	}
	return version, nil
}
