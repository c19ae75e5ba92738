package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder/httpapi/storefront"
	"larder/internal/sandbox"
)

var (
	menuElement = regexp.MustCompile("(?s)<larder-menu.*</larder-menu>")
	anyTag      = regexp.MustCompile("<[^>]*>")
)

var dataBlock = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

// menuData is the JSON-LD of a page.
type menuData struct {
	Context   string `json:"@context"`
	Type      string `json:"@type"`
	Name      string
	URL       string
	Telephone string
	Address   string
	HasMenu   struct {
		HasMenuSection []struct {
			Name        string
			HasMenuItem []struct {
				Name, Description string
				Offers            struct {
					Price, PriceCurrency, Availability string
				}
			}
		}
	}
}

func dataOf(t *testing.T, page []byte) (data menuData) {
	t.Helper()
	block := dataBlock.FindSubmatch(page)
	if block == nil {
		t.Fatalf("the page has no JSON-LD:\n%s", page)
	}
	if err := json.Unmarshal(block[1], &data); err != nil {
		t.Fatalf("the JSON-LD is not JSON: %v\n%s", err, block[1])
	}
	return data
}

// The first response has the menu as HTML and as data for search engines (issue 19, SEO). Texts of the
// menu and of the configuration cannot become markup.
func TestPageHasTheMenu(t *testing.T) {
	t.Parallel()
	const hostile = `</script><script>alert(1)</script>"'{{.Name}}&amp;<!--`
	k := newFixture(t, func(p *plan) {
		p.unsynced = true
		p.cfg.Page = storefront.Config{Enabled: true, Currency: "EUR", Color: "#14532d", Logo: "https://img.example/logo.svg", Font: "Georgia, serif"}
		p.cfg.Hosts = []string{"shop.example"}
	})
	quoted, _ := json.Marshal(hostile)
	k.service.menus[bistro] = fmt.Sprintf(`{"result":{"name":"Menu","categories":[{"ID":"c","name":%[1]s}],"products":[
		{"ID":"d1","externalId":"1","categoryId":"c","name":%[1]s,"description":%[1]s,"price":4.5,"measure":{"value":0.15,"unit":"kg"},"imageUrls":["javascript:alert(1)"]},
		{"ID":"d2","externalId":"2","categoryId":"c","name":"Soup","description":"","price":3,"stopList":true,"isListStoped":true,"imageUrls":["/photos/soup.svg"]},
		{"ID":"d3","externalId":"3","categoryId":"none","name":"Bread","description":"","price":null}]}}`, quoted)
	k.syncOnce(bistro)
	restaurants := slices.Clone(k.directory.Restaurants())
	for i := range restaurants {
		if restaurants[i].ID == bistro {
			restaurants[i].Name, restaurants[i].Address, restaurants[i].GuestPhone, restaurants[i].Phone = "Bistro "+hostile, "Rua 1, "+hostile, "+351 22 1", "+351 99 999"
		}
	}
	k.directory.Replace(restaurants)

	page := k.get("/?restaurant="+bistro, "Accept-Encoding", "identity").is(t, http.StatusOK)
	text := string(page.body)
	for _, never := range []string{"<script>alert", "javascript:", "351 99 999", "{{"} {
		if strings.Contains(strings.ReplaceAll(text, "{{.Name}}", ""), never) {
			t.Errorf("the page has %s:\n%s", never, text)
		}
	}
	data := dataOf(t, page.body)
	if data.Type != "Restaurant" || data.Name != "Bistro "+hostile || data.Address != "Rua 1, "+hostile || data.Telephone != "+351 22 1" ||
		data.URL != "https://shop.example/?lang=en&restaurant="+bistro || len(data.HasMenu.HasMenuSection) != 2 {
		t.Fatalf("the JSON-LD is %+v", data)
	}
	dishes := data.HasMenu.HasMenuSection[0].HasMenuItem
	if len(dishes) != 2 || dishes[0].Name != hostile || dishes[0].Description != hostile || dishes[0].Offers.Price != "4.5" || dishes[0].Offers.PriceCurrency != "EUR" ||
		dishes[0].Offers.Availability != "https://schema.org/InStock" || dishes[1].Offers.Availability != "https://schema.org/OutOfStock" {
		t.Errorf("the dishes are %+v", dishes)
	}
	shown := html.UnescapeString(anyTag.ReplaceAllString(menuElement.FindString(text), "\n"))
	for _, want := range []string{hostile, "€4.50", "150\u00a0g", "Soup", "Sold out", "Bread"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the menu does not show %q:\n%s", want, shown)
		}
	}
	for _, want := range []string{
		`<link rel="canonical" href="https://shop.example/?lang=en&amp;restaurant=bistro">`, `<meta property="og:image" content="https://shop.example/photos/soup.svg">`,
		`<meta name="description" content="Bistro`, `<img class="logo" src="https://img.example/logo.svg"`, `<a href="tel:&#43;351221" dir="ltr">`, `/web/brand.css?v=`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s:\n%s", want, text)
		}
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data: https://img.example;") {
		t.Errorf("the policy is %q", policy)
	}
	brand := regexp.MustCompile(`/web/brand\.css\?v=\w+`).FindString(text)
	if css := k.get(brand).is(t, http.StatusOK); !strings.Contains(string(css.body), "--brand:#14532d;--on-brand:#ffffff") || !strings.Contains(css.header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %v\n%s", brand, css.header, css.body)
	}

	// A new version and a reload of the configuration change the page; each has its own ETag.
	tag := page.header.Get("ETag")
	k.get("/?restaurant="+bistro, "If-None-Match", tag).is(t, http.StatusNotModified)
	k.service.menus[bistro] = strings.Replace(k.service.menus[bistro], "Soup", "Broth", 1)
	k.syncOnce(bistro)
	if text := string(k.get("/?restaurant="+bistro, "If-None-Match", tag).is(t, http.StatusOK).body); !strings.Contains(text, "Broth") || strings.Contains(text, "Soup") {
		t.Errorf("after a sync:\n%s", text)
	}
	for i := range restaurants {
		restaurants[i].GuestPhone = "+351 22 2"
	}
	k.directory.Replace(restaurants)
	if text := string(k.get("/?restaurant="+bistro).is(t, http.StatusOK).body); !strings.Contains(text, "351 22 2") || strings.Contains(text, "351 22 1") {
		t.Errorf("after a reload:\n%s", text)
	}
}

