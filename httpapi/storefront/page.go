package storefront

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/httpapi/web"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

const (
	// memory limits the pages in memory, in bytes: about 3,000 menus of 60 dishes.
	memory = 32 << 20
	// rendering limits the pages that are rendered at once, each up to 1 MB before compression.
	rendering = 4
	// menuWait limits how long a page waits for a menu that is not in memory. Without the menu, it has only the elements.
	menuWait = time.Second
	// maxChoices limits the restaurants of one page, where guests choose one.
	maxChoices = 50
)

// Deps are the dependencies of the page.
type Deps struct {
	visible.Served

	Config   Config
	Hosts    []string // the first one is used in absolute addresses
	OpenMenu bool     // everyone may read menus
	Orders   bool     // guests may order without a token
	Payments []string // payment types of these orders
	Assets   *web.Assets
}

// Page serves the page at /. It is safe for concurrent use.
type Page struct {
	deps     Deps
	shared   shared
	template *template.Template
	images   []string // origins of images
	pages    *encoded.Bodies
	encoder  *encoded.Encoder
	slots    *semaphore.Weighted // to render
	edition  string              // identifies the template and its shared values
}

// shared are the values that all pages have.
type shared struct {
	Currency, Payments, Logo string
	Brand                    string // address of the brand's stylesheet, or empty
	Site                     string // scheme and host, or empty
	Orders                   bool
}

// New returns the page. It adds the brand's stylesheet to the assets.
func New(deps Deps) (*Page, error) {
	source, err := deps.Assets.Page("page.html")
	if err != nil {
		return nil, err
	}
	text, err := template.New("page.html").Parse(string(source.Body()))
	if err != nil {
		return nil, err
	}
	p := &Page{
		deps:     deps,
		template: text,
		images:   deps.Config.images(),
		pages:    encoded.NewBodies(memory),
		encoder:  encoded.NewEncoder(),
		slots:    semaphore.NewWeighted(rendering),
		shared: shared{
			Currency: deps.Config.Currency,
			Payments: strings.Join(deps.Payments, " "),
			Logo:     deps.Config.Logo,
			Orders:   deps.Orders,
		},
	}
	if css := deps.Config.brandCSS(); len(css) > 0 {
		p.shared.Brand = deps.Assets.Add("brand.css", css)
	}
	if len(deps.Hosts) > 0 {
		p.shared.Site = "https://" + deps.Hosts[0]
	}
	p.edition = fmt.Sprintf("%s %#v", source.Version(), p.shared)
	return p, nil
}

// view selects a page. Equal views of one version have the same page.
type view struct {
	Lang, Dir  string
	Restaurant directory.Restaurant // zero without a restaurant to show
	Name       string
	Unknown    bool     // the requested restaurant does not exist
	Several    bool     // there are other restaurants
	Choices    []choice // restaurants to choose from; empty if one is shown
	More       bool     // there are choices after these
	Page       int      // of the dishes or the choices, from 1

	Closed       string      // that the restaurant is closed, and when it opens; empty if it accepts orders
	OpeningHours template.JS // for search engines; empty if they are not known
}

// choice is a restaurant that a guest can choose.
type choice struct {
	ID            menu.RestaurantID
	Name, Address string
}

// Href returns the address of a choice.
func (v rendered) Href(one choice) string {
	v.Restaurant.ID = one.ID
	return v.Path(v.Lang, 1)
}

// Say returns the text in the page's language.
func (v view) Say(english, russian string) string {
	if v.Lang == violation.Russian {
		return russian
	}
	return english
}

// Money formats an amount in the page's language.
func (v rendered) Money(digits string) string { return moneyText(digits, v.Currency, v.Lang, v.Cents) }

// Path returns the page's address for a language and a page of the dishes. The order of its parameters does
// not depend on the request, so each page has one address.
func (v view) Path(lang string, page int) string {
	query := url.Values{}
	if v.Several && v.Restaurant.ID != "" {
		query.Set("restaurant", string(v.Restaurant.ID))
	}
	if lang != "" {
		query.Set("lang", lang)
	}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return strings.TrimSuffix("/?"+query.Encode(), "?")
}

// Tel returns the digits of the guests' phone number for a tel: link, without an extension.
func (v view) Tel() string {
	number := v.Restaurant.GuestPhone
	if end := strings.IndexFunc(number, func(r rune) bool { return !strings.ContainsRune("+0123456789 ()-./\u00a0", r) }); end >= 0 {
		number = number[:end]
	}
	return strings.NewReplacer(" ", "", "(", "", ")", "", "-", "", ".", "", "/", "", "\u00a0", "").Replace(number)
}

