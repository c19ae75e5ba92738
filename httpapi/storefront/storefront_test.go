package storefront_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/storefront"
	"larder.local/internal/testkit/apitest"
)

func TestPage(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.HTTP.Page = storefront.Config{Enabled: true, Currency: "EUR", ImageOrigins: []string{"https://img.example"}}
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{auth.OriginSelf}
	})
	const shown = "/?restaurant=bistro"
	page := k.Get(shown).Is(t, http.StatusOK)
	policy := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "img-src 'self' data: https://img.example"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q has no %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy %q allows too much", policy)
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"} {
		if got := page.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	text := string(page.Body)
	for _, want := range []string{
		`<html lang="en" dir="ltr">`, `<link rel="preload" href="/v1/restaurants/bistro/menu"`, `<larder-menu id="menu" restaurant="bistro" lang="en" currency="EUR">`,
		`<larder-order-form id="order" restaurant="bistro" lang="en" currency="EUR" payments="cash card">`,
		"To order online, turn on JavaScript", `<link rel="canonical" href="/?lang=en`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s:\n%s", want, text)
		}
	}
	for _, never := range []string{"{{", "style=", "http://", "https://"} {
		if strings.Contains(strings.ReplaceAll(text, "https://schema.org", ""), never) {
			t.Errorf("the page has %s:\n%s", never, text)
		}
	}
	k.Do(http.MethodHead, shown, "").Is(t, http.StatusOK)
	k.Get(shown, "If-None-Match", page.Header.Get("ETag")).Is(t, http.StatusNotModified)

	if !strings.Contains(strings.Join(page.Header.Values("Vary"), ","), "Accept-Language") {
		t.Errorf("Vary is %q", page.Header.Values("Vary"))
	}
	for query, want := range map[string]string{
		"?lang=ru":            `<html lang="ru" dir="ltr">`,
		"?lang=xx":            `<html lang="en" dir="ltr">`,
		"?dir=rtl":            `<html lang="en" dir="rtl">`,
		"?restaurant=north-1": `<larder-menu id="menu" restaurant="north-1" lang="en"`,
	} {
		if text := string(k.Get("/"+query).Is(t, http.StatusOK).Body); !strings.Contains(text, want) || strings.Contains(text, "alert(1)</script>\"") {
			t.Errorf("/%s has no %s:\n%s", query, want, text)
		}
	}
	if text := string(k.Get(shown, "Accept-Language", "ru-KZ, en;q=0.5").Is(t, http.StatusOK).Body); !strings.Contains(text, `lang="ru"`) || !strings.Contains(text, "Перейти к заказу") {
		t.Errorf("who asks for Russian gets\n%s", text)
	}

	const unknown = "/?restaurant=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
	missing := k.Get(unknown, "Accept", "text/html, */*;q=0.8").Is(t, http.StatusNotFound)
	if text := string(missing.Body); !strings.Contains(text, "<h1><bdi>Restaurant not found.</bdi></h1>") || strings.Contains(text, "alert(1)") || strings.Contains(text, "<larder-") || strings.Contains(text, "turn on JavaScript") {
		t.Errorf("the page of an unknown restaurant:\n%s", text)
	}
	if missing.Header.Get("Content-Security-Policy") != policy || missing.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers of the page of an unknown restaurant: %v", missing.Header)
	}
	k.Get(unknown, "Accept", "application/json").Refused(t, http.StatusNotFound, "restaurant_not_found")

	module := k.Get("/web/larder.js", "Origin", "https://shop.example").Is(t, http.StatusOK)
	if module.Header.Get("Access-Control-Allow-Origin") != "*" || module.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the module's headers: %v", module.Header)
	}
	k.Get("/web/page.html").Refused(t, http.StatusNotFound, "not_found")
	k.Get("/web/none.js").Refused(t, http.StatusNotFound, "not_found")
	k.Get("/photos/sandbox/images/soup.svg").Refused(t, http.StatusNotFound, "not_found")
}

