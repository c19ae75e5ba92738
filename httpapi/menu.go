package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/menu"
)

const headerVersion = "Larder-Menu-Version"

// menu answers GET /v1/restaurants/{restaurant}/menu with ready bytes.
func (s *Server) menu(c *gin.Context) {
	snapshot, err := s.snapshot(c)
	if err != nil {
		fail(c, err)
		return
	}
	s.representation(c, snapshot, snapshot.ModifiedAt, cache.WholeMenu, func(encoding cache.Encoding) (*cache.Representation, error) {
		return s.replica.Menu(snapshot, encoding)
	})
}

// product answers GET /v1/restaurants/{restaurant}/products/{id} with ready
// bytes; ?by=externalId looks the id up among the external ones.
func (s *Server) product(c *gin.Context) {
	snapshot, err := s.snapshot(c)
	if err != nil {
		fail(c, err)
		return
	}
	index, err := findProduct(c, snapshot.Catalogue)
	if err != nil {
		fail(c, err)
		return
	}
	s.representation(c, snapshot, snapshot.ModifiedAt, index, func(encoding cache.Encoding) (*cache.Representation, error) {
		return s.replica.Product(snapshot, index, encoding)
	})
}

// findProduct looks up the path's product.
func findProduct(c *gin.Context, catalogue *menu.Catalogue) (menu.Index, error) {
	id := param(c, "id")
	switch by := c.Query("by"); by {
	case "", "id":
		if index, ok := catalogue.ProductByID(id); ok {
			return index, nil
		}
	case "externalId":
		found := catalogue.ProductsByExternalID(id)
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			ids := make([]string, len(found))
			for i, index := range found {
				ids[i] = catalogue.Product(index).ID
			}
			return menu.None, &problem{
				code: CodeExternalIDAmbiguous, msg: "several products have this externalId; ask by id",
				params: map[string]any{"externalId": id, "ids": ids},
			}
		}
	default:
		return menu.None, invalid("by", "is id or externalId")
	}
	return menu.None, &problem{code: CodeProductNotFound, msg: "the restaurant's menu has no such product"}
}

// snapshot is the current version of the path's restaurant, from memory.
func (s *Server) snapshot(c *gin.Context) (*cache.Snapshot, error) {
	restaurant, err := s.restaurant(c)
	if err != nil {
		return nil, err
	}
	return s.replica.Catalogue(c.Request.Context(), restaurant.ID)
}

// representation answers a read that is made from one version and changed last
// at modified: 304, or the bytes of what, ready or built now, in the encoding
// that the request values most.
func (s *Server) representation(
	c *gin.Context, snapshot *cache.Snapshot, modified time.Time, what menu.Index, build func(cache.Encoding) (*cache.Representation, error),
) {
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding") // never set: CORS has its own entry there (trap 6)
	accepted := acceptedEncodings(oneHeader(c.Request.Header["Accept-Encoding"]))
	if accepted == 0 {
		fail(c, notAcceptable())
		return
	}
	body, ready := s.replica.Ready(snapshot, what, accepted)
	if !ready {
		var err error
		if body, err = build(accepted.First(what)); err != nil {
			fail(c, err)
			return
		}
	}
	if body.Encoding != cache.Identity {
		header.Set("Content-Encoding", body.Encoding.String())
	}
	s.answerVersion(c, snapshot, modified, body.ETag, body.Body)
}

// answerVersion puts what every read of one version carries, and answers 304
// or the body.
func (s *Server) answerVersion(c *gin.Context, snapshot *cache.Snapshot, modified time.Time, etag string, body []byte) {
	header := c.Writer.Header()
	header["Etag"] = []string{etag}
	header["Last-Modified"] = []string{s.shown(modified).Format(http.TimeFormat)}
	header[headerVersion] = []string{strconv.FormatInt(snapshot.Version.Version, 10)}
	s.cacheHeader(c)
	if notModified(c.Request.Header, etag, modified) {
		header.Del("Content-Encoding") // of a body that is not sent
		c.Writer.WriteHeader(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	write(c, http.StatusOK, contentJSON, body)
}

// shown is the time of Last-Modified: never later than the answer (RFC 9110,
// section 8.8.2.1). Whoever asks with it again gets the body once more, and then
// the version's own time.
func (s *Server) shown(modified time.Time) time.Time {
	if now := s.clock(); now.Before(modified) {
		modified = now
	}
	return modified.UTC()
}

// cacheHeader tells caches who may keep the answer (policy H5): anyone where
// menus are open, nobody but the client where a token opened it.
func (s *Server) cacheHeader(c *gin.Context) {
	header := c.Writer.Header()
	if _, bearer := callerOf(c); s.authCfg.openMenu() && !bearer {
		header["Cache-Control"] = slices.Clone(s.openReads)
		return
	}
	header.Set("Cache-Control", "private, no-cache")
	header.Add("Vary", "Authorization")
}

// cacheControl is the Cache-Control of open reads.
func cacheControl(cfg Config) string {
	value := "public, max-age=" + seconds(cfg.MaxAge)
	if cfg.StaleWhileRevalidate > 0 {
		value += ", stale-while-revalidate=" + seconds(cfg.StaleWhileRevalidate)
	}
	if cfg.StaleIfError > 0 {
		value += ", stale-if-error=" + seconds(cfg.StaleIfError)
	}
	return value
}

func notAcceptable() error {
	return &problem{code: CodeNotAcceptable, msg: "larder answers in identity, gzip, br or zstd; Accept-Encoding refuses all of them"}
}

// invalid refuses a query parameter.
func invalid(name, msg string) error {
	return &problem{code: CodeInvalidParameter, msg: name + " " + msg, params: map[string]any{"parameter": name}}
}
