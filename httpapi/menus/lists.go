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
	"larder/internal/directory"
)

// answerHashed answers a read that belongs to no single version. The body is not compressed,
// and its ETag is its hash.
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
		header.Add("Vary", "Authorization") // added, because CORS has its own Vary
	}
	if !HasBody(c, `W/"`+BodyHash(body)+`"`) {
		respond.Write(c, http.StatusOK, respond.ContentJSON, body)
	}
	return nil
}

// HasBody sets the ETag of a response. If the client has the body, HasBody answers 304 and returns true.
func HasBody(c *gin.Context, etag string) bool {
	c.Writer.Header()["Etag"] = []string{etag}
	if !web.MatchesETag(c.Request.Header["If-None-Match"], etag) {
		return false
	}
	respond.Status(c, http.StatusNotModified)
	return true
}

// BodyHash returns the first 8 hex digits of a body's hash, for its ETag.
func BodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}

// Restaurants answers GET /v1/restaurants, sorted by id. ?q= searches in ids and names. It answers from
// memory (policy H7): versions and checks of other instances appear after cache.poll at the latest.
func (h *Handlers) Restaurants(c *gin.Context) error {
	want, err := visible.Query(c)
	if err != nil {
		return err
	}
	chosen, next := h.deps.Directory.Index().Page(auth.CallerOf(c).Viewer(), want, nil)
	list := respond.Page[restaurantRow]{Result: make([]restaurantRow, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		list.Result[i] = h.restaurantRow(restaurant)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return h.answerHashed(c, body)
}

// Restaurant answers GET /v1/restaurants/{restaurant} with one element of the list.
func (h *Handlers) Restaurant(c *gin.Context) error {
	restaurant, err := visible.Restaurant(c, h.deps.Directory)
	if err != nil {
		return err
	}
	body, err := json.Marshal(respond.Result{Result: h.restaurantRow(restaurant)})
	if err != nil {
		return err
	}
	return h.answerHashed(c, body)
}

// restaurantRow is a restaurant with its details for guests. A detail that is not configured is null.
type restaurantRow struct {
	respond.Restaurant
	GuestPhone *string `json:"guestPhone"`
	Address    *string `json:"address"`
	TimeZone   *string `json:"timeZone"`
}

func (h *Handlers) restaurantRow(r directory.Restaurant) restaurantRow {
	version, _ := h.deps.Replica.Version(r.ID)
	return restaurantRow{
		Restaurant: respond.NewRestaurant(r, version, h.deps.Stale(version)),
		GuestPhone: respond.OrNull(r.GuestPhone),
		Address:    respond.OrNull(r.Address),
		TimeZone:   respond.OrNull(r.TimeZone),
	}
}

// reasonsTimeout limits how long a list of reasons waits for Redis before it is answered from memory.
const reasonsTimeout = time.Second

// RejectionReasons answers GET /v1/rejection-reasons. ?connection= is needed if several are configured.
func (h *Handlers) RejectionReasons(c *gin.Context) error {
	name, given := c.GetQuery("connection")
	connection, err := visible.Connection(c, h.deps.Directory, name, given)
	if err != nil {
		return err
	}
	return h.Reasons(c, connection)
}

// Reasons answers with a connection's reasons, with the field names of the ordering service.
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
