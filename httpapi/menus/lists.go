package menus

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/httpapi/web"
	"larder.local/internal/directory"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// answerHashed answers a read that belongs to no single version. The body is not compressed, and its ETag is its hash.
func (h *Handlers) answerHashed(c *gin.Context, body []byte) error {
	if err := requireIdentity(c); err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	control, private := h.cacheControl(auth.CallerOf(c).Client != "")
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

// BodyHash returns a body's hash, for its ETag.
func BodyHash(body []byte) string { return strconv.FormatUint(xxhash.Sum64(body), 16) }

// Restaurants answers GET /v1/restaurants, sorted by id. ?q= searches in ids and names. It answers from
// memory (policy H7): versions and checks of other instances appear after cache.poll at the latest.
func (h *Handlers) Restaurants(c *gin.Context) error {
	want, err := visible.Query(c)
	if err != nil {
		return err
	}
	if err := h.turns.Acquire(c.Request.Context(), 1); err != nil {
		return err
	}
	body := h.restaurantsPage(c, want)
	h.turns.Release(1)
	return h.answerHashed(c, body)
}

func (h *Handlers) restaurantsPage(c *gin.Context, want directory.Query) []byte {
	chosen, next := h.deps.Directory.Index().Page(auth.CallerOf(c).Viewer(), want, nil)
	body := append(make([]byte, 0, 512*(len(chosen)+1)), `{"result":[`...)
	for i := range chosen {
		body = append(h.appendRestaurant(c, jsontext.AppendComma(body, i), &chosen[i]), '}')
	}
	return respond.AppendNext(body, next)
}

// Restaurant answers GET /v1/restaurants/{restaurant} with one element of the list, and its hours.
func (h *Handlers) Restaurant(c *gin.Context) error {
	restaurant, err := visible.Restaurant(c, h.deps.Directory)
	if err != nil {
		return err
	}
	body := h.appendRestaurant(c, []byte(`{"result":`), &restaurant)
	now := h.deps.Clock()
	delivery, pickup := h.deps.Terms(restaurant.ID, now)
	body = appendHours(body, delivery, pickup, now)
	catalogue := &menu.Catalogue{}
	if served, ok := h.deps.Replica.Cached(restaurant.ID); ok {
		catalogue = served.Catalogue
	}
	body = appendSnoozed(body, catalogue)
	return h.answerHashed(c, append(body, "}}"...))
}

// appendRestaurant appends a restaurant as JSON, without the final brace. The fields of its menu are null until there is one. A detail
// that is not configured is null too, and so is the connection without a token (policy H7).
func (h *Handlers) appendRestaurant(c *gin.Context, dst []byte, r *directory.Restaurant) []byte {
	connection := r.Connection
	if auth.CallerOf(c).Client == "" {
		connection = ""
	}
	version, _ := h.deps.Replica.Version(r.ID)
	dst = jsontext.AppendString(append(dst, `{"id":`...), string(r.ID))
	dst = jsontext.AppendString(append(dst, `,"name":`...), cmp.Or(r.Name, version.Name))
	dst = jsontext.AppendStringOrNull(append(dst, `,"connection":`...), connection)
	if version.Version == 0 {
		dst = append(dst, `,"version":null,"counts":null,"syncedAt":null,"checkedAt":null,"stale":true,"held":false,"lastOutcome":null`...)
	} else {
		n := version.Counts
		if served, ok := h.deps.Replica.Cached(r.ID); ok { // without what operators have snoozed
			n = served.Catalogue.Counts()
		}
		dst = strconv.AppendInt(append(dst, `,"version":`...), version.Version, 10)
		dst = strconv.AppendInt(append(dst, `,"counts":{"categories":`...), int64(n.Categories), 10)
		dst = strconv.AppendInt(append(dst, `,"products":`...), int64(n.Products), 10)
		dst = strconv.AppendInt(append(dst, `,"available":`...), int64(n.Available), 10)
		dst = strconv.AppendInt(append(dst, `,"orderable":`...), int64(n.Orderable), 10)
		dst = menu.AppendTime(append(dst, `},"syncedAt":"`...), version.SyncedAt)
		dst = menu.AppendTime(append(dst, `","checkedAt":"`...), version.CheckedAt)
		dst = strconv.AppendBool(append(dst, `","stale":`...), h.deps.Stale(version))
		dst = strconv.AppendBool(append(dst, `,"held":`...), version.Held)
		dst = jsontext.AppendStringOrNull(append(dst, `,"lastOutcome":`...), version.LastOutcome)
	}
	dst = jsontext.AppendStringOrNull(append(dst, `,"guestPhone":`...), r.GuestPhone)
	dst = jsontext.AppendStringOrNull(append(dst, `,"address":`...), r.Address)
	dst = jsontext.AppendStringOrNull(append(dst, `,"timeZone":`...), r.TimeZone)
	dst = jsontext.AppendStringOrNull(append(dst, `,"deliveryTerms":`...), r.DeliveryTerms)
	now := h.deps.Clock()
	delivery, pickup := h.deps.Terms(r.ID, now)
	return AppendAccepts(append(dst, ','), delivery, pickup, now)
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
	return h.answerHashed(c, fmt.Appendf(nil, `{"result":%s}`, raw))
}
