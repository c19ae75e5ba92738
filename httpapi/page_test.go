package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"larder/httpapi/auth"
	"larder/httpapi/storefront"
)

func TestPage(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) {
		p.cfg.Page = storefront.Config{Enabled: true, Currency: "EUR", ImageOrigins: []string{"https://img.example"}}
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{auth.OriginSelf}
	})
	page := k.get("/").is(t, http.StatusOK)
	policy := page.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "img-src 'self' data: https://img.example"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q has no %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy %q allows too much", policy)
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	text := string(page.body)
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
	k.do(http.MethodHead, "/", "").is(t, http.StatusOK)
	k.get("/", "If-None-Match", page.header.Get("ETag")).is(t, http.StatusNotModified)

	if !strings.Contains(strings.Join(page.header.Values("Vary"), ","), "Accept-Language") {
		t.Errorf("Vary is %q", page.header.Values("Vary"))
	}
	for query, want := range map[string]string{
		"?lang=ru":            `<html lang="ru" dir="ltr">`,
		"?lang=xx":            `<html lang="en" dir="ltr">`,
		"?dir=rtl":            `<html lang="en" dir="rtl">`,
		"?restaurant=north-1": `<larder-menu id="menu" restaurant="north-1" lang="en"`,
	} {
		if text := string(k.get("/"+query).is(t, http.StatusOK).body); !strings.Contains(text, want) || strings.Contains(text, "alert(1)</script>\"") {
			t.Errorf("/%s has no %s:\n%s", query, want, text)
		}
	}
	if text := string(k.get("/", "Accept-Language", "ru-KZ, en;q=0.5").is(t, http.StatusOK).body); !strings.Contains(text, `lang="ru"`) || !strings.Contains(text, "Перейти к заказу") {
		t.Errorf("who asks for Russian gets\n%s", text)
	}

	const unknown = "/?restaurant=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
	missing := k.get(unknown, "Accept", "text/html, */*;q=0.8").is(t, http.StatusNotFound)
	if text := string(missing.body); !strings.Contains(text, "<h1><bdi>Restaurant not found.</bdi></h1>") || strings.Contains(text, "alert(1)") || strings.Contains(text, "<larder-") || strings.Contains(text, "turn on JavaScript") {
		t.Errorf("the page of an unknown restaurant:\n%s", text)
	}
	if missing.header.Get("Content-Security-Policy") != policy || missing.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers of the page of an unknown restaurant: %v", missing.header)
	}
	k.get(unknown, "Accept", "application/json").refused(t, http.StatusNotFound, "restaurant_not_found")

	module := k.get("/web/larder.js", "Origin", "https://shop.example").is(t, http.StatusOK)
	if module.header.Get("Access-Control-Allow-Origin") != "*" || module.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the module's headers: %v", module.header)
	}
	k.get("/web/page.html").refused(t, http.StatusNotFound, "not_found")
	k.get("/web/none.js").refused(t, http.StatusNotFound, "not_found")
	k.get("/photos/sandbox/images/soup.svg").refused(t, http.StatusNotFound, "not_found")
}

// Without "self" in the origins, larder would reject the orders of its own page (policy H3).
func TestPageWithoutOrdersOfItsOwn(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) {
		p.cfg.Page.Enabled = true
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{"https://shop.example"}
	})
	if text := string(k.get("/").is(t, http.StatusOK).body); !strings.Contains(text, "<larder-menu") || strings.Contains(text, "<larder-order-form") {
		t.Errorf("the page is\n%s", text)
	}
}

// Browsers request an icon, and search engines their rules, also from an instance without a page.
func TestIconAndRobots(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	icon := k.get("/web/icon.svg").is(t, http.StatusOK)
	for path, want := range map[string]struct{ media, words string }{
		"/favicon.ico": {"image/svg+xml", string(icon.body)},
		"/robots.txt":  {"text/plain; charset=utf-8", "Disallow: /ops"},
	} {
		got := k.get(path).is(t, http.StatusOK)
		if got.header.Get("Content-Type") != want.media || !strings.Contains(string(got.body), want.words) || got.header.Get("Cache-Control") != icon.header.Get("Cache-Control") {
			t.Errorf("%s: %v\n%s", path, got.header, got.body)
		}
		k.get(path, "If-None-Match", got.header.Get("ETag")).is(t, http.StatusNotModified)
		k.do(http.MethodHead, path, "").is(t, http.StatusOK)
		k.do(http.MethodPost, path, "").refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
	}
}

