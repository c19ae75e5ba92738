package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// hundred serves the restaurants id-1 to id-100, named Pier 1 to Pier 100, and two of one name.
func hundred(w http.ResponseWriter, r *http.Request) {
	rows := make([]string, 100)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"id-%d","name":"Pier %d"}`, i+1, i+1)
	}
	rows = append(rows, `{"id":"east","name":"Harbour"}`, `{"id":"west","name":"harbour "}`)
	clitest.Says(200, `{"result":[`+strings.Join(rows, ",")+`],"next":null}`)(w, r)
}

// named returns a handler that answers for the restaurant id-7, and with 404 for all others.
func named(body string, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*asked = append(*asked, r.PathValue("id")+string(text))
		if r.PathValue("id") != "id-7" {
			clitest.Says(404, `{"status":404,"code":"restaurant_not_found","msg":"the restaurant does not exist; GET /v1/restaurants lists those that exist",`+
				`"errors":[{"path":"","code":"restaurant_not_found","params":{"total":102}}]}`)(w, r)
			return
		}
		clitest.Says(200, body)(w, r)
	}
}

// Every command with a RESTAURANT or --restaurant takes its name, if it is unique.
func TestNameOfARestaurant(t *testing.T) {
	t.Parallel()
	var asked []string
	run, view := finished("id-7", "unchanged", ""), clitest.LunchMenu
	list := `{"result":[{"version":2,"current":true}],"next":null}`
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": hundred, "GET /v1/ops/restaurants": hundred,
		"POST /v1/ops/restaurants/{id}/sync":                   named(run, &asked),
		"POST /v1/ops/restaurants/{id}/rollback":               named(run, &asked),
		"DELETE /v1/ops/restaurants/{id}/hold":                 named(run, &asked),
		"POST /v1/ops/restaurants/{id}/{what}":                 named(`{"result":{}}`, &asked),
		"DELETE /v1/ops/restaurants/{id}/{what}":               named(`{"result":{}}`, &asked),
		"DELETE /v1/ops/restaurants/{id}/snooze/{dish}":        named(`{"result":{}}`, &asked),
		"GET /v1/ops/restaurants/{id}/lint":                    named(`{"result":[]}`, &asked),
		"GET /v1/ops/restaurants/{id}/quarantined/lint":        named(`{"result":[]}`, &asked),
		"GET /v1/ops/restaurants/{id}/quarantined":             named(view, &asked),
		"GET /v1/ops/restaurants/{id}/versions":                named(list, &asked),
		"GET /v1/ops/restaurants/{id}/versions/{version}/view": named(view, &asked),
		"GET /v1/restaurants/{id}/menu":                        named(`{"result":{"restaurant":{"name":"Pier 7"}}}`, &asked),
		"POST /v1/restaurants/{id}/orders":                     named(`{"result":{"ref":"`+ref+`","orderID":"1","state":"placed","total":1}}`, &asked),
		"POST /v1/restaurants/{id}/orders/validate":            named(`{"result":{"valid":true,"total":1}}`, &asked),
	})
	order := clitest.WriteFile(t, "order.json", `{"dishList":[]}`)
	for _, args := range [][]string{
		{"sync"},
		{"menu", "show"},
		{"menu", "show", "--quarantined"},
		{"menu", "lint"},
		{"menu", "lint", "--quarantined"},
		{"menu", "versions"},
		{"menu", "release"},
		{"menu", "diff", "--from", "1"},
		{"menu", "diff", "--from", "1", "--to", "2"},
		{"menu", "diff", "--quarantined"},
		{"menu", "rollback", "NAME", "1"},
		{"restaurant", "pause"},
		{"restaurant", "open"},
		{"restaurant", "busy", "NAME", "90m"},
		{"menu", "snooze", "NAME", "soup"},
		{"menu", "wake", "NAME", "soup"},
		{"order", "validate", order, "--restaurant", "NAME"},
		{"order", "place", order, "--restaurant", "NAME"},
	} {
		if !slices.Contains(args, "NAME") {
			args = append(args, "NAME")
		}
		line := func(name string) []string {
			words := slices.Clone(args)
			words[slices.Index(words, "NAME")] = name
			return clitest.AsOps(base, words...)
		}
		asked = nil
		got := larder(t, line("pier 7")...)
		if got.Status != StatusDone || len(asked) < 2 || !strings.HasPrefix(asked[0], "pier 7") || !strings.HasPrefix(asked[1], "id-7") {
			t.Errorf("%v: %+v, asked %q", args, got, asked)
		}
		asked = nil
		if got := larder(t, line("id-7")...); got.Status != StatusDone || !strings.HasPrefix(asked[0], "id-7") {
			t.Errorf("%v with an id: %+v, asked %q", args, got, asked)
		}
		const nearest = "the nearest of 102: Pier 8 (id-8), Pier 80 (id-80), Pier 81 (id-81), Pier 82 (id-82), Pier 83 (id-83)"
		if got := larder(t, line("Pier 8x")...); got.Status != StatusFailed || !strings.Contains(got.Out+got.Err, nearest) || len(got.Out+got.Err) > 700 {
			t.Errorf("%v with a wrong name: %+v", args, got)
		}
		if got := larder(t, line("Harbour")...); got.Status != StatusFailed ||
			!strings.Contains(got.Out+got.Err, `2 restaurants have the name "Harbour": use one of the ids east, west`) {
			t.Errorf("%v with an ambiguous name: %+v", args, got)
		}
		got = larder(t, append(line("Pier 8x"), "--json")...)
		if out := strings.ReplaceAll(got.Out, "\\\"", "'"); got.Status != StatusFailed || !strings.Contains(out, `"there is no restaurant 'Pier 8x'; the nearest of 102: `) {
			t.Errorf("%v --json with a wrong name: %+v", args, got)
		}
	}
}