// A page of 60 dishes has less than 100 KB, and a longer menu is on several pages.
func TestPageSize(t *testing.T) {
	t.Parallel()
	k := newFixture(t, func(p *plan) {
		p.unsynced = true
		p.cfg.Page.Enabled = true
	})
	const most = 100_000
	for _, size := range []struct{ products, pages int }{{60, 1}, {700, 7}} { // a menu that shrinks is quarantined
		products, pages := size.products, size.pages
		k.service.menus[bistro] = string(sandbox.Generate{Products: products, Seed: 1}.Menu(0))
		k.syncOnce(bistro)
		found := 0
		path, seen := "/?restaurant="+bistro, 0
		for path != "" && seen < 10 {
			page := k.get(path, "Accept-Encoding", "identity").is(t, http.StatusOK)
			for _, section := range dataOf(t, page.body).HasMenu.HasMenuSection {
				found += len(section.HasMenuItem)
			}
			if products == 60 && len(page.body) >= most {
				t.Errorf("the page of %d dishes has %d bytes, less than %d are allowed", products, len(page.body), most)
			}
			t.Logf("%d dishes: %s has %d bytes", products, path, len(page.body))
			path = ""
			if next := regexp.MustCompile(`<a rel="next" href="([^"]+)"`).FindSubmatch(page.body); next != nil {
				path = html.UnescapeString(string(next[1]))
			}
			seen++
		}
		if found != products || seen != pages {
			t.Errorf("%d dishes on %d pages, want %d on %d", found, seen, products, pages)
		}
	}
	first := k.get("/?restaurant="+bistro+"&page=7").is(t, http.StatusOK)
	for _, page := range []string{"99", "8"} { // beyond the last: no further entries in memory
		got := k.get("/?restaurant="+bistro+"&page="+page).is(t, http.StatusFound)
		if to := got.header.Get("Location"); !bytes.Equal(k.get(to).is(t, http.StatusOK).body, first.body) {
			t.Errorf("page=%s redirects to %s, not to the last page", page, to)
		}
	}
}

