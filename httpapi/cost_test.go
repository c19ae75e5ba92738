package httpapi_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/openapi"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
)

// The CPU time that an anonymous request may use per token of its rate limit (policy H7). make cost
// measures it on an idle machine. Beside other tests the processor is slower, and the race detector
// makes code many times slower; then the limits detect only work without a bound.
const (
	costLimit       = 2 * time.Millisecond
	costLimitBeside = 5 * costLimit
	costLimitRace   = 50 * costLimit
)

// measured: no other tests are running (make cost).
var measured = flag.Bool("cost", false, "fail if an anonymous request needs more than 2 ms of CPU time per token")

// branches is the number of restaurants in addition to the three of each test. The race detector
// makes their syncs slow; make test and make cost use the full number.
func branches() int {
	if raceDetector {
		return 47
	}
	return 497
}

// costs lists the most expensive anonymous requests of each operation.
type costs map[string][]costly

// costly is one of these requests.
type costly struct {
	path   string // path with its query
	header []string
	body   string
	tokens int // tokens of its rate limit; 0: as if there were no limit
}

// TestAnonymousCost measures the CPU time of the most expensive anonymous requests, after the first
// request of each.
func TestAnonymousCost(t *testing.T) { //nolint:paralleltest // it measures the process
	w, ids := newCostFixture(t)
	all := costsOf(ids)
	for _, operation := range anonymousOperations(t) {
		if len(all[operation]) == 0 {
			t.Errorf("%s is anonymous by the API document and has no measured request here", operation)
		}
	}
	limit := costLimitIn()
	hostile := hostileRequests(t, w)
	for operation, requests := range hostile {
		all[operation] = append(all[operation], requests...)
	}
	for _, operation := range slices.Sorted(maps.Keys(all)) {
		requests := all[operation]
		method, _, _ := strings.Cut(operation, " ")
		for _, each := range requests {
			tokens := max(each.tokens, 1)
			got := w.cpuOf(method, each, limit*time.Duration(tokens)) / time.Duration(tokens)
			t.Logf("%-60s %8v a token (%d): %s", operation, got, each.tokens, firstOf(each.path))
			if got > limit {
				t.Errorf("%s takes %v of the processor for a token, at most %v are allowed (%s)", operation, got, limit, firstOf(each.path))
			}
		}
	}
}

// With many restaurants too, a stranger's request costs little (policy H7).
func TestAnonymousCostOfManyRestaurants(t *testing.T) { //nolint:paralleltest // it measures the process
	w := &costFixture{Fixture: newFixture(t, func(p *apitest.Plan) {
		p.HTTP.Rate = httpapi.RateConfig{}
		p.Sync = func(deps *menusync.Deps) {
			for i := range 30_000 { // without menus: the readiness check lists them
				one := deps.Restaurants[1]
				one.ID, one.Name = menu.RestaurantID(fmt.Sprintf("branch-%05d", i)), fmt.Sprintf("Branch %d of a chain", i)
				deps.Restaurants = append(deps.Restaurants, one)
			}
		}
	})}
	w.Ahead(31 * time.Second) // ready, though most restaurants have no menu
	for _, path := range []string{
		"/readyz", "/readyz?verbose", "/v1/restaurants?limit=500", "/v1/restaurants?q=a+b+c+nowhere", "/v1/restaurants/nowhere/menu",
	} {
		limit := costLimitIn()
		got := w.cpuOf(http.MethodGet, costly{path: path}, limit)
		t.Logf("%8v %s", got, path)
		if got > limit {
			t.Errorf("GET %s takes %v of the processor, at most %v are allowed", path, got, limit)
		}
	}
}

// costLimitIn is the limit of this run.
func costLimitIn() time.Duration {
	switch {
	case raceDetector:
		return costLimitRace
	case *measured:
		return costLimit
	}
	return costLimitBeside
}

// anonymousOperations returns the operations of the API document that need no token, or that a
// guest's page may call.
func anonymousOperations(t *testing.T) []string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	var operations []string
	for path, methods := range document.Paths {
		for method, raw := range methods {
			var operation struct {
				Security  *[]map[string][]string
				Responses map[string]any
			}
			if json.Unmarshal(raw, &operation) != nil || operation.Responses == nil || operation.Security == nil {
				continue // parameters of all methods of the path, or the document's own security, which is a token
			}
			anonymous := len(*operation.Security) == 0 || slices.ContainsFunc(*operation.Security, func(way map[string][]string) bool {
				_, guest := way["guest"]
				return guest || len(way) == 0
			})
			if anonymous {
				operations = append(operations, strings.ToUpper(method)+" "+path)
			}
		}
	}
	if len(operations) < 20 {
		t.Fatalf("only %d anonymous operations are in the API document", len(operations))
	}
	return operations
}

// costFixture is an instance with a menu of 400 dishes and many restaurants, without rate limits:
// each entry has its number of tokens.
type costFixture struct {
	*apitest.Fixture
	client *bufio.Reader
	conn   net.Conn
}

