package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"larder.local/cmd/larder/client"
	"larder.local/internal/testkit/clitest"
)

// openIn returns hours of the restaurant that begin in three days, and at no other time.
func openIn(now time.Time) (configuration string, opens time.Time) {
	opens = time.Date(now.Year(), now.Month(), now.Day()+3, 11, 0, 0, 0, time.UTC)
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
	closed, opens := openIn(now)
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

	closed, opens := openIn(time.Now().UTC())
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

var clockSteps = flag.Bool("clock-steps", false, "run TestClockSteps_O23, which builds Go's package time again")

// stepped is an instance whose clock the test moves, as an administrator or a time server does. Timers go on.
type stepped struct {
	*instance
	clock string // the file with the seconds by which its clock is ahead
}

func (s *stepped) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	name := s.clock + ".new"
	err := os.WriteFile(name, fmt.Append(nil, int64(ahead/time.Second)), 0o600)
	if err = errors.Join(err, os.Rename(name, s.clock)); err != nil { // renamed: larder never reads half a number
		t.Fatal(err)
	}
	if s.instance != nil {
		clitest.Eventually(t, "larder has the new clock", func() bool {
			seen, _ := os.ReadFile(s.clock + ".seen")
			return string(seen) == strconv.FormatInt(int64(ahead/time.Second), 10)
		})
		s.shop = client.New(t.Context(), s.base, "shop", "shop-secret") // the last token may have expired
		t.Cleanup(s.shop.HTTP.CloseIdleConnections)
	}
}

// buildStepped builds larder with a clock that is ahead by the seconds in a file.
func buildStepped(t *testing.T) (program string) {
	t.Helper()
	goroot, _ := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	now, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const reads = "sec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(now), reads) != 1 {
		t.Fatalf("time.Now of this release of Go does not have the line %q", reads)
	}
	here, _ := filepath.Abs(".")
	overlay := map[string]string{
		filepath.Join(source, "time.go"):  clitest.WriteFile(t, "time.go", strings.Replace(string(now), reads, reads+"\tsec += Ahead.Load()\n", 1)),
		filepath.Join(source, "ahead.go"): clitest.WriteFile(t, "ahead.go", "package time\n\nimport \"sync/atomic\"\n\nvar Ahead atomic.Int64\n"),
		filepath.Join(here, "clock.go"): clitest.WriteFile(t, "clock.go", `package main

import (
	"os"
	"strconv"
	"time"
)

func init() {
	name := os.Getenv("LARDER_TEST_CLOCK")
	read := func() {
		text, _ := os.ReadFile(name)
		seconds, err := strconv.ParseInt(string(text), 10, 64)
		if err == nil && time.Ahead.Swap(seconds) != seconds {
			_ = os.WriteFile(name+".seen", text, 0o600)
		}
	}
	read()
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			read()
		}
	}()
}
`),
	}
	files, _ := json.Marshal(map[string]any{"Replace": overlay})
	program = filepath.Join(t.TempDir(), "larder")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", clitest.WriteFile(t, "overlay.json", string(files)),
		"-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build larder: %v\n%s", err, output)
	}
	return program
}

