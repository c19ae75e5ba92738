package httpapi

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/httpapi/web"
	"larder/internal/menu"
	"larder/internal/setting"
	"larder/ordering/violation"
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

// check returns every fault of the section, each a *setting.Error.
func (c PageConfig) check() []error {
	var errs []error
	if c.Currency != "" && !currencyForm.MatchString(c.Currency) {
		errs = append(errs, setting.Errorf("http.page.currency", "%q is no currency code of three capital letters, as EUR", c.Currency))
	}
	for i, origin := range c.ImageOrigins {
		if err := setting.Origin(setting.Index("http.page.image_origins", i), origin); err != nil {
			errs = append(errs, err)
		} else if strings.ContainsAny(origin, "; ,'\"*") { // it would end the policy's directive
			errs = append(errs, setting.Errorf(setting.Index("http.page.image_origins", i),
				"%q is no origin; write scheme and host alone, as https://img.example", origin))
		}
	}
	return errs
}

// routeConsole registers the files of the console below /ops: one page, its
// module and its style sheet. They are for anyone who reaches the listener; what
// they show is not. A browser asks for them again each time, so that page and
// module are always of one instance.
func (s *Server) routeConsole(engine *gin.Engine) error {
	for path, name := range map[string]string{"/ops": "ops.html", "/ops/ops.js": "ops.js", "/ops/ops.css": "ops.css"} {
		asset, err := s.assets.Page(name)
		if err != nil {
			return err
		}
		get(engine, path, func(c *gin.Context) {
			web.Policy{}.Set(c.Writer.Header())
			c.Header("Cache-Control", "no-cache")
			asset.ServeHTTP(c.Writer, c.Request)
		})
	}
	get(engine, "/ops/", func(c *gin.Context) { c.Redirect(http.StatusPermanentRedirect, "/ops") })
	return nil
}

// asset answers GET /web/{file}: the components, for any site, and what pages
// are made of.
func (s *Server) asset(c *gin.Context) error {
	if !s.assets.Serve(c.Writer, c.Request, c.Param("file")) {
		return noRoute(c)
	}
	return nil
}

// routePage registers the page, where it is enabled, and the photos of menus,
// where larder has them.
func (s *Server) routePage(engine *gin.Engine) error {
	if s.deps.Photos != nil {
		get(engine, "/photos/*file", gin.WrapH(s.deps.Photos))
	}
	if !s.cfg.Page.Enabled {
		return nil
	}
	page, err := s.assets.Page("page.html")
	if err != nil {
		return err
	}
	text, err := template.New("page.html").Parse(string(page.Body()))
	if err != nil {
		return err
	}
	get(engine, "/", respond.Handle(s.page(&pageCache{text: text})))
	return nil
}

// pageView is what the page at / is made of. Equal views are the same page.
type pageView struct {
	Lang, Dir, Currency, Payments string
	Restaurant                    menu.RestaurantID // empty: there is none to show
	Unknown                       bool              // the restaurant that was asked for does not exist
	Name                          string
	Menu                          string // where its menu stands
	Orders, Several               bool
}

// Say chooses a text by the page's language.
func (v pageView) Say(english, russian string) string {
	if v.Lang == violation.Russian {
		return russian
	}
	return english
}

// maxPages bounds the pages in memory; with compressed forms about 4 KiB each.
const maxPages = 1000

// pageCache keeps every page that was made, by its view (policy H7). When it is
// full it starts again: a page takes some 50 µs to make.
type pageCache struct {
	text *template.Template

	mu    sync.Mutex
	pages map[pageView]*web.Asset
}

// page returns the page of a view.
func (p *pageCache) page(view pageView) (*web.Asset, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept := p.pages[view]; kept != nil {
		return kept, nil
	}
	var out bytes.Buffer
	if err := p.text.Execute(&out, view); err != nil {
		return nil, err
	}
	made := web.NewPage(out.Bytes())
	if p.pages == nil || len(p.pages) >= maxPages {
		p.pages = map[pageView]*web.Asset{}
	}
	p.pages[view] = made
	return made, nil
}

// page answers GET /: a restaurant's menu and order form. ?restaurant= names
// the restaurant, else it is the first by id; ?lang= the language, else it is
// chosen by Accept-Language; ?dir=rtl shows how a menu looks that is read from
// the right. The browser has the menu's address in the page's head, so that it
// asks for it while it still reads the components. An unknown restaurant is
// 404: a page for browsers, a problem document for others.
func (s *Server) page(pages *pageCache) respond.Handler {
	policy := web.Policy{Images: s.cfg.Page.ImageOrigins}
	return func(c *gin.Context) error {
		view := s.pageView(c)
		if view.Unknown {
			c.Writer.Header().Add("Vary", "Accept")
			if !strings.Contains(strings.Join(c.Request.Header["Accept"], ","), "text/html") {
				return respond.RestaurantNotFound(s.deps.Directory.Visible(""))
			}
		}
		asset, err := pages.page(view)
		if err != nil {
			return err
		}
		policy.Set(c.Writer.Header())
		respond.VaryByLanguage(c)
		if view.Unknown {
			c.Header("Cache-Control", "no-store")
			respond.Write(c, http.StatusNotFound, respond.ContentHTML, asset.Body())
			return nil
		}
		asset.ServeHTTP(c.Writer, c.Request)
		return nil
	}
}

func (s *Server) pageView(c *gin.Context) pageView {
	view := pageView{
		Lang: respond.Language(c), Dir: "ltr", Currency: s.cfg.Page.Currency,
		Orders: s.authCfg.PublicOrders.Enabled, Payments: strings.Join(s.authCfg.PublicOrders.PaymentTypes, " "),
	}
	if asked := c.Query("lang"); slices.Contains(violation.Languages(), asked) {
		view.Lang = asked
	}
	if c.Query("dir") == "rtl" {
		view.Dir = "rtl"
	}
	all := s.deps.Directory.Index().Entries()
	view.Several = len(all) > 1
	asked := menu.RestaurantID(c.Query("restaurant"))
	switch _, known := s.deps.Directory.Restaurant(asked); {
	case known:
		view.Restaurant = asked
	case asked != "":
		view.Unknown, view.Orders = true, false
		view.Name = view.Say("There is no such restaurant.", "Такого ресторана нет.")
	case len(all) > 0:
		view.Restaurant = all[0].ID
	default:
		view.Name = view.Say("There is no restaurant to show yet.", "Пока нет ни одного ресторана.")
	}
	if view.Restaurant != "" {
		view.Name = view.Say("Menu", "Меню")
		if name := visible.Name(s.deps.Directory, s.deps.Replica, view.Restaurant); name != nil {
			view.Name = *name
		}
		view.Menu = "/v1/restaurants/" + url.PathEscape(string(view.Restaurant)) + "/menu"
	}
	return view
}