func TestNearestRestaurants(t *testing.T) {
	t.Parallel()
	all := []Restaurant{{ID: "b7", Name: "South Quay"}, {ID: "a1", Name: "North Pier"}, {ID: "c9", Name: "The Northern Light"}}
	for given, want := range map[string]string{
		"north": "North Pier (a1)", "Sout Quai": "South Quay (b7)", "c8": "The Northern Light (c9)", strings.Repeat("north", 100): "The Northern Light (c9)",
	} {
		if got := nearestRestaurants(all, given); len(got) != 3 || got[0] != want {
			t.Errorf("nearest to %.20q: %q, want %s first", given, got, want)
		}
	}
	if _, msg := findRestaurant(nil, "x"); msg != `there is no restaurant "x", and no other one` {
		t.Errorf("without restaurants: %s", msg)
	}
}

// The names of a configuration work where its restaurants are fetched, and for the stop lists of a FILE.
func TestNameOfAConfiguredRestaurant(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "larder.yaml", `
connections: [{name: main, base_url: "http://127.0.0.1:1", auth_url: "http://127.0.0.1:1", client_id: a, client_secret: secret-of-it}]
restaurants: [{id: north, name: North Pier}, {id: south, name: South Quay}]
`)
	file := clitest.WriteFile(t, "menu.json", clitest.LunchMenu) // bread is out of stock in north
	for _, args := range [][]string{{"--restaurant", "north"}, {"--restaurant", "north pier", "--config", config}} {
		if out := must(t, append([]string{"menu", "show", file}, args...)...); !strings.Contains(out, "out of stock") {
			t.Errorf("menu show %v: %s", args, out)
		}
	}
	if out := must(t, "menu", "show", file, "--restaurant", "elsewhere", "--config", config); strings.Contains(out, "out of stock") {
		t.Errorf("menu show of another service's restaurant: %s", out)
	}
	got := larder(t, "menu", "diff", "North Pier", file, "--config", config)
	if got.Status != StatusFailed || !strings.Contains(got.Err, "connection refused") {
		t.Errorf("menu diff of a name: %+v", got)
	}
	got = larder(t, "menu", "diff", "North Peer", file, "--config", config)
	if want := `"North Peer" is not a file, and in the configuration there is no restaurant "North Peer"; the nearest of 2: North Pier (north), South Quay (south)`; got.Status != StatusFailed || !strings.Contains(got.Err, want) {
		t.Errorf("menu diff of a wrong name: %+v", got)
	}
}

const someRestaurants = `{"result":[
	{"id":"u3","name":"Pier 10","version":1,"states":[],"checkedAt":"2026-05-01T11:58:00.000Z","lastOutcome":"unchanged","freshness":{"ageSeconds":120.5}},
	{"id":"u2","name":"pier 9","version":4,"states":["failed","stale"],"checkedAt":"2026-04-28T12:00:00.000Z","lastOutcome":"failed","freshness":{"ageSeconds":259200}}],"next":"more"}`

const moreRestaurants = `{"result":[
	{"id":"u4","name":null,"version":null,"states":["missing"],"checkedAt":null,"lastOutcome":null,"freshness":{"ageSeconds":null}},
	{"id":"u1","name":"Älter","version":2,"states":["held"],"checkedAt":"2026-05-01T11:00:00.000Z","lastOutcome":"held","freshness":{"ageSeconds":3600}}],"next":null}`

func restaurantLister(t *testing.T, asked *[]string) string {
	t.Helper()
	return clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/ops/restaurants": func(w http.ResponseWriter, r *http.Request) {
			*asked = append(*asked, r.URL.RawQuery)
			if r.FormValue("cursor") != "" {
				clitest.Says(200, moreRestaurants)(w, r)
				return
			}
			clitest.Says(200, someRestaurants)(w, r)
		},
		"GET /v1/ops/runs": clitest.Says(200, `{"result":[
			{"id":"r9","restaurant":"u2","state":"running","startedAt":"2026-05-01T12:00:00.000Z"},
			{"id":"r8","restaurant":"u2","state":"finished","outcome":"failed","startedAt":"2026-05-01T11:59:00.000Z","finishedAt":"2026-05-01T11:59:01.000Z"},
			{"id":"r7","restaurant":"u2","state":"finished","outcome":"updated","startedAt":"2026-05-01T10:00:00.000Z","finishedAt":"2026-05-01T10:00:01.000Z"}],"next":"more"}`),
	})
}

