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

// PageConfig is `http.page`: the menu page at /, which uses larder's web components. Policy H3
// defines who may order on it.
type PageConfig struct {
	// Enabled serves the page. The default is false.
	Enabled bool `yaml:"enabled"`
	// Currency is the ISO 4217 code of the prices, such as EUR. If empty, prices have no currency.
	Currency string `yaml:"currency"`
	// ImageOrigins are the only other origins that the page may load photos from.
	ImageOrigins []string `yaml:"image_origins"`
}

var currencyForm = regexp.MustCompile("^[A-Z]{3}$")

// check returns all faults of the section, each a *setting.Error.
func (c PageConfig) check() (faults setting.Faults) {
	faults.If(c.Currency != "" && !currencyForm.MatchString(c.Currency), "http.page.currency",
		"%q is not a currency code of three capital letters, such as EUR", c.Currency)
	for i, origin := range c.ImageOrigins {
		key := setting.Index("http.page.image_origins", i)
		err := setting.Origin(key, origin)
		faults = append(faults, err)
		faults.If(err == nil && strings.ContainsAny(origin, "; ,'\"*"), key, // it would end the policy's directive
			"%q is not an origin; write only the scheme and host, such as https://img.example", origin)
	}
	return faults
}

// routeConsole registers the files of the console below /ops. They are public, their data is not.
// Browsers revalidate them each time, so that page and module are always of the same instance.
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

// asset answers GET /web/{file}: the web components, for any site, and the files of larder's pages.
func (s *Server) asset(c *gin.Context) error {
	if !s.assets.Serve(c.Writer, c.Request, c.Param("file")) {
		return noRoute(c)
	}
	return nil
}

// routePage registers the page if it is enabled, and the photos of menus if there are any.
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

// pageView has the values of the page at /. Equal views have the same page.
type pageView struct {
	Lang, Dir, Currency, Payments string
	Restaurant                    menu.RestaurantID // empty without a restaurant to show
	Unknown                       bool              // the requested restaurant does not exist
	Name                          string
	Menu                          string // path of its menu
	Orders, Several               bool
}

// Say returns the text in the page's language.
func (v pageView) Say(english, russian string) string {
	if v.Lang == violation.Russian {
		return russian
	}
	return english
}

// maxPages limits the pages in memory. A page and its compressed forms use about 4 KiB.
const maxPages = 1000

// pageCache caches the pages by view (policy H7). It is emptied when it is full: building a
// page takes about 50 µs.
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

// page answers GET /: the menu and order form of a restaurant. ?restaurant= selects the
// restaurant; the default is the first by id. ?lang= selects the language; the default follows
// Accept-Language. ?dir=rtl sets the text direction. The page's head has the menu's address, so
// that the browser requests the menu while it loads the components. The response to an unknown
// restaurant is 404: a page for browsers, a problem document for other clients.
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
		Lang:     respond.Language(c),
		Dir:      "ltr",
		Currency: s.cfg.Page.Currency,
		Orders:   s.authCfg.PublicOrders.Enabled,
		Payments: strings.Join(s.authCfg.PublicOrders.PaymentTypes, " "),
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
		view.Name = view.Say("Restaurant not found.", "Ресторан не найден.")
	case len(all) > 0:
		view.Restaurant = all[0].ID
	default:
		view.Name = view.Say("There are no restaurants yet.", "Пока нет ни одного ресторана.")
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
