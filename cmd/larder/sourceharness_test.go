package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder.local/cmd/larder/client"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// pos is an ordering service with one soup, which every pos has under the same externalId for another price. All of them
// use the same validators and the same order numbers.
type pos struct {
	*httptest.Server
	price int

	mu      sync.Mutex
	created int      // the status of a new order
	refusal string   // the body, instead of an orderID
	menu    int      // the status of the menu: 200, or another one; 304 only for a conditional request
	reads   []string // If-None-Match of each read of a menu
	first   []string // those until the first menu was sent
	sent    bool     // a menu
	orders  []string // the bodies of orders
	changes []string // such as "1/pay"
}

func newPOS(t *testing.T, price int) *pos {
	t.Helper()
	s := &pos{price: price, menu: http.StatusOK, created: http.StatusCreated}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *pos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch path := strings.TrimPrefix(r.URL.Path, "/orders/api/v1/"); {
	case r.URL.Path == "/connect/token":
		_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
	case path == "menu/view":
		s.reads = append(s.reads, r.Header.Get("If-None-Match"))
		if !s.sent {
			s.first = s.reads
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, s.price%10)) // the same for prices of 10 and 20
		if s.menu != http.StatusOK && (s.menu != http.StatusNotModified || r.Header.Get("If-None-Match") != "") {
			w.WriteHeader(s.menu)
			return
		}
		s.sent = true
		_, _ = fmt.Fprintf(w, `{"result":{"name":"Test","categories":[{"id":"c","name":"All"}],"products":[`+
			`{"id":"soup","externalId":"7","categoryId":"c","name":"Soup","price":%d,"schemeId":"s","isContainInStopList":[]}],`+
			`"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":0,"maxCount":0}]}],`+
			`"ingredientsGroups":[{"id":"g","name":"Extras","ingredients":["x"]}],`+
			`"ingredients":[{"id":"x","externalId":"8","name":"Bread","price":1}]}}`, s.price)
	case path == "orders":
		s.orders = append(s.orders, string(body))
		w.WriteHeader(s.created)
		if s.refusal != "" {
			_, _ = io.WriteString(w, s.refusal)
			return
		}
		_, _ = fmt.Fprintf(w, `{"result":{"orderID":"%d"}}`, len(s.orders))
	case strings.HasPrefix(path, "orders/"):
		s.changes = append(s.changes, strings.TrimPrefix(path, "orders/"))
		_, _ = io.WriteString(w, `{"result":{}}`)
	default:
		_, _ = io.WriteString(w, `{"result":[]}`)
	}
}

func (s *pos) answerMenus(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menu = status
}

func (s *pos) changePrice(price int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.price = price
}

// answerOrders sets the status of orders; they are executed nevertheless.
func (s *pos) answerOrders(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created = status
}

// untilMenu returns If-None-Match of the reads until the first menu was sent.
func (s *pos) untilMenu() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.first)
}

func (s *pos) seen() (reads, orders, changes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reads), slices.Clone(s.orders), slices.Clone(s.changes)
}

// moving is a Redis and the configuration of instances, which a test changes.
type moving struct {
	redis *redistest.Server
	path  string
	env   []string // of each instance
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	return &moving{redis: redistest.Start(t, redistest.AppendOnly()), path: filepath.Join(t.TempDir(), "larder.yaml")}
}

// configured is what a test changes in the configuration.
type configured struct {
	connections []string // members of each, named a, b, … or from firstName on
	firstName   rune
	restaurant  string // more members of the restaurant
	ordering    string
	schedule    string
}

func over(services ...*pos) configured {
	var s configured
	for _, service := range services {
		s.connections = append(s.connections, fmt.Sprintf("base_url: %q, client_id: shop", service.URL))
	}
	return s
}

