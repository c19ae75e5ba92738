package menus

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// Menu answers GET /v1/restaurants/{restaurant}/menu with cached bytes.
func (h *Handlers) Menu(c *gin.Context) error {
	return h.serveRead(c, &menuRead{kind: readMenu, restaurant: respond.Param(c, "restaurant")})
}

// Product answers GET /v1/restaurants/{restaurant}/products/{id} with cached bytes.
// ?by=externalId searches by external id.
func (h *Handlers) Product(c *gin.Context) error {
	return h.serveRead(c, &menuRead{
		kind:       readProduct,
		restaurant: respond.Param(c, "restaurant"),
		product:    respond.Param(c, "id"),
		by:         c.Query("by"),
	})
}

// serveRead answers a menu read. It waits if the catalogue is not in memory.
func (h *Handlers) serveRead(c *gin.Context, read *menuRead) error {
	read.who = auth.CallerOf(c)
	id, err := h.menuOf(read)
	if err != nil {
		return err
	}
	snapshot, err := h.deps.Replica.Catalogue(c.Request.Context(), id)
	if err != nil {
		return err
	}
	found, err := read.resolve(snapshot)
	if err != nil {
		return err
	}
	return h.representation(c, found)
}

// build builds the body of a read. Menus and dishes need only memory; a view or a list of changes may need Redis.
func (h *Handlers) build(ctx context.Context, found resolvedRead, encoding encoded.Encoding) (*encoded.Representation, error) {
	switch found.what {
	case encoded.WholeMenu:
		return h.deps.Replica.Menu(found.snapshot, encoding)
	case encoded.PublishedMenu:
		return h.deps.Replica.Published(ctx, found.snapshot, encoding)
	case encoded.ChangesOnly:
		return h.deps.Replica.Changes(ctx, found.snapshot, found.since, encoding)
	default:
		return h.deps.Replica.Product(found.snapshot, found.what, encoding)
	}
}

// snapshot returns the current version of the path's restaurant.
func (h *Handlers) snapshot(c *gin.Context) (*cache.Snapshot, error) {
	restaurant, err := visible.Restaurant(c, h.deps.Directory)
	if err != nil {
		return nil, err
	}
	return h.deps.Replica.Catalogue(c.Request.Context(), restaurant.ID)
}

// representation answers a read of one version with 304 or with a cached or new body, in the
// encoding with the highest weight.
func (h *Handlers) representation(c *gin.Context, found resolvedRead) error {
	accepted := AcceptedEncodings(strings.Join(c.Request.Header["Accept-Encoding"], ","))
	if accepted == 0 {
		return notAcceptable(c)
	}
	encoding := accepted.First(found.what)
	body, ready := h.deps.Replica.Ready(found.snapshot, found.what, encoding)
	if !ready {
		ctx := c.Request.Context()
		var err error
		if body, err = h.build(ctx, found, encoding); err != nil && found.what == encoded.PublishedMenu && ctx.Err() == nil {
			// The last view in memory takes the place of one that could not be loaded: it is as available as the menu.
			if last, ok := h.deps.Replica.LastPublished(found.snapshot.Restaurant); ok {
				found.snapshot, found.modified = last, last.PublishedAt
				body, err = h.build(ctx, found, encoding)
			}
		}
		if err != nil {
			c.Writer.Header().Add("Vary", "Accept-Encoding")
			return err
		}
	}
	if found.what != encoded.ChangesOnly {
		h.deps.Metrics.Read(metrics.Standard, ready)
	}
	return h.answerVersion(c, found.snapshot, found.modified, body)
}

// answerVersion answers a read of one version with 304 or with the body.
func (h *Handlers) answerVersion(c *gin.Context, snapshot *cache.Snapshot, modified time.Time, body *encoded.Representation) error {
	known := auth.CallerOf(c).Client != ""
	v := h.versionedResponse(snapshot, modified, body, notModified(c.Request.Header, body.ETag, modified), known)
	v.writeHeaders(HeaderFields(c.Writer.Header()))
	if v.status == http.StatusNotModified || c.Request.Method == http.MethodHead {
		respond.Status(c, v.status)
		return nil
	}
	c.Writer.WriteHeader(v.status)
	_, _ = c.Writer.Write(v.body) // an error means that the client has disconnected
	return nil
}

