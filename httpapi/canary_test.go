package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"larder/httpapi"
	"larder/httpapi/ratelimit"
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
	k := newOrderFixture(t, func(p *plan) {
		p.cfg.AccessLog = httpapi.LogAll
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
		p.auth.PublicOrders.Rate = ratelimit.Rate{}
	})
	body := strings.Replace(order(), `"dishList"`, `"guest": {"phone": "`+canaryGuest+`", "firstName": "`+canaryGuest+`"}, "comment": "`+canaryGuest+`", "dishList"`, 1)
	said := `{"code":"closed","msg":"no courier for ` + canaryGuest + `","requestId":"u","errors":["` + canaryGuest + `"]}`
	faults := map[string]string{
		"":         "",
		"refused":  fault("status", 422, said, ""),
		"500":      fault("status", 500, said, ""),
		"unknown":  fault("execute_then_status", 502, said, ""),
		"html":     fault("status", 403, "<h1>"+canaryGuest+"</h1>", "text/html"),
		"away":     fault("status", 429, said, ""),
		"dropped":  `"do":"reset_before"`,
		"odd type": fault("status", 422, said, "text/plain; name="+canaryGuest),
	}
	keys := slices.Concat(key(canaryKey), []string{"Content-Type", "application/json"})
	payFor := strings.Replace(payment, "currency-1", canaryGuest, 1)
	rejectFor := strings.Replace(reject, `"rejectionReasonText": ""`, `"rejectionReasonText": "`+canaryGuest+`"`, 1)
	for name, what := range faults {
		under := func(n string) []string {
			return append([]string{"Content-Type", "application/json", "Idempotency-Key", canaryKey + name + n}, k.shop...)
		}
		fail := func(call string) {
			if what != "" {
				k.main.fault(call, what)
			}
		}
		for n, path := range map[string]string{"v1": ordersPath, "compatible": createPath} {
			sent := strings.Replace(body, `{"`, `{"restaurantID": "bistro", "`, 1)
			fail(http.MethodPost)
			k.do(http.MethodPost, path, sent, under(n)...)
			k.do(http.MethodPost, path, sent, under(n)...)
			k.do(http.MethodPost, path, strings.Replace(sent, `"p1"`, `"`+canaryGuest+`"`, 1), under(n+"bad")...)
			k.do(http.MethodPost, path, sent[:40]+canaryGuest, under(n+"half")...)
			k.main.faults("[]")
			p := k.place(name + n)
			base := map[string]string{"v1": "/v1/orders/", "compatible": createPath + "/"}[n] + p.OrderID
			for change, sent := range map[string]string{"pay": payFor, "reject": rejectFor, "complete": ""} {
				fail(change)
				k.do(http.MethodPut, base+"/"+change, sent, k.shop...)
				k.do(http.MethodPut, base+"/"+change, sent, under(n+change)...)
				k.main.faults("[]")
			}
		}
		k.get("/v1/orders?key="+url.QueryEscape(canaryKey+name+"v1"), k.shop...)
		k.get("/v1/orders?key="+url.QueryEscape(canaryKey+name+"v1")+"&connection="+canaryGuest, k.shop...)
	}
	k.do(http.MethodPost, ordersPath, body, slices.Concat(keys, []string{"Origin", page})...).is(t, http.StatusCreated)
	k.get("/v1/orders?key="+canaryKey, "Origin", page).is(t, http.StatusOK)
	k.do(http.MethodHead, "/v1/orders?key="+canaryKey, "", "Origin", page)
	k.get("/v1/orders?key=%zz"+canaryKey, "Origin", page)
	k.get("/v1/ops/orders?state=unknown&cursor="+canaryKey, k.ops...)
	var unknown []struct{ Ref string }
	k.get("/v1/ops/orders?state=unknown", k.ops...).into(t, &unknown)
	if len(unknown) == 0 {
		t.Fatal("no order's outcome is unknown")
	}
	for _, one := range unknown {
		k.get("/v1/ops/orders/"+one.Ref, k.ops...).is(t, http.StatusOK)
		k.post("/v1/ops/orders/"+one.Ref+"/resolve", `{"operation":"create","outcome":"not_done","note":"`+canaryNote+`"}`, k.ops...)
		k.post("/v1/ops/orders/"+one.Ref+"/resolve", `{"operation":"pay","outcome":"send_again","note":"`+canaryNote+`"}`, k.ops...)
	}
	seen := map[string]bool{}
	for _, entry := range k.logs.AllEntries() {
		data, err := json.Marshal(entry.Data)
		if err != nil {
			t.Fatal(err)
		}
		line := entry.Message + " " + string(data)
		for _, canary := range []string{canaryKey, canaryGuest, "Canaria", canaryNote, secretOf(clientShop), "Bearer", "0123456789abcdef"} {
			if strings.Contains(line, canary) && !seen[entry.Message+canary] {
				seen[entry.Message+canary] = true
				t.Errorf("the log has %s: %s", canary, line)
			}
		}
	}
	metrics := string(k.get("/metrics").body)
	for _, canary := range []string{"anar", "shop", "bistro"} {
		if strings.Contains(metrics, canary) {
			t.Errorf("the metrics have %s", canary)
		}
	}
}
