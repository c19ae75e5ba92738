package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/httpapi"
	"larder/httpapi/auth"
	"larder/httpapi/ratelimit"
)

// manyUnknown returns an order with this number of dishes that no menu has.
func manyUnknown(dishes int) string {
	list := strings.TrimSuffix(strings.Repeat(`{"ID": "none", "quantity": 1},`, dishes), ",")
	return fmt.Sprintf(`{"restaurantID": "bistro", "expeditionType": "pickup", "paymentTypeID": "barter", "expectedAt": %q, "dishList": [%s]}`, time.Now().Add(time.Hour).Format(time.RFC3339), list)
}

// Policy H7: every response with violations lists the first 200.
func TestAnswersListTheFirstViolations(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	type list []struct{ Code string }
	for _, dishes := range []int{199, 200} {
		more := dishes == 200
		var result struct {
			Violations list
			More       bool
		}
		w.post(validatePath, manyUnknown(dishes)).is(t, http.StatusOK).into(t, &result)
		if len(result.Violations) != 200 || result.More != more {
			t.Errorf("validate, %d dishes: %d violations, more %v", dishes, len(result.Violations), result.More)
		}
		for path, headers := range map[string][]string{ordersPath: append(key("a"), w.as(clientShop)...), createPath: w.as(clientShop)} {
			got := w.post(path, manyUnknown(dishes), headers...)
			var refusal struct {
				Errors list
				More   bool
			}
			if err := json.Unmarshal(got.body, &refusal); err != nil {
				t.Fatal(err)
			}
			if len(refusal.Errors) != 200 || refusal.More != more || got.status < 400 {
				t.Errorf("%s, %d dishes: status %d, %d errors, more %v", path, dishes, got.status, len(refusal.Errors), refusal.More)
			}
		}
	}
}

// Policy H7: validating an order uses rate limit tokens by the size of its body and the number of
// its lines.
func TestOrderChecksAreChargedByCost(t *testing.T) {
	t.Parallel()
	lines := `{"dishList": [` + strings.TrimSuffix(strings.Repeat(`{},`, 1200), ",") + `]}`
	large := `{"comment": "` + strings.Repeat("x", 100<<10) + `"}`
	if one, many, much := httpapi.OrderTokens(order()), httpapi.OrderTokens(lines), httpapi.OrderTokens(large); one != 1 || many != 3 || much != 13 {
		t.Errorf("an ordinary order takes %d tokens, want 1; 1,200 lines take %d, want 3; 100 KiB take %d, want 13", one, many, much)
	}
	w := newFixture(t, func(p *plan) { p.cfg.Rate.Validate = ratelimit.Rate{Count: 4, Per: 4 * time.Hour} })
	w.post(validatePath, order()).is(t, http.StatusOK)
	w.post(validatePath, large).is(t, http.StatusOK)
	refused := w.post(validatePath, order())
	refused.refused(t, http.StatusTooManyRequests, "rate_limited")
	if got := refused.header.Get("Retry-After"); got != "39600" { // 4 tokens: 14 are used, then the next request
		t.Errorf("Retry-After is %s s, want 11 hours", got)
	}
}

// Orders from a guest's page are charged in the same way.
func TestGuestOrdersAreChargedByCost(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := newFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
		p.auth.PublicOrders.Rate = ratelimit.Rate{Count: 2, Per: 2 * time.Hour}
	})
	large := strings.Replace(order(), "{", `{"comment": 7, "unknown": "`+strings.Repeat("x", 20<<10)+`", `, 1)
	w.post(ordersPath, large, append(key("0123456789abcdefghijkl"), "Origin", page)...).refused(t, http.StatusUnprocessableEntity, "validation_failed")
	w.post(ordersPath, guestOrder(), append(key("0123456789abcdefghijklm"), "Origin", page)...).refused(t, http.StatusTooManyRequests, "rate_limited")
}