// The HTML shows a dish under each of its categories, with the lowest price of what must be chosen, like the cards.
func TestPageShowsDishesLikeTheCards(t *testing.T) {
	t.Parallel()
	k := newFixture(t, func(p *plan) {
		p.unsynced = true
		p.cfg.Page = storefront.Config{Enabled: true, Currency: "EUR"}
	})
	k.service.menus[bistro] = `{"result":{"name":"Menu","categories":[{"ID":"c1","name":"Lunch"},{"ID":"c2","name":"Dinner"}],
		"ingredientsGroups":[{"ID":"g","name":"Sauce","ingredients":["i1","i2"]},{"ID":"extra","name":"Extra","ingredients":["i2"]}],
		"ingredientsSchemes":[{"ID":"s","ingredientsGroups":[{"ID":"g","minCount":2,"maxCount":2},{"ID":"extra","minCount":0,"maxCount":1}]}],
		"ingredients":[{"ID":"i1","externalId":"i1","name":"Ketchup","price":0.25},{"ID":"i2","externalId":"i2","name":"Mayo","price":1}],
		"products":[{"ID":"d1","externalId":"1","categoryId":"c1","name":"Fries","price":4,"schemeId":"s"},
		{"ID":"d1","externalId":"1","categoryId":"c2","name":"Fries","price":4,"schemeId":"s"},
		{"ID":"d2","externalId":"2","categoryId":"c2","name":"Beef","price":12,"measure":{"value":1,"unit":"kg"}}]}}`
	k.syncOnce(bistro)
	page := k.get("/?dir=rtl&restaurant="+bistro, "Accept-Encoding", "identity").is(t, http.StatusOK)
	shown := strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(menuElement.FindString(string(page.body)), " "))), " ")
	if want := "Lunch Fries from €4.50 Dinner Fries from €4.50 Beef €12.00 per kg"; shown != want {
		t.Errorf("the menu is %q, want %q", shown, want)
	}
	ids, links := strings.Count(string(page.body), `<i id="dish=d1">`), strings.Count(string(page.body), `<h3><a href="#dish=d1">`)
	if ids != 1 || links != 2 {
		t.Errorf("a dish in two categories has %d ids and %d links, want 1 and 2", ids, links)
	}
	if sections := dataOf(t, page.body).HasMenu.HasMenuSection; len(sections) != 2 || len(sections[1].HasMenuItem) != 2 || sections[0].HasMenuItem[0].Offers.Price != "4.5" {
		t.Errorf("the JSON-LD has %+v", sections)
	}
	for _, link := range []string{`lang=ru&amp;restaurant=bistro&amp;dir=rtl" lang="ru"`, `<link rel="canonical" href="/?lang=en&amp;restaurant=bistro">`} {
		if !strings.Contains(string(page.body), link) {
			t.Errorf("the page has no %s", link)
		}
	}
}

// Menus that need a token are not in the page.
func TestPageOfClosedMenus(t *testing.T) {
	t.Parallel()
	k := newFixture(t, func(p *plan) {
		p.cfg.Page.Enabled = true
		p.auth.OpenMenu = new(false)
	})
	if text := string(k.get("/?restaurant="+bistro).is(t, http.StatusOK).body); strings.Contains(text, "ld+json") || strings.Contains(text, "<h3") {
		t.Errorf("the page has the menu:\n%s", text)
	}
}

// GET /v1/restaurants/{restaurant} and the list have the details for guests, and never the operators' phone.
func TestRestaurantDetails(t *testing.T) {
	t.Parallel()
	k := newFixture(t)
	path := "/v1/restaurants/" + bistro
	type details struct{ GuestPhone, Address, TimeZone *string }
	var one details
	k.get(path).is(t, http.StatusOK).into(t, &one)
	if one.GuestPhone != nil || one.TimeZone != nil {
		t.Errorf("without configuration: %+v", one)
	}
	restaurants := slices.Clone(k.directory.Restaurants())
	for i := range restaurants {
		restaurants[i].Phone, restaurants[i].GuestPhone, restaurants[i].Address, restaurants[i].TimeZone = "1", "2", "Rua 1", "Europe/Lisbon"
	}
	k.directory.Replace(restaurants)
	got := k.get(path).is(t, http.StatusOK)
	if want := `"guestPhone":"2","address":"Rua 1","timeZone":"Europe/Lisbon"}}`; !strings.HasSuffix(string(got.body), want) || strings.Contains(string(got.body), `"phone"`) {
		t.Errorf("got %s", got.body)
	}
	k.get(path, "If-None-Match", got.header.Get("ETag")).is(t, http.StatusNotModified)
	if list := k.get("/v1/restaurants?q="+bistro).is(t, http.StatusOK); !strings.Contains(string(list.body), strings.TrimSuffix(strings.TrimPrefix(string(got.body), `{"result":`), "}")) {
		t.Errorf("the list is %s", list.body)
	}
	k.get("/v1/restaurants/none").refused(t, http.StatusNotFound, "restaurant_not_found")
}
