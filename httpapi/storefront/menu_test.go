package storefront_test

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

	"larder.local/httpapi/storefront"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
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
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page = storefront.Config{Enabled: true, Currency: "EUR", Color: "#14532d", Logo: "https://img.example/logo.svg", Font: "Georgia, serif"}
		p.HTTP.Hosts = []string{"shop.example"}
	})
	quoted, _ := json.Marshal(hostile)
	k.Service.Menus[apitest.Bistro] = fmt.Sprintf(`{"result":{"name":"Menu","categories":[{"ID":"c","name":%[1]s}],"products":[
		{"ID":"d1","externalId":"1","categoryId":"c","name":%[1]s,"description":%[1]s,"price":4.5,"measure":{"value":0.15,"unit":"kg"},"imageUrls":["javascript:alert(1)"]},
		{"ID":"d2","externalId":"2","categoryId":"c","name":"Soup","description":"","price":3,"stopList":true,"isListStoped":true,"imageUrls":["/photos/soup.svg"]},
		{"ID":"d3","externalId":"3","categoryId":"none","name":"Bread","description":"","price":null}]}}`, quoted)
	k.SyncOnce(apitest.Bistro)
	restaurants := slices.Clone(k.Directory.Restaurants())
	for i := range restaurants {
		if restaurants[i].ID == apitest.Bistro {
			restaurants[i].Name, restaurants[i].Address, restaurants[i].GuestPhone, restaurants[i].Phone = "Bistro "+hostile, "Rua 1, "+hostile, "+351 22 1", "+351 99 999"
		}
	}
	k.Directory.Replace(restaurants)

	page := k.Get("/?restaurant="+apitest.Bistro, "Accept-Encoding", "identity").Is(t, http.StatusOK)
	text := string(page.Body)
	for _, never := range []string{"<script>alert", "javascript:", "351 99 999", "{{"} {
		if strings.Contains(strings.ReplaceAll(text, "{{.Name}}", ""), never) {
			t.Errorf("the page has %s:\n%s", never, text)
		}
	}
	data := dataOf(t, page.Body)
	if data.Type != "Restaurant" || data.Name != "Bistro "+hostile || data.Address != "Rua 1, "+hostile || data.Telephone != "+351 22 1" ||
		data.URL != "https://shop.example/?lang=en&restaurant="+apitest.Bistro || len(data.HasMenu.HasMenuSection) != 2 {
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
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data: https://img.example;") {
		t.Errorf("the policy is %q", policy)
	}
	brand := regexp.MustCompile(`/web/brand\.css\?v=\w+`).FindString(text)
	if css := k.Get(brand).Is(t, http.StatusOK); !strings.Contains(string(css.Body), "--brand:#14532d;--on-brand:#ffffff") || !strings.Contains(css.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %v\n%s", brand, css.Header, css.Body)
	}

	// A new version and a reload of the configuration change the page; each has its own ETag.
	tag := page.Header.Get("ETag")
	k.Get("/?restaurant="+apitest.Bistro, "If-None-Match", tag).Is(t, http.StatusNotModified)
	k.Service.Menus[apitest.Bistro] = strings.Replace(k.Service.Menus[apitest.Bistro], "Soup", "Broth", 1)
	k.SyncOnce(apitest.Bistro)
	if text := string(k.Get("/?restaurant="+apitest.Bistro, "If-None-Match", tag).Is(t, http.StatusOK).Body); !strings.Contains(text, "Broth") || strings.Contains(text, "Soup") {
		t.Errorf("after a sync:\n%s", text)
	}
	for i := range restaurants {
		restaurants[i].GuestPhone = "+351 22 2"
	}
	k.Directory.Replace(restaurants)
	if text := string(k.Get("/?restaurant="+apitest.Bistro).Is(t, http.StatusOK).Body); !strings.Contains(text, "351 22 2") || strings.Contains(text, "351 22 1") {
		t.Errorf("after a reload:\n%s", text)
	}
}

// A page of 60 dishes has less than 100 KB, and a longer menu is on several pages.
func TestPageSize(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page.Enabled = true
	})
	const most = 100_000
	for _, size := range []struct{ products, pages int }{{60, 1}, {700, 7}} { // a menu that shrinks is quarantined
		products, pages := size.products, size.pages
		k.Service.Menus[apitest.Bistro] = string(sandbox.Generate{Products: products, Seed: 1}.Menu(0))
		k.SyncOnce(apitest.Bistro)
		found := 0
		path, seen := "/?restaurant="+apitest.Bistro, 0
		for path != "" && seen < 10 {
			page := k.Get(path, "Accept-Encoding", "identity").Is(t, http.StatusOK)
			for _, section := range dataOf(t, page.Body).HasMenu.HasMenuSection {
				found += len(section.HasMenuItem)
			}
			if products == 60 && len(page.Body) >= most {
				t.Errorf("the page of %d dishes has %d bytes, less than %d are allowed", products, len(page.Body), most)
			}
			t.Logf("%d dishes: %s has %d bytes", products, path, len(page.Body))
			path = ""
			if next := regexp.MustCompile(`<a rel="next" href="([^"]+)"`).FindSubmatch(page.Body); next != nil {
				path = html.UnescapeString(string(next[1]))
			}
			seen++
		}
		if found != products || seen != pages {
			t.Errorf("%d dishes on %d pages, want %d on %d", found, seen, products, pages)
		}
	}
	first := k.Get("/?restaurant="+apitest.Bistro+"&page=7").Is(t, http.StatusOK)
	for _, page := range []string{"99", "8"} { // beyond the last: no further entries in memory
		got := k.Get("/?restaurant="+apitest.Bistro+"&page="+page).Is(t, http.StatusFound)
		if to := got.Header.Get("Location"); !bytes.Equal(k.Get(to).Is(t, http.StatusOK).Body, first.Body) {
			t.Errorf("page=%s redirects to %s, not to the last page", page, to)
		}
	}
}