// write writes the configuration to a file of its own for each name.
func (m *moving) write(t *testing.T, name string, s configured) (path string) {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "http: {listen: \"127.0.0.1:0\", rate: {place: 1000/s, validate: 1000/s}}\nredis: {url: %q}\ncache: {poll: 500ms}\n"+
		"sync: {schedule: %q, deadline: 5s, lease: 3s}\nordering: {%s}\nconnections:\n",
		m.redis.URL(), cmp.Or(s.schedule, "@every 1h"), s.ordering)
	for i, members := range s.connections {
		url := members[strings.Index(members, `"`)+1:]
		url = url[:strings.Index(url, `"`)]
		fmt.Fprintf(&text, "  - {name: %c, auth_url: %q, client_secret: s, default_menu: false, %s}\n", cmp.Or(s.firstName, 'a')+rune(i), url, members)
	}
	text.WriteString("auth: {clients: [{id: shop, secret: shop-secret, scopes: [menu, orders]}, {id: ops, secret: ops-secret, scopes: [menu, orders, ops]}]}\n")
	fmt.Fprintf(&text, "restaurants: [{id: r, %s}]\n", cmp.Or(s.restaurant, "connection: a"))
	path = m.path + name
	if err := os.WriteFile(path+".new", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// instance is a process that serves.
type instance struct {
	*process
	config, base string
	shop         *client.Client
}

func (m *moving) start(t *testing.T, name string, s configured) *instance {
	t.Helper()
	config := m.write(t, name, s)
	return m.startWith(t, config)
}

func (m *moving) startWith(t *testing.T, config string) *instance {
	t.Helper()
	return m.startProgram(t, built, config)
}

func (m *moving) startProgram(t *testing.T, program, config string) *instance {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), program, "serve", "--config", config), log: clitest.NewWatched()}
	p.cmd.Env, p.cmd.Stderr = append([]string{"LARDER_LOG_FORMAT=json"}, m.env...), p.log
	p.start(t)
	base := p.url(t)
	shop := client.New(t.Context(), base, "shop", "shop-secret")
	t.Cleanup(shop.HTTP.CloseIdleConnections)
	return &instance{process: p, config: config, base: base, shop: shop}
}

func (i *instance) kill(t *testing.T) {
	t.Helper()
	i.signal(t, syscall.SIGKILL)
	_ = i.status(t)
}

// reload sends SIGHUP and waits for it.
func (i *instance) reload(t *testing.T) {
	t.Helper()
	before := strings.Count(i.log.String(), `"event":"config.reloaded"`)
	i.signal(t, syscall.SIGHUP)
	clitest.Eventually(t, "reloaded", func() bool { return strings.Count(i.log.String(), `"event":"config.reloaded"`) > before })
}

// reply is a response with the values that tests compare.
type reply struct {
	Status int
	Code   string
	Body   string
}

func (i *instance) ask(t *testing.T, method, path, key, body string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, i.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.GetBody = nil // otherwise net/http could repeat the request
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := i.shop.Authorized.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var problem struct{ Code string }
	_ = json.Unmarshal(text, &problem)
	return reply{response.StatusCode, problem.Code, string(text)}
}

func soups(more string) string {
	return `{"expeditionType":"pickup","paymentTypeID":"card","soonest":true,"persons":1,"guest":{"phone":"+351 200 000 000","firstName":"Ana"},` +
		`"dishList":[{"ID":"soup","quantity":1` + more + `}]}`
}

func (i *instance) place(t *testing.T, key string) reply {
	t.Helper()
	return i.ask(t, http.MethodPost, "/v1/restaurants/r/orders", key, soups(""))
}

func (i *instance) validate(t *testing.T, more string) reply {
	t.Helper()
	return i.ask(t, http.MethodPost, "/v1/restaurants/r/orders/validate", "", soups(more))
}

func (i *instance) pay(t *testing.T, orderID, key string) reply {
	t.Helper()
	return i.ask(t, http.MethodPut, "/v1/orders/"+orderID+"/pay", key,
		`[{"code":"cash","amount":1000,"paidAt":"2026-11-28T12:00:00+00:00"}]`)
}

// version returns the served version of the menu, its first price, and whether it is stale.
func (i *instance) serves(t *testing.T) (version int64, price int, stale bool) {
	t.Helper()
	var list struct {
		Result []struct {
			Version int64
			Stale   bool
		}
	}
	var menu struct {
		Result struct{ Products []struct{ Price int } }
	}
	_ = json.Unmarshal([]byte(i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body), &menu) // reads it after a start
	_ = json.Unmarshal([]byte(i.ask(t, http.MethodGet, "/v1/restaurants", "", "").Body), &list)
	if len(list.Result) != 1 || len(menu.Result.Products) != 1 {
		return 0, 0, false
	}
	return list.Result[0].Version, menu.Result.Products[0].Price, list.Result[0].Stale
}

// waitFor waits until the instance serves a fresh menu with a price.
func (i *instance) waitFor(t *testing.T, price int) (version int64) {
	t.Helper()
	clitest.Eventually(t, fmt.Sprintf("a fresh menu with the price %d", price), func() bool {
		v, p, stale := i.serves(t)
		version = v
		return p == price && !stale
	})
	return version
}

func (r reply) is(t *testing.T, what string, status int, code string) {
	t.Helper()
	if r.Status != status || r.Code != code {
		t.Errorf("%s: %d %s %s, want %d %s", what, r.Status, r.Code, r.Body, status, code)
	}
}
