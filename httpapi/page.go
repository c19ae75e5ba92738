package httpapi

import (
	"errors"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/httpapi/web"
)

// PageConfig is `http.page`: the menu page at /, made of larder's own
// components. Policy H3 says who may order on it.
type PageConfig struct {
	// Enabled serves the page; off by default.
	Enabled bool `yaml:"enabled"`
	// Currency is what prices are in, by ISO 4217, such as EUR; empty: figures alone.
	Currency string `yaml:"currency"`
	// ImageOrigins are the origins that the menus' photos come from; the page loads from no other.
	ImageOrigins []string `yaml:"image_origins"`
}

var currencyForm = regexp.MustCompile("^[A-Z]{3}$")

var errNoPage = errors.New("httpapi: page.html is not among what is embedded; run go generate in httpapi/web")

// check gives every fault of the section, each a *ConfigError.
func (c PageConfig) check() []error {
	var errs []error
	if c.Currency != "" && !currencyForm.MatchString(c.Currency) {
		errs = append(errs, &ConfigError{"http.page.currency", strconv.Quote(c.Currency) + " is no currency code of three capital letters, as EUR"})
	}
	for i, origin := range c.ImageOrigins {
		if err := checkOrigin(index("http.page.image_origins", i), origin, false); err != nil {
			errs = append(errs, err)
		} else if strings.ContainsAny(origin, "; ,'\"*") { // it would end the policy's directive
			errs = append(errs, &ConfigError{index("http.page.image_origins", i), strconv.Quote(origin) + " is no origin; write scheme and host alone, as https://img.example"})
		}
	}
	return errs
}

// asset answers GET /web/{file}: the components, for any site, and what pages
// are made of.
func (s *Server) asset(c *gin.Context) {
	if !s.assets.Serve(c.Writer, c.Request, c.Param("file")) {
		noRoute(c)
	}
}

// routePage registers the page, where it is enabled, and the photos of menus,
// where larder has them.
func (s *Server) routePage(engine *gin.Engine) error {
	if s.photos != nil {
		get(engine, "/photos/*file", gin.WrapH(s.photos))
	}
	if !s.cfg.Page.Enabled {
		return nil
	}
	page, found := s.assets.Page("page.html")
	if !found {
		return errNoPage
	}
	get(engine, "/", s.page(page))
	return nil
}

// page answers GET /.
func (s *Server) page(template *web.Asset) gin.HandlerFunc {
	text := strings.NewReplacer(
		"{{currency}}", html.EscapeString(s.cfg.Page.Currency),
		"{{orders}}", strconv.FormatBool(s.authCfg.PublicOrders.Enabled),
		"{{payments}}", html.EscapeString(strings.Join(s.authCfg.PublicOrders.PaymentTypes, " ")),
	).Replace(string(template.Body()))
	page := web.NewAsset("page.html", []byte(text))
	policy := web.Policy{Images: s.cfg.Page.ImageOrigins}
	return func(c *gin.Context) {
		policy.Set(c.Writer.Header())
		page.ServeHTTP(c.Writer, c.Request)
	}
}

// ownOrigin tells whether a request comes from a page of larder's own address.
// A browser sends no Origin with a GET to where its page came from, and says by
// Sec-Fetch-Site that it is one, where the address is https or the machine's own.
func ownOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		_, host, found := strings.Cut(origin, "://")
		return found && host == r.Host
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}