// A browser requests /favicon.ico of a page that declares no icon.
func TestPagesDeclareTheIcon(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) { p.cfg.Page.Enabled = true })
	icon := k.get("/web/icon.svg").is(t, http.StatusOK)
	for _, page := range []string{"/", "/ops", "/docs"} {
		_, rest, _ := strings.Cut(string(k.get(page).is(t, http.StatusOK).body), `<link rel="icon" href="`)
		address, _, _ := strings.Cut(rest, `"`)
		if declared := k.get("/"+strings.TrimPrefix(address, "/")).is(t, http.StatusOK); string(declared.body) != string(icon.body) {
			t.Errorf("the icon of %s is %q: %s", page, address, declared.body)
		}
	}
}

func TestPageIsOffByDefault(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	k.get("/").refused(t, http.StatusNotFound, "not_found")
	k.get("/web/larder.js").is(t, http.StatusOK)
}

// A page at larder's own address may place orders if the origins contain "self" (policy H3).
func TestOwnPageOrders(t *testing.T) {
	t.Parallel()
	const guestKey = "0123456789abcdefghijkl"
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{auth.OriginSelf}
	})
	own := k.url
	k.post(ordersPath, order(), append(key(guestKey), "Origin", "https://evil.example")...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), append(key(guestKey), "Origin", auth.OriginSelf)...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), key(guestKey)...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), append(key(guestKey), "Sec-Fetch-Site", "same-origin")...).refused(t, http.StatusUnauthorized, "unauthorized")
	if placed := k.post(ordersPath, guestOrder(), append(key(guestKey), "Origin", own)...).is(t, http.StatusCreated); placed.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of larder's own needs no CORS: %v", placed.header)
	}
	k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	for _, site := range []string{"cross-site", "same-site", "none"} {
		k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", site).refused(t, http.StatusUnauthorized, "unauthorized")
	}
	k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example").refused(t, http.StatusUnauthorized, "unauthorized")
}

// "self" means localhost, an IP address, or a name in http.hosts, with http or https. Any other
// name may be an attacker's name that resolves to this server.
func TestOwnPageHasAKnownHost(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{auth.OriginSelf}, PaymentTypes: []string{"cash", "card"}}
		p.cfg.Hosts = []string{"Shop.example"}
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
		guest := append(key(fmt.Sprintf("0123456789abcdefghij%02d", i)), "Origin", c.origin, "Host", c.host)
		if got := k.post(ordersPath, guestOrder(), guest...); got.status != c.status {
			t.Errorf("Origin %s, Host %s: %d %s, want %d", c.origin, c.host, got.status, got.body, c.status)
		}
	}
	read := "/v1/orders?key=0123456789abcdefghij10"
	k.get(read, "Sec-Fetch-Site", "same-origin", "Host", "shop.example").is(t, http.StatusOK)
	k.get(read, "Sec-Fetch-Site", "same-origin", "Host", "evil.example").refused(t, http.StatusUnauthorized, "unauthorized")

	// The demo's secrets are public: a page under another host name must not sign in or get a token
	// with them.
	signIn := func(host string) reply {
		return k.post(sessionPath, signInBody(clientOps, secretOf(clientOps)), "Origin", "http://"+host, "Host", host)
	}
	signIn("evil.example:8080").refused(t, http.StatusForbidden, "forbidden")
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "shop.example"} {
		signIn(host).is(t, http.StatusOK)
	}
	getToken := func(w *fixture, host string) reply {
		form := url.Values{"client_id": {clientOps}, "client_secret": {secretOf(clientOps)}, "grant_type": {"client_credentials"}}
		return w.do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", formMedia, "Origin", "http://"+host, "Host", host)
	}
	getToken(k.fixture, "evil.example:8080").is(t, http.StatusBadRequest)
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "shop.example"} {
		getToken(k.fixture, host).is(t, http.StatusOK)
	}
	exposed := newFixture(t, func(p *plan) { p.cfg.TrustedProxies = []string{"127.0.0.1"} }) // its secrets are strong
	exposed.post(sessionPath, signInBody(clientOps, secretOf(clientOps)), "Origin", "https://ops.example", "Host", "ops.example").is(t, http.StatusOK)
	getToken(exposed, "ops.example").is(t, http.StatusOK)
}