// Menu returns the path of the menu in the API.
func (v view) Menu() string {
	return "/v1/restaurants/" + url.PathEscape(string(v.Restaurant.ID)) + "/menu"
}

// rendered has the values of the template.
type rendered struct {
	shared
	view
	Sections   []section
	Next       int    // the next page of the dishes or the choices; 0 after the last
	Categories string // names of the first categories, for the description
	Cents      bool   // some prices are not whole numbers
	Picture    string // an absolute address of the first picture, or empty
}

// Serve answers GET /: the menu and order form of a restaurant. ?restaurant= selects the restaurant; without
// it guests choose one of several first. ?lang= selects the language; the default follows Accept-Language. ?dir=rtl
// sets the text direction, and ?page= the part of a long menu or of a long list of restaurants. The response to
// an unknown restaurant is 404: a page for browsers, a problem document for other clients.
func (p *Page) Serve(c *gin.Context) error {
	v := p.view(c)
	header := c.Writer.Header()
	if v.Unknown {
		header.Add("Vary", "Accept")
		if !strings.Contains(strings.Join(c.Request.Header["Accept"], ","), "text/html") {
			if !p.deps.OpenMenu { // the error has ids of restaurants
				return respond.RestaurantNotFound(nil, 0)
			}
			return respond.RestaurantNotFound(p.deps.Directory.Following("", menu.RestaurantID(c.Query("restaurant"))))
		}
	}
	encoding := encoded.Identity
	if web.AcceptsEncoding(c.Request, "gzip") {
		encoding = encoded.Gzip
	}
	snapshot := p.snapshot(c.Request.Context(), v.Restaurant.ID)
	if len(v.Choices) == 0 {
		v.Page = min(v.Page, pagesOf(snapshot.Catalogue))
	}
	if asked := c.DefaultQuery("page", "1"); !v.Unknown && asked != strconv.Itoa(v.Page) {
		return toPage(c, v.Page)
	}
	etag := p.etag(v, snapshot)
	current := !v.Unknown && web.MatchesETag(c.Request.Header["If-None-Match"], etag)
	var body []byte
	if !current { // only then the page is rendered (policy H7)
		ready, err := p.body(c.Request.Context(), v, snapshot, encoded.Key{Restaurant: v.Restaurant.ID, Content: etag, Encoding: encoding})
		if err != nil {
			return err
		}
		body = ready.Body
	}
	web.SetPolicy(header, p.images...)
	respond.VaryByLanguage(c)
	header.Add("Vary", "Accept-Encoding")
	status := http.StatusOK
	if v.Unknown {
		status = http.StatusNotFound
		header.Set("Cache-Control", "no-store")
	} else {
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", etag)
	}
	if current {
		respond.Status(c, http.StatusNotModified)
		return nil
	}
	if encoding != encoded.Identity {
		header.Set("Content-Encoding", encoding.String())
	}
	respond.Write(c, status, respond.ContentHTML, body)
	return nil
}

// toPage redirects the request for a page that does not exist to one that does.
func toPage(c *gin.Context, page int) error {
	query := c.Request.URL.Query()
	query.Set("page", strconv.Itoa(page))
	c.Header("Location", "/?"+query.Encode())
	c.Header("Cache-Control", "no-store")
	respond.Status(c, http.StatusFound)
	return nil
}

// view returns the view that a request selects.
func (p *Page) view(c *gin.Context) view {
	v := view{Lang: respond.Language(c), Dir: "ltr", Page: 1}
	if page, err := strconv.Atoi(c.Query("page")); err == nil && page > 1 {
		v.Page = page
	}
	if asked := c.Query("lang"); slices.Contains(violation.Languages(), asked) {
		v.Lang = asked
	}
	if c.Query("dir") == "rtl" {
		v.Dir = "rtl"
	}
	all := p.deps.Directory.Index().Entries()
	v.Several = len(all) > 1
	asked := menu.RestaurantID(c.Query("restaurant"))
	switch one, known := p.deps.Directory.Restaurant(asked); {
	case known:
		v.Restaurant = one
	case asked != "":
		v.Unknown = true
		v.Name = v.Say("Restaurant not found.", "Ресторан не найден.")
	case v.Several && p.deps.OpenMenu:
		v.Name = v.Say("Choose a restaurant", "Выберите ресторан")
		p.choose(&v, all)
	case len(all) > 0:
		v.Restaurant = *all[0].Restaurant
	default:
		v.Name = v.Say("There are no restaurants yet.", "Пока нет ни одного ресторана.")
	}
	if v.Restaurant.ID != "" {
		v.Restaurant.Phone, v.Restaurant.Connection = "", "" // for operators
		v.Name = v.Say("Menu", "Меню")
		if name := visible.Name(p.deps.Directory, p.deps.Replica, v.Restaurant.ID); name != nil {
			v.Name = *name
		}
		now := p.deps.Clock()
		delivery, pickup := p.deps.Terms(v.Restaurant.ID, now)
		v.addHours(delivery, pickup, now)
	}
	return v
}

