package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"larder/httpapi"
)

func TestPage(t *testing.T) {
	t.Parallel()
	k := newKitchen(t, func(p *plan) {
		p.cfg.Page = httpapi.PageConfig{Enabled: true, Currency: "EUR", ImageOrigins: []string{"https://img.example"}}
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{httpapi.OriginSelf}
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
	for _, want := range []string{`data-currency="EUR"`, `data-orders="true"`, `data-payments="cash card"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s:\n%s", want, text)
		}
	}
	for _, never := range []string{"{{", "style=", "http://", "https://"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %s:\n%s", never, text)
		}
	}
	k.do(http.MethodHead, "/", "").is(t, http.StatusOK)
	k.get("/", "If-None-Match", page.header.Get("ETag")).is(t, http.StatusNotModified)

	module := k.get("/web/larder.js", "Origin", "https://shop.example").is(t, http.StatusOK)
	if module.header.Get("Access-Control-Allow-Origin") != "*" || module.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the module's headers: %v", module.header)
	}
	k.get("/web/page.html").refused(t, http.StatusNotFound, "not_found")
	k.get("/web/none.js").refused(t, http.StatusNotFound, "not_found")
	k.get("/photos/sandbox/images/soup.svg").refused(t, http.StatusNotFound, "not_found")
}

func TestPageIsOffByDefault(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	k.get("/").refused(t, http.StatusNotFound, "not_found")
	k.get("/web/larder.js").is(t, http.StatusOK)
}

// A page of larder's own address may order where the origins hold "self"
// (policy H3), whatever that address is.
func TestOwnPageOrders(t *testing.T) {
	t.Parallel()
	const guestKey = "0123456789abcdefghijkl"
	k := newKitchen(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{httpapi.OriginSelf}
	})
	own := k.url
	k.post(ordersPath, order(), append(key(guestKey), "Origin", "https://evil.example")...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), append(key(guestKey), "Origin", httpapi.OriginSelf)...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), key(guestKey)...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.post(ordersPath, order(), append(key(guestKey), "Sec-Fetch-Site", "same-origin")...).refused(t, http.StatusUnauthorized, "unauthorized")
	if placed := k.post(ordersPath, order(), append(key(guestKey), "Origin", own)...).is(t, http.StatusCreated); placed.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of larder's own needs no CORS: %v", placed.header)
	}
	k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	for _, site := range []string{"cross-site", "same-site", "none"} {
		k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", site).refused(t, http.StatusUnauthorized, "unauthorized")
	}
	k.get("/v1/orders?key="+guestKey, "Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example").refused(t, http.StatusUnauthorized, "unauthorized")
}