// With several restaurants, guests choose one before they see a menu. A page whose menus are not public has no list of them.
func TestGuestsChooseARestaurant(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.HTTP.Page.Enabled = true })
	page := k.Get("/").Is(t, http.StatusOK)
	text := string(page.Body)
	at := 0
	for _, want := range []string{
		"<title>Choose a restaurant</title>", `<link rel="canonical" href="/?lang=en">`, `<section id="restaurants" aria-label="Choose a restaurant">`,
		`<a href="/?lang=en&amp;restaurant=bistro"><b dir="auto">The bistro</b><span dir="auto">Rua das Flores 1, Porto</span></a>`,
		`<a href="/?lang=en&amp;restaurant=empty"><b dir="auto">The empty</b></a>`, `<a href="/?lang=en&amp;restaurant=north-1">`,
	} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("the page has no %s after %d bytes:\n%s", want, at, text)
		}
		at += next
	}
	for _, never := range []string{"<larder-", "/web/larder.js", "noindex", "<dialog", `id="which"`} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %s:\n%s", never, text)
		}
	}
	k.Get("/", "If-None-Match", page.Header.Get("ETag")).Is(t, http.StatusNotModified)
	if got := k.Get("/?page=2").Is(t, http.StatusFound).Header.Get("Location"); got != "/?page=1" {
		t.Errorf("after the last page: to %s", got)
	}
	if text := string(k.Get("/?dir=rtl&lang=ru").Is(t, http.StatusOK).Body); !strings.Contains(text, `href="/?lang=ru&amp;restaurant=bistro&amp;dir=rtl"`) {
		t.Errorf("the direction is lost:\n%s", text)
	}
	closed := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.HTTP.Page.Enabled = true
		p.Auth.OpenMenu = new(false)
	})
	if text := string(closed.Get("/").Is(t, http.StatusOK).Body); strings.Contains(text, "north-1") {
		t.Errorf("a list of restaurants without a token:\n%s", text)
	}
}

// Without "self" in the origins, larder would reject the orders of its own page (policy H3).
func TestPageWithoutOrdersOfItsOwn(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.HTTP.Page.Enabled = true
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{"https://shop.example"}
	})
	if text := string(k.Get("/?restaurant=bistro").Is(t, http.StatusOK).Body); !strings.Contains(text, "<larder-menu") || strings.Contains(text, "<larder-order-form") {
		t.Errorf("the page is\n%s", text)
	}
}

// Browsers request an icon, and search engines their rules, also from an instance without a page.
func TestIconAndRobots(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	icon := k.Get("/web/icon.svg").Is(t, http.StatusOK)
	for path, want := range map[string]struct{ media, words string }{
		"/favicon.ico": {"image/svg+xml", string(icon.Body)},
		"/robots.txt":  {"text/plain; charset=utf-8", "Disallow: /ops"},
	} {
		got := k.Get(path).Is(t, http.StatusOK)
		if got.Header.Get("Content-Type") != want.media || !strings.Contains(string(got.Body), want.words) || got.Header.Get("Cache-Control") != icon.Header.Get("Cache-Control") {
			t.Errorf("%s: %v\n%s", path, got.Header, got.Body)
		}
		k.Get(path, "If-None-Match", got.Header.Get("ETag")).Is(t, http.StatusNotModified)
		k.Do(http.MethodHead, path, "").Is(t, http.StatusOK)
		k.Do(http.MethodPost, path, "").Refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
	}
}

// A browser requests /favicon.ico of a page that declares no icon.
func TestPagesDeclareTheIcon(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.HTTP.Page.Enabled = true })
	icon := k.Get("/web/icon.svg").Is(t, http.StatusOK)
	for _, page := range []string{"/", "/ops", "/docs"} {
		_, rest, _ := strings.Cut(string(k.Get(page).Is(t, http.StatusOK).Body), `<link rel="icon" href="`)
		address, _, _ := strings.Cut(rest, `"`)
		if declared := k.Get("/"+strings.TrimPrefix(address, "/")).Is(t, http.StatusOK); string(declared.Body) != string(icon.Body) {
			t.Errorf("the icon of %s is %q: %s", page, address, declared.Body)
		}
	}
}

func TestPageIsOffByDefault(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.Get("/").Refused(t, http.StatusNotFound, "not_found")
	k.Get("/web/larder.js").Is(t, http.StatusOK)
}

// A page at larder's own address may place orders if the origins contain "self" (policy H3).
func TestOwnPageOrders(t *testing.T) {
	t.Parallel()
	const guestKey = "0123456789abcdefghijkl"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{auth.OriginSelf}
	})
	own := k.URL
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key(guestKey), "Origin", "https://evil.example")...).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key(guestKey), "Origin", auth.OriginSelf)...).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Post(apitest.OrdersPath, apitest.Order(), apitest.Key(guestKey)...).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key(guestKey), "Sec-Fetch-Site", "same-origin")...).Refused(t, http.StatusUnauthorized, "unauthorized")
	if placed := k.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key(guestKey), "Origin", own)...).Is(t, http.StatusCreated); placed.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of larder's own needs no CORS: %v", placed.Header)
	}
	k.Get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin").Is(t, http.StatusOK)
	for _, site := range []string{"cross-site", "same-site", "none"} {
		k.Get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", site).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	k.Get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example").Refused(t, http.StatusUnauthorized, "unauthorized")
}

