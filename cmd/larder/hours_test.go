package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/clitest"
)

// openIn returns hours of the restaurant that begin in some days, and at no other time.
func openIn(days int, now time.Time) (configuration string, opens time.Time) {
	opens = time.Date(now.Year(), now.Month(), now.Day()+days, 11, 0, 0, 0, time.UTC)
	day := strings.ToLower(opens.Weekday().String()[:3])
	return fmt.Sprintf(`connection: a, time_zone: UTC, hours: {all: {%s: ["11:00-12:00"]}}`, day), opens
}

// TestOpeningHours_O22 changes the hours of the running daemon. A restaurant that is closed takes orders for a time at which it is open.
func TestOpeningHours_O22(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	m.env = []string{"LARDER_HTTP_PAGE_ENABLED=true"}
	cfg := over(service)
	now := time.Now().UTC()
	closed, opens := openIn(3, now)
	cfg.restaurant = closed
	i := m.start(t, "", cfg)
	i.waitFor(t, 10)

	type accept struct {
		Now      bool
		Reason   *string
		Next     *time.Time
		LeadTime string
	}
	type restaurant struct {
		Accepts struct{ Delivery, Pickup accept }
		Hours   struct {
			Delivery, Pickup []struct{ From, To time.Time }
		}
	}
	read := func() restaurant {
		t.Helper()
		return clitest.FromJSON[struct{ Result restaurant }](t, i.ask(t, http.MethodGet, "/v1/restaurants/r", "", "").Body).Result
	}
	got := read()
	if a := got.Accepts.Pickup; a.Now || *a.Reason != "closed" || !a.Next.Equal(opens) || a.LeadTime != "60m" {
		t.Errorf("accepts %+v, want it closed until %v", a, opens)
	}
	if spans := got.Hours.Delivery; len(spans) != 1 || !spans[0].From.Equal(opens) || !spans[0].To.Equal(opens.Add(time.Hour)) {
		t.Errorf("hours %v, want an hour from %v", spans, opens)
	}
	if page := i.ask(t, http.MethodGet, "/?restaurant=r", "", "").Body; !strings.Contains(page, "Closed, opens "+opens.Format("Mon 15:04")) {
		t.Errorf("the page of a closed restaurant does not say when it opens: %s", page)
	}
	refused := i.place(t, "soonest-while-closed")
	refused.is(t, "an order for as soon as possible", http.StatusUnprocessableEntity, "validation_failed")
	var problem struct {
		Errors []struct {
			Path, Code string
			Params     struct{ OpensAt time.Time }
		}
	}
	if err := json.Unmarshal([]byte(refused.Body), &problem); err != nil || len(problem.Errors) != 1 ||
		problem.Errors[0].Code != "restaurant_closed" || problem.Errors[0].Path != "/expectedAt" || !problem.Errors[0].Params.OpensAt.Equal(opens) {
		t.Errorf("%v: %s, want restaurant_closed until %v", err, refused.Body, opens)
	}
	at := func(when time.Time) string {
		return strings.Replace(soups(""), `"soonest":true`, fmt.Sprintf(`"expectedAt":%q`, when.Format(time.RFC3339)), 1)
	}
	const orders = "/v1/restaurants/r/orders"
	i.ask(t, http.MethodPost, orders, "at-the-opening", at(opens)).is(t, "an order for the opening", http.StatusCreated, "")
	i.ask(t, http.MethodPost, orders, "at-the-end", at(opens.Add(time.Hour))).is(t, "an order for the end", http.StatusUnprocessableEntity, "validation_failed")
	compat := strings.Replace(at(opens.Add(2*time.Hour)), `"soup"`, `"7"`, 1)
	i.ask(t, http.MethodPost, "/orders/api/v1/orders", "compatible", compat).is(t, "an order of the compatible API", http.StatusUnprocessableEntity, "validation_failed")

	cfg.restaurant = "connection: a, lead_time: {pickup: 20m}, minimum_order: {pickup: 11.5}"
	m.write(t, "", cfg)
	i.reload(t)
	if a := read(); !a.Accepts.Pickup.Now || a.Accepts.Pickup.LeadTime != "20m" || a.Accepts.Delivery.LeadTime != "60m" || a.Hours.Pickup != nil {
		t.Errorf("without hours: %+v", a)
	}
	small := i.place(t, "below-the-minimum")
	small.is(t, "an order below the minimum", http.StatusUnprocessableEntity, "validation_failed")
	if !strings.Contains(small.Body, `"minimum_order"`) || !strings.Contains(small.Body, `"missing":1.5`) {
		t.Errorf("an order below the minimum: %s", small.Body)
	}
	i.ask(t, http.MethodPost, orders, "too-soon", at(time.Now().Add(10*time.Minute))).
		is(t, "an order before the lead time", http.StatusUnprocessableEntity, "validation_failed")
	enough := strings.Replace(soups(""), `"quantity":1`, `"quantity":2`, 1)
	i.ask(t, http.MethodPost, orders, "enough", enough).is(t, "an order above the minimum", http.StatusCreated, "")

	// An order that was placed while the restaurant was open stays what it is.
	cfg.restaurant = closed
	m.write(t, "", cfg)
	i.reload(t)
	i.ask(t, http.MethodPost, orders, "enough", enough).is(t, "the repeated order", http.StatusCreated, "")
	i.pay(t, "2", "").is(t, "its payment", http.StatusOK, "")
}

