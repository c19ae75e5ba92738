package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/httpapi"
)

// manyUnknown is an order of so many dishes that no menu has.
func manyUnknown(dishes int) string {
	list := strings.TrimSuffix(strings.Repeat(`{"ID": "none", "quantity": 1},`, dishes), ",")
	return fmt.Sprintf(`{"restaurantID": "bistro", "expeditionType": "pickup", "paymentTypeID": "barter", "expectedAt": %q, "dishList": [%s]}`, time.Now().Add(time.Hour).Format(time.RFC3339), list)
}

// Policy H7: every answer that lists violations lists the first 200.
func TestAnswersListTheFirstViolations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	type list []struct{ Code string }
	for _, dishes := range []int{199, 200} {
		more := dishes == 200
		var verdict struct {
			Violations list
			More       bool
		}
		w.post(validatePath, manyUnknown(dishes)).is(t, http.StatusOK).into(t, &verdict)
		if len(verdict.Violations) != 200 || verdict.More != more {
			t.Errorf("validate, %d dishes: %d violations, more %v", dishes, len(verdict.Violations), verdict.More)
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

// Policy H7: an order check is charged by the size of its body and the number of
// its lines.
func TestOrderChecksAreChargedByCost(t *testing.T) {
	t.Parallel()
	lines := `{"dishList": [` + strings.TrimSuffix(strings.Repeat(`{},`, 1200), ",") + `]}`
	large := `{"comment": "` + strings.Repeat("x", 100<<10) + `"}`
	if one, many, much := httpapi.OrderTokens(order()), httpapi.OrderTokens(lines), httpapi.OrderTokens(large); one != 1 || many != 3 || much != 13 {
		t.Errorf("an ordinary order takes %d tokens, want 1; 1,200 lines take %d, want 3; 100 KiB take %d, want 13", one, many, much)
	}
	w := newWorld(t, func(p *plan) { p.cfg.Rate.Validate = httpapi.Rate{Count: 4, Per: 4 * time.Hour} })
	w.post(validatePath, order()).is(t, http.StatusOK)
	w.post(validatePath, large).is(t, http.StatusOK)
	refused := w.post(validatePath, order())
	refused.refused(t, http.StatusTooManyRequests, "rate_limited")
	if got := refused.header.Get("Retry-After"); got != "39600" { // 4 tokens, 14 taken, and the next one
		t.Errorf("Retry-After is %s s, want 11 hours", got)
	}
}

// A guest's page pays for its orders alike.
func TestGuestOrdersAreChargedByCost(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := newWorld(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
		p.auth.PublicOrders.Rate = httpapi.Rate{Count: 2, Per: 2 * time.Hour}
	})
	large := strings.Replace(order(), "{", `{"comment": 7, "unknown": "`+strings.Repeat("x", 20<<10)+`", `, 1)
	w.post(ordersPath, large, append(key("0123456789abcdefghijkl"), "Origin", page)...).refused(t, http.StatusUnprocessableEntity, "validation_failed")
	w.post(ordersPath, order(), append(key("0123456789abcdefghijklm"), "Origin", page)...).refused(t, http.StatusTooManyRequests, "rate_limited")
}