// cacheControl returns the Cache-Control of a response (policy H5): public if menus are open
// and the request has no token, else private.
func (h *Handlers) cacheControl(known bool) (control string, private bool) {
	if h.deps.OpenMenu && !known {
		return h.deps.CacheControl, false
	}
	return "private, no-cache", true
}

// notAcceptable returns the problem for a request that accepts no available encoding.
func notAcceptable(c *gin.Context) error {
	c.Writer.Header().Add("Vary", "Accept-Encoding")
	const msg = "Accept-Encoding accepts no available encoding; allow identity, gzip, br or zstd"
	return &respond.Problem{Code: respond.CodeNotAcceptable, Msg: msg}
}

// requireIdentity rejects a request that does not accept uncompressed responses.
func requireIdentity(c *gin.Context) error {
	if read := readCodings(strings.Join(c.Request.Header["Accept-Encoding"], ",")); !read.takesIdentity() {
		return notAcceptable(c)
	}
	return nil
}

// Changes answers GET /v1/restaurants/{restaurant}/changes?since= with cached bytes: the
// differences between that version and the current one.
func (h *Handlers) Changes(c *gin.Context) error {
	snapshot, err := h.snapshot(c)
	if err != nil {
		return err
	}
	since, err := respond.VersionNumber("since", c.Query("since"))
	if err != nil {
		return err
	}
	return h.representation(c, resolvedRead{
		snapshot: snapshot,
		what:     encoded.ChangesOnly,
		modified: snapshot.ModifiedAt,
		since:    since,
	})
}

// menuRead is a read that both paths answer: this package's handlers behind net/http, and the
// fast path before it (docs/decisions/0023-fast-path-before-net-http.md).
type menuRead struct {
	kind       readKind
	restaurant string // for a view: the id in the query, or ""
	product    string
	by         string      // what product is: "" or id, or externalId
	who        auth.Caller // zero without a token
}

// readKind is the kind of a menu read.
type readKind uint8

const (
	readMenu readKind = iota
	readProduct
	readView // the menu view as published, on the compatible API
)

// resolvedRead identifies the body of a read in one version.
type resolvedRead struct {
	snapshot *cache.Snapshot
	what     menu.Index // encoded.WholeMenu, encoded.PublishedMenu, encoded.ChangesOnly, or a dish
	modified time.Time
	since    int64 // for encoded.ChangesOnly: the version to compare with
}

// resolve finds the read's body in the current version of its menu.
func (read *menuRead) resolve(snapshot *cache.Snapshot) (resolvedRead, error) {
	switch read.kind {
	case readView:
		return resolvedRead{snapshot: snapshot, what: encoded.PublishedMenu, modified: snapshot.PublishedAt}, nil
	case readProduct:
		index, err := findProduct(snapshot.Catalogue, read.by, read.product)
		return resolvedRead{snapshot: snapshot, what: index, modified: snapshot.ModifiedAt}, err
	default:
		return resolvedRead{snapshot: snapshot, what: encoded.WholeMenu, modified: snapshot.ModifiedAt}, nil
	}
}

// menuOf returns the id of the catalogue that is read, as configured.
func (h *Handlers) menuOf(read *menuRead) (menu.RestaurantID, error) {
	if read.kind == readView {
		connection, err := visible.OnlyConnection(h.deps.Directory, read.who, visible.ByClient)
		if err != nil {
			return "", err
		}
		return visible.Menu(h.deps.Directory, connection, read.restaurant)
	}
	restaurant, err := visible.Find(h.deps.Directory, read.who, read.restaurant)
	return restaurant.ID, err
}

// findProduct returns a dish by its id or its external id.
func findProduct(catalogue *menu.Catalogue, by, id string) (menu.Index, error) {
	switch by {
	case "", "id":
		if index, ok := catalogue.Products().ByID(id); ok {
			return index, nil
		}
	case "externalId":
		found := catalogue.Products().ByExternalID(id)
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			found = found[:min(len(found), violation.MaxIDs)]
			ids := make([]string, len(found))
			for i, index := range found {
				ids[i] = catalogue.Products().At(index).ID()
			}
			return menu.None, &respond.Problem{
				Code: respond.CodeExternalIDAmbiguous, Msg: "several products have this externalId; select one by id",
				Params: map[string]any{"externalId": id, "ids": ids},
			}
		}
	default:
		return menu.None, respond.InvalidParameter("by", "must be id or externalId")
	}
	return menu.None, &respond.Problem{Code: respond.CodeProductNotFound, Msg: "the restaurant's menu does not have this product"}
}
