package orders_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/orders"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apitest"
)

// manyUnknown returns an order with this number of dishes that no menu has.
func manyUnknown(dishes int) string {
	list := strings.TrimSuffix(strings.Repeat(`{"ID": "none", "quantity": 1},`, dishes), ",")
	return fmt.Sprintf(`{"restaurantID": "bistro", "expeditionType": "pickup", "paymentTypeID": "barter", "expectedAt": %q, "dishList": [%s]}`, time.Now().Add(2*time.Hour).Format(time.RFC3339), list)
}

// Policy H7: every response with violations lists the first 200.
func TestAnswersListTheFirstViolations(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	type list []struct{ Code string }
	for _, dishes := range []int{199, 200} {
		more := dishes == 200
		var result struct {
			Violations list
			More       bool
		}
		w.Post(apitest.ValidatePath, manyUnknown(dishes)).Is(t, http.StatusOK).Into(t, &result)
		if len(result.Violations) != 200 || result.More != more {
			t.Errorf("validate, %d dishes: %d violations, more %v", dishes, len(result.Violations), result.More)
		}
		for path, headers := range map[string][]string{apitest.OrdersPath: append(apitest.Key("a"), w.As(apitest.ClientShop)...), apitest.CreatePath: w.As(apitest.ClientShop)} {
			got := w.Post(path, manyUnknown(dishes), headers...)
			var refusal struct {
				Errors list
				More   bool
			}
			if err := json.Unmarshal(got.Body, &refusal); err != nil {
				t.Fatal(err)
			}
			if len(refusal.Errors) != 200 || refusal.More != more || got.Status < 400 {
				t.Errorf("%s, %d dishes: status %d, %d errors, more %v", path, dishes, got.Status, len(refusal.Errors), refusal.More)
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
	if one, many, much := orders.Tokens([]byte(apitest.Order())), orders.Tokens([]byte(lines)), orders.Tokens([]byte(large)); one != 1 || many != 3 || much != 13 {
		t.Errorf("an ordinary order takes %d tokens, want 1; 1,200 lines take %d, want 3; 100 KiB take %d, want 13", one, many, much)
	}
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate.Validate = ratelimit.Rate{Count: 4, Per: 4 * time.Hour} })
	w.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK)
	w.Post(apitest.ValidatePath, large).Is(t, http.StatusOK)
	refused := w.Post(apitest.ValidatePath, apitest.Order())
	refused.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if got := refused.Header.Get("Retry-After"); got != "39600" { // 4 tokens: 14 are used, then the next request
		t.Errorf("Retry-After is %s s, want 11 hours", got)
	}
}

// Orders from a guest's page are charged in the same way.
func TestGuestOrdersAreChargedByCost(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
		p.Auth.PublicOrders.Rate = ratelimit.Rate{Count: 2, Per: 2 * time.Hour}
	})
	large := strings.Replace(apitest.Order(), "{", `{"comment": 7, "unknown": "`+strings.Repeat("x", 20<<10)+`", `, 1)
	w.Post(apitest.OrdersPath, large, append(apitest.Key("0123456789abcdefghijkl"), "Origin", page)...).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	w.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key("0123456789abcdefghijklm"), "Origin", page)...).Refused(t, http.StatusTooManyRequests, "rate_limited")
}

// A guest's order may repeat its payment type many times. The error lists only the first one.
func TestGuestOrderRepeatsPaymentType(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{page}, PaymentTypes: []string{"cash"}}
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
	got := w.Post(apitest.OrdersPath, strings.Replace(apitest.GuestOrder(), "{", "{"+many.String(), 1), append(apitest.Key("0123456789abcdefghijkl"), "Origin", page)...)
	got.Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if list := got.Violations(t); len(list) != 1 || list[0] != "value_not_allowed /paymenttypeid" {
		t.Errorf("%d violations, want the first: %.200v", len(list), list)
	}
}

// Policy H10: quantities and texts above their limits are rejected on both APIs, and nothing is
// sent to the ordering service.
func TestOrderTextsAndQuantities_H10(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	good := fmt.Sprintf(`{"restaurantID": "bistro", "expeditionType": "pickup", "paymentTypeID": "cash", "expectedAt": %q, "comment": "please", "guest": {"firstName": "Ann", "phone": "+351 220 000 000"},
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`, time.Now().Add(2*time.Hour).Format(time.RFC3339))
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
		for api, got := range map[string]apitest.Reply{
			"validate":   k.Post(apitest.ValidatePath, body),
			"v1":         k.Post(apitest.OrdersPath, body, append(apitest.Key("a"), k.Shop...)...),
			"compatible": k.Post(apitest.CreatePath, body, k.Shop...),
		} {
			if list := got.Violations(t); len(list) != 1 || list[0] != want || got.Status < 400 && api != "validate" {
				t.Errorf("%s: status %d, %v, want %s", api, got.Status, list, want)
			}
		}
	}
	if sent := k.Main.Orders(); len(sent) != 0 {
		t.Errorf("%d orders reached the ordering service", len(sent))
	}
	k.Post(apitest.OrdersPath, good, append(apitest.Key("b"), k.Shop...)...).Is(t, http.StatusCreated)
}

// Payments and rejections have the same limits.
func TestTextsOfChanges_H10(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	order := k.Place("a").OrderID
	paid := k.Put("/v1/orders/"+order+"/pay", strings.Replace(apitest.Payment, `"name": ""`, `"name": "\u0007"`, 1), k.Shop...).Is(t, http.StatusUnprocessableEntity)
	if list := paid.Violations(t); len(list) != 1 || list[0] != "text_invalid /0/name" {
		t.Errorf("a payment's name: %v", list)
	}
	long := `{"rejectionReasonID": "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "rejectionReasonText": "` + strings.Repeat("x", 1001) + `"}`
	rejected := k.Put("/v1/orders/"+order+"/reject", long, k.Shop...).Is(t, http.StatusUnprocessableEntity)
	if list := rejected.Violations(t); len(list) != 1 || list[0] != "limit_exceeded /rejectionReasonText" {
		t.Errorf("a rejection's text: %v", list)
	}
}