// A guest's order may repeat its payment type many times. The error lists only the first one.
func TestGuestOrderRepeatsPaymentType(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := newFixture(t, func(p *plan) {
		p.auth.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{page}, PaymentTypes: []string{"cash"}}
	})
	var many strings.Builder
	for i := range 5000 { // in different spellings
		many.WriteByte('"')
		for j, letter := range "paymentTypeID" {
			if i>>j&1 == 1 {
				many.WriteString(strings.ToUpper(string(letter)))
			} else {
				many.WriteString(strings.ToLower(string(letter)))
			}
		}
		many.WriteString(`":"x",`)
	}
	got := w.post(ordersPath, strings.Replace(guestOrder(), "{", "{"+many.String(), 1), append(key("0123456789abcdefghijkl"), "Origin", page)...)
	got.refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if list := got.violations(t); len(list) != 1 || list[0] != "value_not_allowed /paymenttypeid" {
		t.Errorf("%d violations, want the first: %.200v", len(list), list)
	}
}

// Policy H10: quantities and texts above their limits are rejected on both APIs, and nothing is
// sent to the ordering service.
func TestOrderTextsAndQuantities_H10(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	good := fmt.Sprintf(`{"restaurantID": "bistro", "expeditionType": "pickup", "paymentTypeID": "cash", "expectedAt": %q, "comment": "please", "guest": {"firstName": "Ann", "phone": "+351 220 000 000"},
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`, time.Now().Add(time.Hour).Format(time.RFC3339))
	for change, want := range map[[2]string]string{
		{`"quantity": 1,`, `"quantity": 1e20,`}:                         "limit_exceeded /dishList/0/quantity",
		{`"quantity": 1,`, `"quantity": 1000,`}:                         "limit_exceeded /dishList/0/quantity",
		{`"Ann"`, `"` + strings.Repeat("A", 200_000) + `"`}:             "limit_exceeded /guest/firstName",
		{`"please"`, `"` + strings.Repeat("x", 1001) + `"`}:             "limit_exceeded /comment",
		{`"please"`, `"\u001b[2J"`}:                                     "text_invalid /comment",
		{`"+351 220 000 000"`, `"none"`}:                                "phone_invalid /guest/phone",
		{`"please"`, `"` + strings.Repeat("ж", 1000) + `\r\n\t\u202e"`}: "limit_exceeded /comment",
	} {
		body := strings.Replace(good, change[0], change[1], 1)
		for api, got := range map[string]reply{
			"validate":   k.post(validatePath, body),
			"v1":         k.post(ordersPath, body, append(key("a"), k.shop...)...),
			"compatible": k.post(createPath, body, k.shop...),
		} {
			if list := got.violations(t); len(list) != 1 || list[0] != want || got.status < 400 && api != "validate" {
				t.Errorf("%s: status %d, %v, want %s", api, got.status, list, want)
			}
		}
	}
	if sent := k.main.has(); len(sent) != 0 {
		t.Errorf("%d orders reached the ordering service", len(sent))
	}
	k.post(ordersPath, good, append(key("b"), k.shop...)...).is(t, http.StatusCreated)
}

// Payments and rejections have the same limits.
func TestTextsOfChanges_H10(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	order := k.place("a").OrderID
	paid := k.put("/v1/orders/"+order+"/pay", strings.Replace(payment, `"name": ""`, `"name": "\u0007"`, 1), k.shop...).is(t, http.StatusUnprocessableEntity)
	if list := paid.violations(t); len(list) != 1 || list[0] != "text_invalid /0/name" {
		t.Errorf("a payment's name: %v", list)
	}
	long := `{"rejectionReasonID": "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "rejectionReasonText": "` + strings.Repeat("x", 1001) + `"}`
	rejected := k.put("/v1/orders/"+order+"/reject", long, k.shop...).is(t, http.StatusUnprocessableEntity)
	if list := rejected.violations(t); len(list) != 1 || list[0] != "limit_exceeded /rejectionReasonText" {
		t.Errorf("a rejection's text: %v", list)
	}
}

// violations returns the violations of a response as "code path".
func (r reply) violations(t *testing.T) (list []string) {
	t.Helper()
	type violation struct{ Code, Path string }
	var body struct {
		Result struct{ Violations []violation }
		Errors []violation
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	for _, each := range append(body.Result.Violations, body.Errors...) {
		list = append(list, each.Code+" "+each.Path)
	}
	return list
}