// TestClockSteps_O23 sets the clocks of two instances forwards and back by hours. What an operator said last holds on both, and
// the end of a restriction is a matter of each instance's clock alone: it is never written for the other one.
func TestClockSteps_O23(t *testing.T) {
	t.Parallel()
	if !*clockSteps {
		t.Skip("make clock-steps runs it")
	}
	program := buildStepped(t)
	m, service := newMoving(t), newPOS(t, 10)
	cfg := over(service)
	cfg.restaurant, _ = openIn(time.Now().UTC())
	start := func(name string, ahead time.Duration) *stepped {
		s := &stepped{clock: filepath.Join(t.TempDir(), name)}
		s.set(t, ahead)
		m.env = []string{"LARDER_TEST_CLOCK=" + s.clock}
		s.instance = m.startProgram(t, program, m.write(t, name, cfg))
		s.waitFor(t, 10)
		return s
	}
	one, two := start("1", 0), start("2", 0)
	t.Cleanup(func() { t.Log(one.log.String()) })
	accepts := func(s *stepped, want string) { // by validations, at once, and by what storefronts read, within a moment
		t.Helper()
		if got := s.validate(t, ""); got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
			t.Errorf("a validation: %d %s, want %s", got.Status, got.Body, want)
		}
		reason := map[string]string{`"valid":true`: `"reason":null`, `"restaurant_paused"`: `"reason":"paused"`, `"restaurant_closed"`: `"reason":"closed"`}[want]
		clitest.Eventually(t, "storefronts read "+reason, func() bool {
			return strings.Contains(s.ask(t, http.MethodGet, "/v1/restaurants/r", "", "").Body, `"pickup":{"now":`+strconv.FormatBool(reason == `"reason":null`)+","+reason)
		})
	}
	say := func(s *stepped, method, what, body string) {
		t.Helper()
		s.ops(t).ask(t, method, "/v1/ops/restaurants/r"+what, "", body).is(t, method+" "+what, http.StatusOK, "")
	}
	sold := func(s *stepped, want bool) {
		t.Helper()
		clitest.Eventually(t, fmt.Sprintf("the dish is available: %t", want), func() bool {
			return strings.Contains(s.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body, `"available":false`) != want
		})
	}
	// The hours: closed, open by the clock of one instance, and closed again.
	accepts(one, `"restaurant_closed"`)
	_, opens := openIn(time.Now().UTC())
	one.set(t, time.Until(opens)-30*time.Minute) // with an hour of lead time, an order is ready half an hour after the opening
	accepts(one, `"valid":true`)
	accepts(two, `"restaurant_closed"`)
	one.set(t, 0)
	accepts(one, `"restaurant_closed"`)
	cfg.restaurant = "connection: a"
	for name, s := range map[string]*stepped{"1": one, "2": two} {
		m.write(t, name, cfg)
		s.reload(t)
		accepts(s, `"valid":true`)
	}

	// A pause and a snooze end by the clock of each instance, and hold again if that clock is set back.
	end := fmt.Sprintf(`{"until": %q`, time.Now().Add(3*time.Hour).Format(time.RFC3339))
	say(one, http.MethodPost, "/pause", end+"}")
	say(one, http.MethodPost, "/snooze", end+`, "ids": ["soup"]}`)
	for _, s := range []*stepped{one, two} {
		sold(s, false)
		accepts(s, `"restaurant_paused"`)
	}
	two.set(t, 4*time.Hour)
	sold(two, true)
	accepts(two, `"valid":true`)
	accepts(one, `"restaurant_paused"`)
	sold(one, false)
	two.set(t, 0)
	sold(two, false)
	accepts(two, `"restaurant_paused"`)

	// What was said last holds, whatever the clocks show.
	two.set(t, 4*time.Hour)
	say(two, http.MethodPost, "/pause", "{}")
	say(two, http.MethodDelete, "/snooze/soup", "")
	say(one, http.MethodDelete, "/snooze/soup", "")
	sold(one, true)
	accepts(one, `"restaurant_paused"`)
	say(one, http.MethodDelete, "/pause", "")
	accepts(one, `"valid":true`)
	accepts(two, `"valid":true`)
	one.set(t, -6*time.Hour)
	say(one, http.MethodPost, "/pause", `{"note": "said six hours ago"}`)
	accepts(one, `"restaurant_paused"`)
	accepts(two, `"restaurant_paused"`)
	two.kill(t)
	two = start("2", -time.Hour)
	accepts(two, `"restaurant_paused"`) // its first order
	one.set(t, 0)
	accepts(one, `"restaurant_paused"`)
	say(two, http.MethodDelete, "/pause", "")
	accepts(one, `"valid":true`)
	accepts(two, `"valid":true`)
}
