package orders_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Violations of an order are in the requested language. A replay and all other texts are the same
// in each language.
func TestAnswersInTheLanguageAskedFor(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
	})
	russian := []string{"Accept-Language", "ru-RU,ru;q=0.9,en;q=0.8"}
	bad := strings.Replace(apitest.Order(), `"quantity": 1`, `"quantity": 0`, 1)
	p := k.Place("k")
	cyrillic := func(name string, got apitest.Reply, words string) {
		t.Helper()
		if got.Header.Get("Content-Language") != "ru" || !slices.Contains(got.Header.Values("Vary"), "Accept-Language") {
			t.Errorf("%s: Content-Language %q, Vary %q", name, got.Header.Get("Content-Language"), got.Header.Values("Vary"))
		}
		if !strings.Contains(string(got.Body), words) {
			t.Errorf("%s: no %q in %s", name, words, got.Body)
		}
	}
	cyrillic("validate", k.Post(apitest.ValidatePath, bad, russian...).Is(t, http.StatusOK), "больше 0")
	cyrillic("place", k.Post(apitest.OrdersPath, bad, slices.Concat(apitest.Key("bad"), russian, k.Shop)...), "больше 0")
	cyrillic("pay", k.Change(p.OrderID, "pay", strings.Replace(apitest.Payment, "210.40", "1", 1), russian...), "210.4")
	online := strings.Replace(apitest.Order(), `"cash"`, `"online"`, 1)
	cyrillic("a guest", k.Post(apitest.OrdersPath, online, slices.Concat(apitest.Key(long), russian, []string{"Origin", page})...), "Подходит только cash или card")
	if got := k.Post(apitest.ValidatePath, bad).Is(t, http.StatusOK); got.Header.Get("Content-Language") != "en" || !strings.Contains(string(got.Body), "more than 0") {
		t.Errorf("without a wish: %q %s", got.Header.Get("Content-Language"), got.Body)
	}
	body := apitest.Order()
	first := k.Post(apitest.OrdersPath, body, slices.Concat(apitest.Key("both"), russian, k.Shop)...).Is(t, http.StatusCreated)
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, slices.Concat(apitest.Key("both"), k.Shop)...))
	if said := first.Header.Get("Content-Language"); said != "" {
		t.Errorf("a placed order has no sentence, but Content-Language %q", said)
	}
}