// "self" means localhost, an IP address, or a name in http.hosts, with http or https. Any other
// name may be an attacker's name that resolves to this server.
func TestOwnPageHasAKnownHost(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{auth.OriginSelf}, PaymentTypes: []string{"cash", "card"}}
		p.HTTP.Hosts = []string{"Shop.example"}
	})
	for i, c := range []struct {
		origin, host string
		status       int
	}{
		{"http://evil.example", "evil.example", http.StatusUnauthorized}, // DNS rebinding
		{"http://evil.example:8080", "evil.example:8080", http.StatusUnauthorized},
		{"http://shop.example.evil.example", "shop.example.evil.example", http.StatusUnauthorized},
		{"http://localhost.evil.example", "localhost.evil.example", http.StatusUnauthorized},
		{"http://127.0.0.1.evil.example", "127.0.0.1.evil.example", http.StatusUnauthorized},
		{"ftp://shop.example", "shop.example", http.StatusUnauthorized},
		{"x://127.0.0.1", "127.0.0.1", http.StatusUnauthorized},
		{"://127.0.0.1", "127.0.0.1", http.StatusUnauthorized},
		{"http://127.0.0.1:1", "127.0.0.1:2", http.StatusUnauthorized}, // another server of this machine
		{"http://shop.example:8080", "127.0.0.1", http.StatusUnauthorized},
		{"https://shop.example", "shop.example", http.StatusCreated},
		{"http://shop.example:8080", "shop.example:8080", http.StatusCreated},
		{"https://shop.example", "larder:8080", http.StatusCreated}, // behind a proxy that changes the Host header
		{"http://localhost:8080", "localhost:8080", http.StatusCreated},
		{"http://larder.localhost", "larder.localhost", http.StatusCreated},
		{"http://192.0.2.7:8080", "192.0.2.7:8080", http.StatusCreated},
		{"http://[2001:db8::1]:8080", "[2001:db8::1]:8080", http.StatusCreated},
	} {
		guest := append(apitest.Key(fmt.Sprintf("0123456789abcdefghij%02d", i)), "Origin", c.origin, "Host", c.host)
		if got := k.Post(apitest.OrdersPath, apitest.GuestOrder(), guest...); got.Status != c.status {
			t.Errorf("Origin %s, Host %s: %d %s, want %d", c.origin, c.host, got.Status, got.Body, c.status)
		}
	}
	read := "/v1/orders?key=0123456789abcdefghij10"
	k.Get(read, "Sec-Fetch-Site", "same-origin", "Host", "shop.example").Is(t, http.StatusOK)
	k.Get(read, "Sec-Fetch-Site", "same-origin", "Host", "evil.example").Refused(t, http.StatusUnauthorized, "unauthorized")

	// The demo's secrets are public: a page under another host name must not sign in or get a token
	// with them.
	signIn := func(host string) apitest.Reply {
		return k.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps)), "Origin", "http://"+host, "Host", host)
	}
	signIn("evil.example:8080").Refused(t, http.StatusForbidden, "forbidden")
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "shop.example"} {
		signIn(host).Is(t, http.StatusOK)
	}
	getToken := func(w *apitest.Fixture, host string) apitest.Reply {
		form := url.Values{"client_id": {apitest.ClientOps}, "client_secret": {apitest.Secret(apitest.ClientOps)}, "grant_type": {"client_credentials"}}
		return w.Do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", apitest.FormMedia, "Origin", "http://"+host, "Host", host)
	}
	getToken(k.Fixture, "evil.example:8080").Is(t, http.StatusBadRequest)
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "shop.example"} {
		getToken(k.Fixture, host).Is(t, http.StatusOK)
	}
	exposed := apitest.New(t, func(p *apitest.Plan) { p.HTTP.TrustedProxies = []string{"127.0.0.1"} }) // its secrets are strong
	exposed.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps)), "Origin", "https://ops.example", "Host", "ops.example").Is(t, http.StatusOK)
	getToken(exposed, "ops.example").Is(t, http.StatusOK)
}
