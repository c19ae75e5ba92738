package menus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/httpapi/web"
)

// answerHashed sends a read that belongs to no single version, without content
// coding: its ETag is of the body alone.
func (h *Handlers) answerHashed(c *gin.Context, body []byte) error {
	if err := requireIdentity(c); err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	known := auth.CallerOf(c).Client != ""
	control, private := h.cacheControl(known)
	header.Set("Cache-Control", control)
	if private {
		header.Add("Vary", "Authorization") // added, not set: CORS has its own entry there
	}
	if !HasBody(c, `W/"`+BodyHash(body)+`"`) {
		respond.Write(c, http.StatusOK, respond.ContentJSON, body)
	}
	return nil
}

// HasBody puts the ETag of an answer. It answers 304 and reports true if the
// client has the body.
func HasBody(c *gin.Context, etag string) bool {
	c.Writer.Header()["Etag"] = []string{etag}
	if !web.MatchesETag(c.Request.Header["If-None-Match"], etag) {
		return false
	}
	respond.Status(c, http.StatusNotModified)
	return true
}

// BodyHash is 8 hex of a body's hash, as it stands in an ETag.
func BodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}

// Restaurants answers GET /v1/restaurants, by id; ?q= are words that occur
// in the id or the name. It answers from memory (policy H7): what another
// instance has published or checked is seen after cache.poll at the latest.
func (h *Handlers) Restaurants(c *gin.Context) error {
	want, err := visible.Query(c)
	if err != nil {
		return err
	}
	chosen, next := h.deps.Directory.Index().Page(auth.CallerOf(c).Viewer(), want, nil)
	list := respond.Page[respond.Restaurant]{Result: make([]respond.Restaurant, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		version, _ := h.deps.Replica.Version(restaurant.ID)
		list.Result[i] = respond.NewRestaurant(restaurant, version, h.deps.Stale(version))
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return h.answerHashed(c, body)
}

// reasonsTimeout bounds how long a list of reasons waits for Redis before it
// answers from memory.
const reasonsTimeout = time.Second

// RejectionReasons answers GET /v1/rejection-reasons; ?connection= where
// several are configured.
func (h *Handlers) RejectionReasons(c *gin.Context) error {
	name, given := c.GetQuery("connection")
	connection, err := visible.Connection(c, h.deps.Directory, name, given)
	if err != nil {
		return err
	}
	return h.Reasons(c, connection)
}

// Reasons answers with a connection's reasons, under the interface
// document's field names.
func (h *Handlers) Reasons(c *gin.Context, connection string) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), reasonsTimeout)
	defer cancel()
	raw, err := h.deps.Replica.Reasons(ctx, connection)
	if err != nil {
		return err
	}
	body := append(make([]byte, 0, len(raw)+12), `{"result":`...)
	return h.answerHashed(c, append(append(body, raw...), '}'))
}