// The HTML shows a dish under each of its categories, with the lowest price of what must be chosen, like the cards.
func TestPageShowsDishesLikeTheCards(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page = storefront.Config{Enabled: true, Currency: "EUR"}
	})
	k.Service.Menus[apitest.Bistro] = `{"result":{"name":"Menu","categories":[{"ID":"c1","name":"Lunch"},{"ID":"c2","name":"Dinner"}],
		"ingredientsGroups":[{"ID":"g","name":"Sauce","ingredients":["i1","i2"]},{"ID":"extra","name":"Extra","ingredients":["i2"]}],
		"ingredientsSchemes":[{"ID":"s","ingredientsGroups":[{"ID":"g","minCount":2,"maxCount":2},{"ID":"extra","minCount":0,"maxCount":1}]}],
		"ingredients":[{"ID":"i1","externalId":"i1","name":"Ketchup","price":0.25},{"ID":"i2","externalId":"i2","name":"Mayo","price":1}],
		"products":[{"ID":"d1","externalId":"1","categoryId":"c1","name":"Fries","price":4,"schemeId":"s"},
		{"ID":"d1","externalId":"1","categoryId":"c2","name":"Fries","price":4,"schemeId":"s"},
		{"ID":"d2","externalId":"2","categoryId":"c2","name":"Beef","price":12,"measure":{"value":1,"unit":"kg"}}]}}`
	k.SyncOnce(apitest.Bistro)
	page := k.Get("/?dir=rtl&restaurant="+apitest.Bistro, "Accept-Encoding", "identity").Is(t, http.StatusOK)
	shown := strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(menuElement.FindString(string(page.Body)), " "))), " ")
	if want := "Lunch Fries from €4.50 Dinner Fries from €4.50 Beef €12.00 per kg"; shown != want {
		t.Errorf("the menu is %q, want %q", shown, want)
	}
	ids, links := strings.Count(string(page.Body), `<i id="dish=d1">`), strings.Count(string(page.Body), `<h3><a href="#dish=d1">`)
	if ids != 1 || links != 2 {
		t.Errorf("a dish in two categories has %d ids and %d links, want 1 and 2", ids, links)
	}
	if sections := dataOf(t, page.Body).HasMenu.HasMenuSection; len(sections) != 2 || len(sections[1].HasMenuItem) != 2 || sections[0].HasMenuItem[0].Offers.Price != "4.5" {
		t.Errorf("the JSON-LD has %+v", sections)
	}
	for _, link := range []string{`lang=ru&amp;restaurant=bistro&amp;dir=rtl" lang="ru"`, `<link rel="canonical" href="/?lang=en&amp;restaurant=bistro">`} {
		if !strings.Contains(string(page.Body), link) {
			t.Errorf("the page has no %s", link)
		}
	}
}

// Menus that need a token are not in the page.
func TestPageOfClosedMenus(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(p *apitest.Plan) {
		p.HTTP.Page.Enabled = true
		p.Auth.OpenMenu = new(false)
	})
	if text := string(k.Get("/?restaurant="+apitest.Bistro).Is(t, http.StatusOK).Body); strings.Contains(text, "ld+json") || strings.Contains(text, "<h3") {
		t.Errorf("the page has the menu:\n%s", text)
	}
}

// GET /v1/restaurants/{restaurant} and the list have the details for guests, and never the operators' phone.
func TestRestaurantDetails(t *testing.T) {
	t.Parallel()
	k := apitest.New(t)
	path := "/v1/restaurants/" + apitest.Bistro
	type details struct{ GuestPhone, Address, TimeZone *string }
	var one details
	k.Get(path).Is(t, http.StatusOK).Into(t, &one)
	if one.GuestPhone != nil || one.TimeZone != nil {
		t.Errorf("without configuration: %+v", one)
	}
	restaurants := slices.Clone(k.Directory.Restaurants())
	for i := range restaurants {
		restaurants[i].Phone, restaurants[i].GuestPhone, restaurants[i].Address, restaurants[i].TimeZone = "1", "2", "Rua 1", "Europe/Lisbon"
	}
	k.Directory.Replace(restaurants)
	got := k.Get(path).Is(t, http.StatusOK)
	if want := `"guestPhone":"2","address":"Rua 1","timeZone":"Europe/Lisbon",`; !strings.Contains(string(got.Body), want) || strings.Contains(string(got.Body), `"phone"`) {
		t.Errorf("got %s", got.Body)
	}
	k.Get(path, "If-None-Match", got.Header.Get("ETag")).Is(t, http.StatusNotModified)
	row, _, _ := strings.Cut(strings.TrimPrefix(string(got.Body), `{"result":`), `,"hours":`) // which the list does not have
	if list := k.Get("/v1/restaurants?q="+apitest.Bistro).Is(t, http.StatusOK); !strings.Contains(string(list.Body), row+"}") {
		t.Errorf("the list is %s", list.Body)
	}
	k.Get("/v1/restaurants/none").Refused(t, http.StatusNotFound, "restaurant_not_found")
}