// TestCheckExplainsHours runs larder check with hours that cannot be right.
func TestCheckExplainsHours(t *testing.T) {
	t.Parallel()
	const head = "connections:\n  - {name: main, base_url: \"http://127.0.0.1:9\", auth_url: \"http://127.0.0.1:9\", client_id: a, client_secret: b}\nrestaurants:\n  - id: r\n"
	for says, text := range map[string]string{
		`:5:12: restaurants[0].hours: needs a time zone: set time_zone of the restaurant`:                                `hours: {all: {mon: ["10:00-15:00"]}}`,
		`restaurants[0].hours.all.mon: 10:00-15:00 and 14:00-18:00 overlap: write 10:00-18:00`:                           `hours: {all: {mon: ["10:00-15:00", "14:00-18:00"]}}`,
		`"10-15" is no time of the day: write from-to, such as 10:00-15:00`:                                              `hours: {all: {mon: ["10-15"]}}`,
		`"25.12.2026" is no date: write year, month and day, such as 2026-12-25`:                                         `hours: {all: {mon: []}, exceptions: [{date: 25.12.2026, closed: true}]}`,
		`unknown key "monday" in restaurants[0].hours.all: did you mean "mon"?`:                                          `hours: {all: {monday: ["10:00-15:00"]}}`,
		`restaurants[0].time_zone: unknown time zone "Lisbon": use an IANA name such as Europe/Lisbon`:                   `time_zone: Lisbon; hours: {all: {mon: ["10:00-15:00"]}}`,
		`restaurants[0].lead_time.pickup: must be between 0 and ordering.max_lead, 720h0m0s`:                             `lead_time: {pickup: 721h}`,
		`restaurants[0].minimum_order.delivery: must be between 0 and 1000000000, with at most 6 decimals; 0 means none`: `minimum_order: {delivery: -1}`,
		`restaurants[0].minimum_order.pickup: must be between 0 and 1000000000`:                                          `minimum_order: {pickup: 1e12}`,
		`restaurants[0].minimum_order.pickup: "cheap" must be a number, such as 12.50`:                                   `minimum_order: {pickup: cheap}`,
		`restaurants[0].hours: has no hours: write delivery, pickup, or all for both`:                                    `hours: {exceptions: []}`,
		`all has no hours for tue, wed, thu, fri, sat, sun, so the restaurant is closed then; write tue: []`:             `time_zone: UTC; hours: {all: {mon: ["10:00-15:00"]}}`,
	} {
		lines := "    " + strings.ReplaceAll(text, "; ", "\n    ") + "\n"
		path := clitest.WriteFile(t, "larder.yaml", head+lines)
		if got := larder(t, "check", "--config", path); !strings.Contains(got.Out+got.Err, says) {
			t.Errorf("%s\ncheck: %+v\nwant %q", lines, got, says)
		}
	}
}