func newCostFixture(t *testing.T) (*costFixture, menuIDs) {
	t.Helper()
	server := redistest.Start(t, redistest.AppendOnly())
	w := newFixture(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.Redis.URL, p.Ordering.AllowNonDurable = server.URL(), false
		p.HTTP.Rate = httpapi.RateConfig{}
		p.HTTP.Page.Enabled = true
		p.Auth.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{"https://shop.example"}, PaymentTypes: []string{"cash"}}
		p.Sync = func(deps *menusync.Deps) {
			for i := range branches() {
				one := deps.Restaurants[1]
				one.ID, one.Name = menu.RestaurantID(fmt.Sprintf("branch-%03d", i)), fmt.Sprintf("Branch %d of a chain", i)
				deps.Restaurants = append(deps.Restaurants, one)
			}
		}
	})
	view := sandbox.Generate{Products: 400, Seed: 1}.Menu(0)
	w.Service.Menus[apitest.Bistro], w.Service.Menus[""] = string(view), string(view)
	for _, id := range []string{apitest.Bistro, apitest.North, apitest.Empty} {
		w.SyncOnce(id)
	}
	if err := w.Store.SaveReasons(t.Context(), "main", []byte(`[{"ID":"1","reason":"Sold out","type":"simple"}]`)); err != nil {
		t.Fatal(err)
	}
	for i := range branches() {
		id := fmt.Sprintf("branch-%03d", i)
		w.Service.Menus[id] = apitest.FullMenu
		w.SyncOnce(id)
	}
	w.Service.Menus[apitest.Bistro] = strings.Replace(string(view), `"price":`, `"price":1`, 200)
	w.SyncOnce(apitest.Bistro)
	ids := menuIDsOf(t, view)
	for _, id := range ids.Products {
		var dish struct {
			Groups []struct{ Options []struct{ ID string } }
		}
		w.Get("/v1/restaurants/"+apitest.Bistro+"/products/"+id).Is(t, http.StatusOK).Into(t, &dish)
		var options []string
		for _, group := range dish.Groups {
			for _, option := range group.Options {
				options = append(options, option.ID)
			}
		}
		ids.Options = append(ids.Options, options)
	}
	return &costFixture{Fixture: w}, ids
}

// menuIDs has the ids of a menu's dishes and ingredients.
type menuIDs struct {
	Products, Ingredients []string
	Options               [][]string // the ingredients of each dish
}

func menuIDsOf(t *testing.T, view []byte) (ids menuIDs) {
	t.Helper()
	var read struct{ Products, Ingredients []struct{ ID string } }
	if err := json.Unmarshal(view, &read); err != nil {
		t.Fatal(err)
	}
	for _, p := range read.Products {
		ids.Products = append(ids.Products, p.ID)
	}
	for _, i := range read.Ingredients {
		ids.Ingredients = append(ids.Ingredients, i.ID)
	}
	if len(ids.Products) != 400 || len(ids.Ingredients) < 100 {
		t.Fatalf("the menu has %d dishes and %d ingredients", len(ids.Products), len(ids.Ingredients))
	}
	return ids
}

// cpuOf returns the CPU time of a request: the minimum of up to 30 rounds, because other
// processes only add to it. One round within the limit is enough. The result includes the test's
// own client, which only writes the bytes of the request.
func (w *costFixture) cpuOf(method string, each costly, limit time.Duration) time.Duration {
	w.T.Helper()
	const rounds = 30 // together a tenth of a second, for which other processes may slow the machine
	long := 4 * time.Millisecond
	if raceDetector {
		long = 1 // for one request the limit is generous
	}
	w.send(method, each) // the first computation
	least := time.Hour
	for range rounds {
		var requests, used time.Duration
		for before := processorTime(w.T); used < long; used = processorTime(w.T) - before {
			w.send(method, each)
			requests++
		}
		if least = min(least, used/requests); least <= limit {
			break
		}
	}
	return least
}

// send sends one request on a kept connection and reads its answer.
func (w *costFixture) send(method string, each costly) {
	w.T.Helper()
	if w.conn == nil {
		var dialer net.Dialer
		conn, err := dialer.DialContext(w.T.Context(), "tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			w.T.Fatal(err)
		}
		w.conn, w.client = conn, bufio.NewReaderSize(conn, 64<<10)
	}
	var request strings.Builder
	request.WriteString(method + " " + each.path + " HTTP/1.1\r\nHost: larder\r\n")
	for i := 0; i < len(each.header); i += 2 {
		request.WriteString(each.header[i] + ": " + each.header[i+1] + "\r\n")
	}
	if each.body != "" || method == http.MethodPost {
		fmt.Fprintf(&request, "Content-Length: %d\r\n", len(each.body))
	}
	request.WriteString("\r\n" + each.body)
	if _, err := io.WriteString(w.conn, request.String()); err != nil {
		w.T.Fatal(err)
	}
	answer, err := http.ReadResponse(w.client, &http.Request{Method: method})
	if err != nil {
		w.T.Fatalf("%s %s: %v", method, firstOf(each.path), err)
	}
	stream := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
	if stream {
		_, err = bufio.NewReader(answer.Body).ReadString('\n') // the body has no end
	} else {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests {
		w.T.Fatalf("%s %s: status %d (%v)", method, firstOf(each.path), answer.StatusCode, err)
	}
	if stream || answer.Close {
		_ = w.conn.Close()
		w.conn = nil
	}
	_ = answer.Body.Close() // after the connection: closing an open stream would wait for its end
}

// processorTime returns the CPU time that this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func firstOf(text string) string { return text[:min(len(text), 100)] }
