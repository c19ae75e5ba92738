package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apitest"
)

// The canaries are values for a guest's data, a key or a secret. The ordering service repeats some
// of them in its responses.
const (
	canaryKey   = "canary-key-0123456789abcdef"
	canaryGuest = "Canaria+351299999"
	canaryNote  = "canary note"
)

// Neither the log of all requests nor the metrics contain a key, a guest's data or a body, whatever
// the outcome of the request.
func TestGuestDataIsNotLoggedOrCounted(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.HTTP.AccessLog = httpapi.LogAll
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
		p.Auth.PublicOrders.Rate = ratelimit.Rate{}
	})
	body := strings.Replace(apitest.Order(), `"dishList"`, `"guest": {"phone": "`+canaryGuest+`", "firstName": "`+canaryGuest+`"}, "comment": "`+canaryGuest+`", "dishList"`, 1)
	said := `{"code":"closed","msg":"no courier for ` + canaryGuest + `","requestId":"u","errors":["` + canaryGuest + `"]}`
	faults := map[string]string{
		"":         "",
		"refused":  apitest.Fault("status", 422, said, ""),
		"500":      apitest.Fault("status", 500, said, ""),
		"unknown":  apitest.Fault("execute_then_status", 502, said, ""),
		"html":     apitest.Fault("status", 403, "<h1>"+canaryGuest+"</h1>", "text/html"),
		"away":     apitest.Fault("status", 429, said, ""),
		"dropped":  `"do":"reset_before"`,
		"odd type": apitest.Fault("status", 422, said, "text/plain; name="+canaryGuest),
	}
	keys := slices.Concat(apitest.Key(canaryKey), []string{"Content-Type", "application/json"})
	payFor := strings.Replace(apitest.Payment, "currency-1", canaryGuest, 1)
	rejectFor := strings.Replace(apitest.Reject, `"rejectionReasonText": ""`, `"rejectionReasonText": "`+canaryGuest+`"`, 1)
	for name, what := range faults {
		under := func(n string) []string {
			return append([]string{"Content-Type", "application/json", "Idempotency-Key", canaryKey + name + n}, k.Shop...)
		}
		fail := func(call string) {
			if what != "" {
				k.Main.Fault(call, what)
			}
		}
		for n, path := range map[string]string{"v1": apitest.OrdersPath, "compatible": apitest.CreatePath} {
			sent := strings.Replace(body, `{"`, `{"restaurantID": "bistro", "`, 1)
			fail(http.MethodPost)
			k.Do(http.MethodPost, path, sent, under(n)...)
			k.Do(http.MethodPost, path, sent, under(n)...)
			k.Do(http.MethodPost, path, strings.Replace(sent, `"p1"`, `"`+canaryGuest+`"`, 1), under(n+"bad")...)
			k.Do(http.MethodPost, path, sent[:40]+canaryGuest, under(n+"half")...)
			k.Main.Faults("[]")
			p := k.Place(name + n)
			base := map[string]string{"v1": "/v1/orders/", "compatible": apitest.CreatePath + "/"}[n] + p.OrderID
			for change, sent := range map[string]string{"pay": payFor, "reject": rejectFor, "complete": ""} {
				fail(change)
				k.Do(http.MethodPut, base+"/"+change, sent, k.Shop...)
				k.Do(http.MethodPut, base+"/"+change, sent, under(n+change)...)
				k.Main.Faults("[]")
			}
		}
		k.Get("/v1/orders?key="+url.QueryEscape(canaryKey+name+"v1"), k.Shop...)
		k.Get("/v1/orders?key="+url.QueryEscape(canaryKey+name+"v1")+"&connection="+canaryGuest, k.Shop...)
	}
	k.Do(http.MethodPost, apitest.OrdersPath, body, slices.Concat(keys, []string{"Origin", page})...).Is(t, http.StatusCreated)
	k.Get("/v1/orders?key="+canaryKey, "Origin", page).Is(t, http.StatusOK)
	k.Do(http.MethodHead, "/v1/orders?key="+canaryKey, "", "Origin", page)
	k.Get("/v1/orders?key=%zz"+canaryKey, "Origin", page)
	k.Get("/v1/ops/orders?state=unknown&cursor="+canaryKey, k.Ops...)
	var unknown []struct{ Ref string }
	k.Get("/v1/ops/orders?state=unknown", k.Ops...).Into(t, &unknown)
	if len(unknown) == 0 {
		t.Fatal("no order's outcome is unknown")
	}
	for _, one := range unknown {
		k.Get("/v1/ops/orders/"+one.Ref, k.Ops...).Is(t, http.StatusOK)
		k.Post("/v1/ops/orders/"+one.Ref+"/resolve", `{"operation":"create","outcome":"not_done","note":"`+canaryNote+`"}`, k.Ops...)
		k.Post("/v1/ops/orders/"+one.Ref+"/resolve", `{"operation":"pay","outcome":"send_again","note":"`+canaryNote+`"}`, k.Ops...)
	}
	seen := map[string]bool{}
	for _, entry := range k.Logs.AllEntries() {
		data, err := json.Marshal(entry.Data)
		if err != nil {
			t.Fatal(err)
		}
		line := entry.Message + " " + string(data)
		for _, canary := range []string{canaryKey, canaryGuest, "Canaria", canaryNote, apitest.Secret(apitest.ClientShop), "Bearer", "0123456789abcdef"} {
			if strings.Contains(line, canary) && !seen[entry.Message+canary] {
				seen[entry.Message+canary] = true
				t.Errorf("the log has %s: %s", canary, line)
			}
		}
	}
	metrics := string(k.Get("/metrics").Body)
	for _, canary := range []string{"anar", "shop", "bistro"} {
		if strings.Contains(metrics, canary) {
			t.Errorf("the metrics have %s", canary)
		}
	}
}
