package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Violations of an order are in the requested language. A replay and all other texts are the same
// in each language.
func TestAnswersInTheLanguageAskedFor(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
	})
	russian := []string{"Accept-Language", "ru-RU,ru;q=0.9,en;q=0.8"}
	bad := strings.Replace(order(), `"quantity": 1`, `"quantity": 0`, 1)
	p := k.place("k")
	cyrillic := func(name string, got reply, words string) {
		t.Helper()
		if got.header.Get("Content-Language") != "ru" || !slices.Contains(got.header.Values("Vary"), "Accept-Language") {
			t.Errorf("%s: Content-Language %q, Vary %q", name, got.header.Get("Content-Language"), got.header.Values("Vary"))
		}
		if !strings.Contains(string(got.body), words) {
			t.Errorf("%s: no %q in %s", name, words, got.body)
		}
	}
	cyrillic("validate", k.post(validatePath, bad, russian...).is(t, http.StatusOK), "больше 0")
	cyrillic("place", k.post(ordersPath, bad, slices.Concat(key("bad"), russian, k.shop)...), "больше 0")
	cyrillic("pay", k.change(p.OrderID, "pay", strings.Replace(payment, "210.40", "1", 1), russian...), "210.4")
	online := strings.Replace(order(), `"cash"`, `"online"`, 1)
	cyrillic("a guest", k.post(ordersPath, online, slices.Concat(key(long), russian, []string{"Origin", page})...), "Подходит только cash или card")
	if got := k.post(validatePath, bad).is(t, http.StatusOK); got.header.Get("Content-Language") != "en" || !strings.Contains(string(got.body), "more than 0") {
		t.Errorf("without a wish: %q %s", got.header.Get("Content-Language"), got.body)
	}
	body := order()
	first := k.post(ordersPath, body, slices.Concat(key("both"), russian, k.shop)...).is(t, http.StatusCreated)
	same(t, first, k.post(ordersPath, body, slices.Concat(key("both"), k.shop)...))
	if said := first.header.Get("Content-Language"); said != "" {
		t.Errorf("a placed order has no sentence, but Content-Language %q", said)
	}
}
