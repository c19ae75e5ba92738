package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/cache/encoded"
	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
)

// menu answers GET /v1/restaurants/{restaurant}/menu with ready bytes.
func (s *Server) menu(c *gin.Context) error {
	return s.serveRead(c, &menuRead{kind: readMenu, restaurant: respond.Param(c, "restaurant")})
}

// product answers GET /v1/restaurants/{restaurant}/products/{id} with ready
// bytes; ?by=externalId looks the id up among the external ones.
func (s *Server) product(c *gin.Context) error {
	return s.serveRead(c, &menuRead{kind: readProduct, restaurant: respond.Param(c, "restaurant"), product: respond.Param(c, "id"), by: c.Query("by")})
}

// serveRead answers a hot read, and waits for what memory does not hold.
func (s *Server) serveRead(c *gin.Context, read *menuRead) error {
	read.who, _ = auth.CallerOf(c)
	id, err := s.menuOf(read)
	if err != nil {
		return err
	}
	snapshot, err := s.replica.Catalogue(c.Request.Context(), id)
	if err != nil {
		return err
	}
	found, err := read.resolve(snapshot)
	if err != nil {
		return err
	}
	return s.representation(c, found)
}

// build makes the body of a read. A menu or a dish is made in memory alone; a
// view or a list of changes may have to be asked of Redis.
func (s *Server) build(ctx context.Context, found resolvedRead, encoding encoded.Encoding) (*encoded.Representation, error) {
	switch found.what {
	case encoded.WholeMenu:
		return s.replica.Menu(found.snapshot, encoding)
	case encoded.PublishedMenu:
		return s.replica.Published(ctx, found.snapshot, encoding)
	case encoded.ChangesOnly:
		return s.replica.Changes(ctx, found.snapshot, found.since, encoding)
	default:
		return s.replica.Product(found.snapshot, found.what, encoding)
	}
}

// snapshot is the current version of the path's restaurant, from memory.
func (s *Server) snapshot(c *gin.Context) (*cache.Snapshot, error) {
	restaurant, err := visible.Restaurant(c, s.directory)
	if err != nil {
		return nil, err
	}
	return s.replica.Catalogue(c.Request.Context(), restaurant.ID)
}

// representation answers a read of one version: 304, or its bytes, ready or
// built now, in the encoding that the request values most.
func (s *Server) representation(c *gin.Context, found resolvedRead) error {
	accepted := acceptedEncodings(strings.Join(c.Request.Header["Accept-Encoding"], ","))
	if accepted == 0 {
		return notAcceptable(c)
	}
	encoding := accepted.First(found.what)
	body, ready := s.replica.Ready(found.snapshot, found.what, encoding)
	if !ready {
		var err error
		if body, err = s.build(c.Request.Context(), found, encoding); err != nil {
			c.Writer.Header().Add("Vary", "Accept-Encoding")
			return err
		}
	}
	if found.what != encoded.ChangesOnly {
		s.metrics.Read(metrics.Standard, ready)
	}
	return s.answerVersion(c, found.snapshot, found.modified, body)
}

// answerVersion answers a read of one version: 304 or the body.
func (s *Server) answerVersion(c *gin.Context, snapshot *cache.Snapshot, modified time.Time, body *encoded.Representation) error {
	_, known := auth.CallerOf(c)
	v := s.versionedResponse(snapshot, modified, body, notModified(c.Request.Header, body.ETag, modified), known)
	v.writeHeaders(headerFields(c.Writer.Header()))
	if v.status == http.StatusNotModified || c.Request.Method == http.MethodHead {
		respond.Status(c, v.status)
		return nil
	}
	c.Writer.WriteHeader(v.status)
	_, _ = c.Writer.Write(v.body) // an error means that the client is gone
	return nil
}

// cacheControl tells caches who may keep an answer (policy H5): anyone where
// menus are open, nobody but the client where a token opened it.
func (s *Server) cacheControl(known bool) (control string, private bool) {
	if s.authCfg.MenuIsOpen() && !known {
		return s.publicCacheControl, false
	}
	return "private, no-cache", true
}

// openCacheControl is the Cache-Control of open reads.
func openCacheControl(cfg Config) string {
	value := "public, max-age=" + respond.Seconds(cfg.MaxAge)
	if cfg.StaleWhileRevalidate > 0 {
		value += ", stale-while-revalidate=" + respond.Seconds(cfg.StaleWhileRevalidate)
	}
	if cfg.StaleIfError > 0 {
		value += ", stale-if-error=" + respond.Seconds(cfg.StaleIfError)
	}
	return value
}

// notAcceptable is the problem of a request that takes no encoding of the answer.
func notAcceptable(c *gin.Context) error {
	c.Writer.Header().Add("Vary", "Accept-Encoding")
	return &respond.Problem{Code: respond.CodeNotAcceptable, Msg: "larder answers in identity, gzip, br or zstd; Accept-Encoding refuses all of them"}
}

// requireIdentity refuses a request that takes no answer without content coding.
func requireIdentity(c *gin.Context) error {
	if read := readCodings(strings.Join(c.Request.Header["Accept-Encoding"], ",")); !read.takesIdentity() {
		return notAcceptable(c)
	}
	return nil
}

// changesSince answers GET /v1/restaurants/{restaurant}/changes?since= with
// ready bytes: what differs between that version and the current one.
func (s *Server) changesSince(c *gin.Context) error {
	snapshot, err := s.snapshot(c)
	if err != nil {
		return err
	}
	since, err := respond.VersionNumber("since", c.Query("since"))
	if err != nil {
		return err
	}
	return s.representation(c, resolvedRead{snapshot: snapshot, what: encoded.ChangesOnly, modified: snapshot.ModifiedAt, since: since})
}