func TestRestaurantList(t *testing.T) {
	t.Parallel()
	var asked []string
	base := restaurantLister(t, &asked)
	const want = `NAME     STATE          AGE  LAST RUN (UTC)       OUTCOME    ID
Älter    held           1h   -                    held       u1
pier 9   failed, stale  3d   2026-05-01 11:59:01  failed     u2
Pier 10  ok             2m   2026-05-01 11:58:00  unchanged  u3
u4       missing        -    -                    -          u4
`
	if got := larder(t, clitest.AsOps(base, "restaurant", "list", "--state", "attention")...); got.Status != StatusDone || got.Out != want {
		t.Errorf("restaurant list: %+v, want\n%s", got, want)
	}
	must(t, clitest.AsOps(base, "restaurant", "list", "--search", "9 Pier")...)
	if want := []string{"limit=500&state=attention&cursor=", "limit=500&state=attention&cursor=more"}; !slices.Equal(asked[:2], want) || !slices.ContainsFunc(asked, func(query string) bool {
		return strings.HasPrefix(query, "limit=500&q=9+Pier&")
	}) {
		t.Errorf("asked %q, want %q and the search", asked, want)
	}
	for order, want := range map[string]string{
		"name": "u1 u2 u3 u4", "state": "u4 u2 u1 u3", "age": "u4 u2 u1 u3", "last-run": "u2 u3 u1 u4",
	} {
		got := clitest.FromJSON[struct {
			Result []struct {
				ID      string
				States  []string
				LastRun *struct{ ID, Outcome string }
			}
			Total int
		}](t, must(t, clitest.AsOps(base, "restaurant", "list", "--json", "--sort", order)...))
		var ids []string
		for _, row := range got.Result {
			ids = append(ids, row.ID)
			if (row.LastRun != nil) != (row.ID == "u2") || row.LastRun != nil && row.LastRun.ID != "r8" || row.States == nil {
				t.Errorf("%s has %+v", row.ID, row)
			}
		}
		if strings.Join(ids, " ") != want || got.Total != 4 {
			t.Errorf("--sort %s: %v of %d, want %s", order, ids, got.Total, want)
		}
	}
	got := larder(t, clitest.AsOps(base, "restaurant", "list", "--limit", "1")...)
	if lines := strings.Split(got.Out, "\n"); len(lines) != 4 || lines[2] != "1 of 4 restaurants; use --limit, --state or --search for others" {
		t.Errorf("--limit 1: %+v", got)
	}
	for _, wrong := range [][]string{{"--limit", "0"}, {"--state", "sleepy"}, {"--sort", "size"}} {
		if got := larder(t, clitest.AsOps(base, append([]string{"restaurant", "list"}, wrong...)...)...); got.Status != StatusUsage || !strings.Contains(got.Err, wrong[0]+": ") {
			t.Errorf("restaurant list %v: %+v", wrong, got)
		}
	}
	odd := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/restaurants": clitest.Says(200, `{"result":[{}],"next":null}`)})
	if got := larder(t, clitest.AsOps(odd, "restaurant", "list", "--json")...); got.Status != StatusFailed || !strings.Contains(got.Err, "is not from larder") {
		t.Errorf("rows without an id: %+v", got)
	}
	none := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/restaurants": clitest.Says(200, `{"result":[],"next":null}`)})
	if out := must(t, clitest.AsOps(none, "restaurant", "list")...); out != "no restaurants\n" {
		t.Errorf("no restaurants: %q", out)
	}
}

// The states are those of the API.
func TestRestaurantStates(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../httpapi/openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\{name: state, .*enum: \[(attention, [^\]]*)\]`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the document has no states")
	}
	want, got := strings.Split(string(found[1]), ", "), restaurantStates()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
}

func TestAgeText(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "0s", 59.9: "59s", 60: "1m", 3599: "59m", 3600: "1h", 172799: "47h", 172800: "2d"} {
		if got := ageText(seconds); got != want {
			t.Errorf("ageText(%v) = %s, want %s", seconds, got, want)
		}
	}
}

// The row of a newer daemon may have more members, which --json keeps.
func TestRestaurantListKeepsUnknownMembers(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/restaurants": clitest.Says(200, `{"result":[{"id":"a","hours":[1]}],"next":null}`)})
	got := clitest.FromJSON[struct{ Result []map[string]json.RawMessage }](t, must(t, clitest.AsOps(base, "restaurant", "list", "--json")...))
	if row := got.Result[0]; row["hours"] == nil || string(row["lastRun"]) != "null" {
		t.Errorf("the row is %s", row)
	}
}
