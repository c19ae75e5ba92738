package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/clitest"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3*60*60)
	now := time.Date(2026, 12, 31, 18, 30, 15, 5, zone)
	for text, want := range map[string]string{
		"19:00": "2026-12-31T19:00:00+03:00", "18:30": "2027-01-01T18:30:00+03:00", "9:05": "2027-01-01T09:05:00+03:00",
		"45m": "2026-12-31T19:15:15+03:00", "1h30m": "2026-12-31T20:00:15+03:00", "next_open": "next_open",
		"2027-01-02T03:04:05Z": "2027-01-02T03:04:05Z", "2027-01-02T03:04:05+05:30": "2027-01-02T03:04:05+05:30",
	} {
		got, err := untilOf(text, now)
		if err != nil || got == nil || *got != want {
			t.Errorf("--until %s: %v, %v; want %s", text, got, err, want)
		}
	}
	if got, err := untilOf("", now); got != nil || err != nil {
		t.Errorf("no --until: %v, %v", got, err)
	}
	for _, text := range []string{"19", "25:00", "7pm", "tomorrow", "2027-01-02", "2027-01-02T03:04:05", "45"} {
		if got, err := untilOf(text, now); !isA[*usageError](err) || !strings.Contains(err.Error(), "such as 19:00") {
			t.Errorf("--until %s: %v, %v; want an error of use", text, got, err)
		}
	}
}

// The commands send what the routes need, and say what holds.
func TestRestrictions_O23(t *testing.T) {
	t.Parallel()
	var asked []string
	record := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body := new(strings.Builder)
			_ = r.Write(body)
			_, sent, _ := strings.Cut(body.String(), "\r\n\r\n")
			asked = append(asked, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.URL.Path, "/v1/ops/restaurants/r/")+" "+sent))
			clitest.Says(http.StatusOK, answer)(w, r)
		}
	}
	const nothing = `{"result":{"pause":{"delivery":null,"pickup":null},"busy":null,"snoozed":[],"readAt":null}}`
	short := `{"result":{"pause":{"delivery":{"until":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `","note":""},"pickup":null},
		"busy":null,"snoozed":[],"leadTime":{"delivery":"90m","pickup":"90m"}}}`
	const all = `{"result":{"pause":{"delivery":{"until":"2099-12-31T16:00:00.000Z","note":"the oven"},"pickup":{"until":null,"note":""}},
		"busy":{"leadTime":"90m","until":null},"snoozed":[{"id":"f","name":"Fries","until":null,"note":"fryer"}]}}`
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants/r/menu": clitest.Says(http.StatusOK, `{"result":{"products":[{"id":"f","name":"Fries"},{"id":"a/b","name":"Cola"},
			{"id":"c2","name":"cola"}],"ingredients":[{"id":"i","name":"Sauce"}]}}`),
		"POST /v1/ops/restaurants/r/{what}":             record(all),
		"POST /v1/ops/restaurants/r/busy":               record(short),
		"DELETE /v1/ops/restaurants/r/{what}":           record(nothing),
		"DELETE /v1/ops/restaurants/r/snooze/{dish...}": record(nothing),
	})
	for _, tc := range []struct {
		args []string
		sent string // separated by |
		out  string
	}{
		{[]string{"restaurant", "pause", "r", "--type", "pickup", "--until", "2030-01-01T00:00:00Z", "--note", "oven"}, `POST pause {"expeditionTypes":["pickup"],"note":"oven","until":"2030-01-01T00:00:00Z"}`, "no orders for delivery until 2099-12-31"},
		{[]string{"restaurant", "pause", "r"}, `POST pause {"note":"","until":null}`, "no orders for pickup, until you end it\norders take at least 90m, until you end it\nnot sold: Fries, until you end it: fryer\nOrders for the end of a pause or later"},
		{[]string{"restaurant", "open", "r"}, "DELETE pause|DELETE busy", "open: no operator restricts orders\n"},
		{[]string{"restaurant", "busy", "r", "90m"}, `POST busy {"leadTime":"90m","note":"","until":null}`, "\n  This pause changes nothing for guests now: an order for delivery takes at least 90m.\n"},
		{[]string{"menu", "snooze", "r", "fries", "Sauce", "unknown", "a/b"}, `POST snooze {"ids":["f","i","unknown","a/b"],"note":"","until":null}`, "not sold: Fries"},
		{[]string{"menu", "wake", "r", "Fries", "a/b"}, "DELETE snooze/f|DELETE snooze/a/b", "open:"},
	} {
		asked = nil
		got := larder(t, clitest.AsOps(base, tc.args...)...)
		if got.Status != StatusDone || strings.Join(asked, "|") != tc.sent || !strings.Contains(got.Out, tc.out) {
			t.Errorf("%v: %+v, sent %q; want %q", tc.args, got, asked, tc.sent)
		}
	}
	if got := larder(t, clitest.AsOps(base, "menu", "snooze", "r", "COLA")...); got.Status != StatusUsage || !strings.Contains(got.Err, `2 dishes and options have the name "COLA": use the ids a/b, c2`) {
		t.Errorf("an ambiguous name: %+v", got)
	}
	if got := larder(t, clitest.AsOps(base, "restaurant", "pause", "r", "--json")...); got.Status != StatusDone || !strings.Contains(got.Out, `"leadTime": "90m"`) {
		t.Errorf("--json: %+v", got)
	}
}