// TestOperatorsRestrictOrders_O23 lets an operator pause orders and snooze a dish on one of two instances, whose processes are
// killed and whose Redis goes away and returns.
func TestOperatorsRestrictOrders_O23(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	cfg := over(service)
	one, two := m.start(t, "1", cfg), m.start(t, "2", cfg)
	for _, i := range []*instance{one, two} {
		i.waitFor(t, 10)
	}
	two.place(t, "before").is(t, "an order before the pause", http.StatusCreated, "")
	events, err := openEvents(t.Context(), two.shop, "/v1/events?restaurant=r")
	if err != nil {
		t.Fatal(err)
	}
	event := func(want, has string) {
		t.Helper()
		for {
			name, data, err := events.next()
			if err != nil {
				t.Fatalf("no event %s with %s: %v", want, has, err)
			}
			if name == want && strings.Contains(string(data), has) {
				return
			}
		}
	}

	const ops = "/v1/ops/restaurants/r"
	say := func(i *instance, method, what, body string) reply {
		t.Helper()
		said := i.ops(t).ask(t, method, ops+what, "", body)
		said.is(t, method+" "+what, http.StatusOK, "")
		return said
	}
	refused := func(i *instance, why string) {
		t.Helper()
		if got := i.place(t, "in-the-pause"); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, `"`+why+`"`) {
			t.Errorf("an order: %d %s, want %s", got.Status, got.Body, why)
		}
	}
	say(one, http.MethodPost, "/pause", `{"expeditionTypes": ["pickup"], "note": "the oven is broken"}`)
	refused(one, "restaurant_paused")
	event("restaurant.availability", `"pickup":{"now":false,"reason":"paused","next":null`)
	refused(two, "restaurant_paused")
	compat := strings.Replace(soups(""), `"soup"`, `"7"`, 1)
	two.ask(t, http.MethodPost, "/orders/api/v1/orders", "compatible", compat).
		is(t, "an order of the compatible API", http.StatusUnprocessableEntity, "validation_failed")
	two.place(t, "before").is(t, "the order before the pause, again", http.StatusCreated, "")
	two.pay(t, "1", "").is(t, "its payment", http.StatusOK, "")

	events.close()
	two.kill(t)
	two = m.start(t, "2", cfg)
	refused(two, "restaurant_paused") // its first order
	m.redis.Stop()
	if got := one.validate(t, ""); got.Status != http.StatusOK || !strings.Contains(got.Body, `"restaurant_paused"`) {
		t.Errorf("a validation without Redis: %d %s", got.Status, got.Body)
	}
	one.ops(t).ask(t, http.MethodDelete, ops+"/pause", "", "").is(t, "the end of the pause without Redis", http.StatusServiceUnavailable, "storage_unavailable")
	if got := one.ops(t).ask(t, http.MethodGet, "/v1/restaurants/r", "", "").Body; !strings.Contains(got, `"reason":"paused"`) {
		t.Errorf("the restaurant without Redis: %s", got)
	}
	m.redis.Restart()
	clitest.Eventually(t, "orders are taken again, except by the paused restaurant", func() bool {
		return strings.Contains(one.place(t, "after-the-restart").Body, `"restaurant_paused"`)
	})
	say(two, http.MethodDelete, "/pause", "")
	clitest.Eventually(t, "the end of the pause", func() bool { return one.place(t, "after-the-pause").Status == http.StatusCreated })

	var until time.Time
	for _, available := range []bool{false, true} {
		body := `{"ids": ["soup"]}`
		if available {
			until = time.Now().Add(2 * time.Second).Truncate(time.Second) //testwaits:allow the end of the snooze, for which the test waits
			body = fmt.Sprintf(`{"ids": ["soup"], "until": %q}`, until.Format(time.RFC3339))
		}
		say(one, http.MethodPost, "/snooze", body)
		for _, i := range []*instance{one, two} {
			clitest.Eventually(t, fmt.Sprintf("the snoozed dish is available: %t", available), func() bool {
				menu := i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body
				return strings.Contains(menu, `"available":false`) == !available
			})
		}
		if !available {
			refused(two, "dish_unavailable")
		}
	}
	if late := time.Since(until); late < 0 || late > 10*time.Second { // the machine may be busy; instances look twice a second
		t.Errorf("the snooze ended %v after its end", late)
	}
	two.place(t, "after-the-snooze").is(t, "an order after the snooze", http.StatusCreated, "")

	closed, opens := openIn(3, time.Now().UTC())
	cfg.restaurant = closed
	m.write(t, "1", cfg)
	one.reload(t)
	if said := say(one, http.MethodPost, "/snooze", `{"ids": ["x"], "until": "next_open"}`); !strings.Contains(said.Body, opens.Format(`"until":"2006-01-02T15:04:05.000Z"`)) {
		t.Errorf("an option until the next opening at %v: %s", opens, said.Body)
	}
	if _, orders, _ := service.seen(); len(orders) != 3 {
		t.Errorf("the service got %d orders, want those before and after the pause and the snooze: %v", len(orders), orders)
	}
}