// choose adds the restaurants of the view's page to it.
func (p *Page) choose(v *view, all []directory.Entry) {
	v.Page = min(v.Page, (len(all)+maxChoices-1)/maxChoices)
	last := min(v.Page*maxChoices, len(all))
	v.More = last < len(all)
	for _, one := range all[(v.Page-1)*maxChoices : last] {
		name := cmp.Or(visible.Name(p.deps.Directory, p.deps.Replica, one.ID), new(string(one.ID)))
		v.Choices = append(v.Choices, choice{one.ID, *name, one.Address})
	}
}

// snapshot returns the menu in the page, or a snapshot without a catalogue.
func (p *Page) snapshot(ctx context.Context, id menu.RestaurantID) *cache.Snapshot {
	if id != "" && p.deps.OpenMenu {
		wait, cancel := context.WithTimeout(ctx, menuWait)
		defer cancel()
		if served, err := p.deps.Replica.Catalogue(wait, id); err == nil {
			return served
		}
	}
	return &cache.Snapshot{}
}

// etag identifies everything that a page depends on: the template, the view and the version of the menu. It is
// weak, because all encodings have the same one.
func (p *Page) etag(v view, s *cache.Snapshot) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %#v %s", p.edition, v, s.EventID())) // %+v would use Restaurant.String
	return fmt.Sprintf(`W/"%x"`, sum[:12])
}

// body returns a page from memory, or renders it once for all concurrent requests.
func (p *Page) body(ctx context.Context, v view, s *cache.Snapshot, key encoded.Key) (*encoded.Representation, error) {
	if ready, ok := p.pages.Get(key); ok {
		return ready, nil
	}
	if err := p.slots.Acquire(ctx, 1); err != nil { // here, so that no request waits with the context of another one
		return nil, err
	}
	defer p.slots.Release(1)
	return p.pages.Build(key, &encoded.VersionBodies{}, func() (*encoded.Representation, error) {
		html, err := p.render(v, s)
		if err != nil {
			return nil, err
		}
		return p.encoder.Represent(s.Version.Version, html, key.Encoding)
	})
}

// render returns the HTML of a page.
func (p *Page) render(v view, snapshot *cache.Snapshot) ([]byte, error) {
	values := rendered{shared: p.shared, view: v}
	values.Orders = values.Orders && v.Restaurant.ID != ""
	if snapshot.Catalogue != nil {
		values.Sections = sectionsOf(snapshot.Catalogue, v.Page, v.Lang)
		if v.Page < pagesOf(snapshot.Catalogue) {
			values.Next = v.Page + 1
		}
		values.Cents = snapshot.Catalogue.Listing().Cents
		values.describe(snapshot.Catalogue, p.deps.Config.ImageOrigins)
	}
	if v.More {
		values.Next = v.Page + 1
	}
	var out bytes.Buffer
	err := p.template.Execute(&out, values)
	return out.Bytes(), err
}

// foreignAllowed reports whether search engines and messengers may load a picture of another origin: over https, and
// only from the configured origins, if there are any (policy H13).
func foreignAllowed(picture string, origins []string) bool {
	at, err := url.Parse(picture)
	return err == nil && at.Scheme == "https" && (len(origins) == 0 || slices.Contains(origins, "https://"+strings.ToLower(at.Host)))
}

// describe sets what search engines and messengers show of the menu.
func (v *rendered) describe(catalogue *menu.Catalogue, origins []string) {
	var names []string
	for _, category := range catalogue.Categories() {
		if category.ParentID == "" && len(names) < 8 {
			names = append(names, category.Name)
		}
	}
	v.Categories = strings.Join(names, ", ")
	for _, one := range v.Sections {
		for _, dish := range one.Dishes {
			switch {
			case foreignAllowed(dish.Picture, origins):
				v.Picture = dish.Picture
				return
			case strings.HasPrefix(dish.Picture, "/") && v.Site != "":
				v.Picture = v.Site + dish.Picture
				return
			}
		}
	}
}
