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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder/internal/client"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

// pos is an ordering service with one soup, which every pos has under the same externalId for another price. All of them
// use the same validators and the same order numbers.
type pos struct {
	*httptest.Server
	price int

	mu      sync.Mutex
	menu    int      // the status of the menu: 200, or another one; 304 only for a conditional request
	reads   []string // If-None-Match of each read of a menu
	orders  []string // the bodies of orders
	changes []string // such as "1/pay"
}

func newPOS(t *testing.T, price int) *pos {
	t.Helper()
	s := &pos{price: price, menu: http.StatusOK}
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
		w.Header().Set("ETag", `"1"`)
		if s.menu != http.StatusOK && (s.menu != http.StatusNotModified || r.Header.Get("If-None-Match") != "") {
			w.WriteHeader(s.menu)
			return
		}
		_, _ = fmt.Fprintf(w, `{"result":{"name":"Test","categories":[{"id":"c","name":"All"}],"products":[`+
			`{"id":"soup","externalId":"7","categoryId":"c","name":"Soup","price":%d,"schemeId":"s","isContainInStopList":[]}],`+
			`"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":0,"maxCount":0}]}],`+
			`"ingredientsGroups":[{"id":"g","name":"Extras","ingredients":["x"]}],`+
			`"ingredients":[{"id":"x","externalId":"8","name":"Bread","price":1}]}}`, s.price)
	case path == "orders":
		s.orders = append(s.orders, string(body))
		w.WriteHeader(http.StatusCreated)
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

func (s *pos) seen() (reads, orders, changes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reads), slices.Clone(s.orders), slices.Clone(s.changes)
}

// moving is a Redis and the configuration of instances, which a test changes.
type moving struct {
	redis *redistest.Server
	path  string
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	return &moving{redis: redistest.Start(t, redistest.AppendOnly()), path: filepath.Join(t.TempDir(), "larder.yaml")}
}

// configured is what a test changes in the configuration.
type configured struct {
	connections []string // members of each, named a, b, …
	restaurant  string   // more members of the restaurant
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
		fmt.Fprintf(&text, "  - {name: %c, auth_url: %q, client_secret: s, default_menu: false, %s}\n", 'a'+i, url, members)
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

// instance is a running larder.
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
	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", config)
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
	_ = json.Unmarshal([]byte(i.ask(t, http.MethodGet, "/v1/restaurants", "", "").Body), &list)
	var menu struct {
		Result struct{ Products []struct{ Price int } }
	}
	_ = json.Unmarshal([]byte(i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body), &menu)
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

// With another base_url at the start, the menu of the old service is stale and cannot be ordered, until the new service
// has answered an unconditional request. The new service fails at first.
func TestAnotherServiceAtTheStart(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	first.place(t, "key-1-of-the-old-one").is(t, "the order at the old service", http.StatusCreated, "")
	first.kill(t)

	next.answerMenus(http.StatusInternalServerError)
	second := m.start(t, "", over(next))
	clitest.Eventually(t, "the menu was requested at once", func() bool { reads, _, _ := next.seen(); return len(reads) > 0 })
	second.log.Find(t, `"event":"menu.of_another_service"`)
	if _, price, stale := second.serves(t); price != 10 || !stale {
		t.Errorf("served: price %d, stale %v; want the old menu, stale", price, stale)
	}
	second.validate(t, "").is(t, "validate", http.StatusServiceUnavailable, "menu_of_another_service")
	second.place(t, "key-2-of-the-new-one").is(t, "an order", http.StatusServiceUnavailable, "menu_of_another_service")
	if reads, orders, _ := next.seen(); slices.ContainsFunc(reads, func(tag string) bool { return tag != "" }) || len(orders) > 0 {
		t.Errorf("the new service got the validators %q and the orders %q", reads, orders)
	}

	second.log.Find(t, `"event":"(sync.failed|upstream.unreachable)"`)
	next.answerMenus(http.StatusOK)
	must(t, clitest.AsOps(second.base, "sync", "r")...)
	second.waitFor(t, 20)
	second.place(t, "key-2-of-the-new-one").is(t, "an order of the new menu", http.StatusCreated, "")
	if source := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "source").Val(); source != strings.TrimPrefix(next.URL, "http://")+" shop" {
		t.Errorf("current has the source %q", source)
	}
}

// A restaurant on another connection by SIGHUP is the same case, and a new service that answers 304 to the old validator
// does not get it.
func TestAnotherConnectionBySIGHUP(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	next.answerMenus(http.StatusInternalServerError)
	i := m.start(t, "", over(old, next))
	i.waitFor(t, 10)
	moved := over(old, next)
	moved.restaurant = "connection: b"
	m.write(t, "", moved)
	i.reload(t)
	i.validate(t, "").is(t, "validate right after SIGHUP", http.StatusServiceUnavailable, "menu_of_another_service")
	i.place(t, "key-1-after-the-reload").is(t, "an order right after SIGHUP", http.StatusServiceUnavailable, "menu_of_another_service")
	if _, price, stale := i.serves(t); price != 10 || !stale {
		t.Errorf("served: price %d, stale %v; want the old menu, stale", price, stale)
	}
	next.answerMenus(http.StatusNotModified)
	must(t, clitest.AsOps(i.base, "sync", "r")...)
	i.waitFor(t, 20)
	if reads, _, _ := next.seen(); slices.ContainsFunc(reads, func(tag string) bool { return tag != "" }) {
		t.Errorf("the new service got the validators %q", reads)
	}
	i.place(t, "key-2-after-the-reload").is(t, "an order of the new menu", http.StatusCreated, "")
	if _, orders, _ := old.seen(); len(orders) != 0 {
		t.Errorf("the old service got %q", orders)
	}

	// A change back: the menu of the old service is still stored, and is fetched again unconditionally.
	before, _, _ := old.seen()
	m.write(t, "", over(old, next))
	i.reload(t)
	i.waitFor(t, 10)
	clitest.Eventually(t, "the old service is asked again", func() bool { reads, _, _ := old.seen(); return len(reads) > len(before) })
	if reads, _, _ := old.seen(); reads[len(before)] != "" {
		t.Errorf("the first read after the change back is conditional: %q", reads)
	}
	i.place(t, "key-3-after-the-change-back").is(t, "an order after the change back", http.StatusCreated, "")
}

// Orders of the old service cannot be changed at the new one, although it has an order with the same number. Their keys
// return what they returned. former_urls ends that without a fetch.
func TestOrdersOfTheOldService(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	first.waitFor(t, 10)
	placed := first.place(t, "key-1-of-the-old-one")
	placed.is(t, "the order at the old service", http.StatusCreated, "")
	first.kill(t)

	second := m.start(t, "", over(next))
	second.waitFor(t, 20)
	address := strings.TrimPrefix(old.URL, "http://")
	second.log.Find(t, `"event":"order.of_another_service".*1 open and 0 unknown orders belong to the ordering service at https://`+address)
	if out := larder(t, "check", "--online", "--config", second.config).Out; !strings.Contains(out, `former_urls: ["https://`+address) {
		t.Errorf("check --online prints %q", out)
	}
	for what, got := range map[string]reply{
		"a payment":    second.pay(t, "1", ""),
		"a completion": second.ask(t, http.MethodPut, "/v1/orders/1/complete", "", ""),
		"a rejection":  second.ask(t, http.MethodPut, "/v1/orders/1/reject", "", `{"id":"7","comment":"no"}`),
	} {
		got.is(t, what, http.StatusConflict, "order_of_another_service")
		if !strings.Contains(got.Body, address) {
			t.Errorf("%s: %s has no address", what, got.Body)
		}
	}
	if again := second.place(t, "key-1-of-the-old-one"); again != placed {
		t.Errorf("the repeated key: %+v, want %+v", again, placed)
	}
	if _, orders, changes := next.seen(); len(orders)+len(changes) > 0 {
		t.Errorf("the new service got %q, %q", orders, changes)
	}

	// former_urls: they are the same source.
	same := over(next)
	same.connections[0] += fmt.Sprintf(", former_urls: [%q]", old.URL)
	m.write(t, "", same)
	reads, _, _ := next.seen()
	second.reload(t)
	second.pay(t, "1", "").is(t, "a payment with former_urls", http.StatusOK, "")
	if after, _, changes := next.seen(); len(after) != len(reads) || !slices.Equal(changes, []string{"1/pay"}) {
		t.Errorf("the new service was asked for %d menus and got %q", len(after)-len(reads), changes)
	}
}

// Two orders with one number: each configuration changes its own.
func TestTheSameNumberAtTwoServices(t *testing.T) {
	t.Parallel()
	m, a, b := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	onA := m.start(t, "a", over(a))
	onA.waitFor(t, 10)
	onA.place(t, "key-1-at-service-a").is(t, "the order at a", http.StatusCreated, "")
	onB := m.start(t, "b", over(b))
	onB.waitFor(t, 20)
	onB.place(t, "key-1-at-service-b").is(t, "the order at b", http.StatusCreated, "")
	for _, i := range []*instance{onA, onB, onA} {
		want := map[*instance]string{onA: `"total":10`, onB: `"total":20`}[i]
		if got := i.ask(t, http.MethodGet, "/v1/orders/1", "", ""); !strings.Contains(got.Body, want) {
			t.Errorf("order 1: %s, want %s", got.Body, want)
		}
	}
	onA.pay(t, "1", "").is(t, "a payment at a", http.StatusOK, "")
	onB.pay(t, "1", "").is(t, "the same payment at b", http.StatusOK, "")
	for name, service := range map[string]*pos{"a": a, "b": b} {
		if _, orders, changes := service.seen(); len(orders) != 1 || !slices.Equal(changes, []string{"1/pay"}) {
			t.Errorf("service %s got %d orders and %q", name, len(orders), changes)
		}
	}
}

// Another client_id at the same address is another service. https instead of http is the same.
func TestAnotherClientAndAnotherScheme(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	first := m.start(t, "", over(service))
	version := first.waitFor(t, 10)
	first.place(t, "key-1-of-the-old-one").is(t, "an order", http.StatusCreated, "")
	first.kill(t)

	service.answerMenus(http.StatusInternalServerError)
	secure := over(service)
	secure.connections[0] = strings.Replace(secure.connections[0], "http://", "https://", 1)
	i := m.start(t, "", secure)
	if v, price, _ := i.serves(t); v != version || price != 10 {
		t.Errorf("https: version %d, price %d", v, price)
	}
	i.validate(t, "").is(t, "validate with https", http.StatusOK, "")
	i.kill(t)

	other := over(service)
	other.connections[0] = strings.Replace(other.connections[0], "client_id: shop", "client_id: other", 1)
	i = m.start(t, "", other)
	clitest.Eventually(t, "a menu", func() bool { _, price, _ := i.serves(t); return price == 10 })
	i.validate(t, "").is(t, "validate with another client", http.StatusServiceUnavailable, "menu_of_another_service")
	i.pay(t, "1", "").is(t, "a payment with another client", http.StatusConflict, "order_of_another_service")
	other.connections[0] += ", former_client_ids: [shop]"
	m.write(t, "", other)
	i.reload(t)
	i.validate(t, "").is(t, "validate with former_client_ids", http.StatusOK, "")
	i.pay(t, "1", "").is(t, "a payment with former_client_ids", http.StatusOK, "")
}

// For some minutes, one of two instances has the new configuration. Each is killed and started again once, in both orders.
// Neither changes what the other serves, publishes or sends.
func TestTwoInstancesWithDifferentServices(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"old first", "new first"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			m, a, b := newMoving(t), newPOS(t, 10), newPOS(t, 20)
			onA := m.start(t, "a", over(a))
			versionA := onA.waitFor(t, 10)
			onB := m.start(t, "b", over(b))
			versionB := onB.waitFor(t, 20)
			check := func(when string) {
				t.Helper()
				if v, price, stale := onA.serves(t); v != versionA || price != 10 || stale {
					t.Errorf("%s: the old instance serves version %d, price %d, stale %v", when, v, price, stale)
				}
				if v, price, stale := onB.serves(t); v != versionB || price != 20 || stale {
					t.Errorf("%s: the new instance serves version %d, price %d, stale %v", when, v, price, stale)
				}
				onA.place(t, "key-a-"+when).is(t, "an order at a "+when, http.StatusCreated, "")
				onB.place(t, "key-b-"+when).is(t, "an order at b "+when, http.StatusCreated, "")
			}
			check("both run with their services")
			restart := func(i **instance) {
				(*i).kill(t)
				*i = m.startWith(t, (*i).config)
				clitest.Eventually(t, "a menu", func() bool { _, price, _ := (*i).serves(t); return price > 0 })
			}
			both := []**instance{&onA, &onB}
			if order == "new first" {
				slices.Reverse(both)
			}
			for n, i := range both {
				restart(i)
				check(fmt.Sprintf("after restart number %d", n))
			}
			for name, service := range map[string]*pos{"a": a, "b": b} {
				_, orders, _ := service.seen()
				for _, body := range orders {
					if !strings.Contains(body, fmt.Sprintf(`"price":%d`, service.price)) {
						t.Errorf("service %s got %s", name, body)
					}
				}
				if len(orders) != 3 {
					t.Errorf("service %s got %d orders, want 3", name, len(orders))
				}
			}
		})
	}
}

// An upgrade with open orders: menus and orders that were stored without a source belong to the first configuration that
// reads them. Nothing stops, and a later configuration does not get them.
func TestUpgradeWithOpenOrders(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	first := m.start(t, "", over(old))
	version := first.waitFor(t, 10)
	first.place(t, "key-1-before-the-upgrade").is(t, "an order", http.StatusCreated, "")
	first.place(t, "key-2-before-the-upgrade").is(t, "an order", http.StatusCreated, "")
	first.kill(t)
	m.forgetSources(t)

	old.answerMenus(http.StatusInternalServerError) // nothing may depend on it
	second := m.start(t, "", over(old))
	if v, price, stale := second.serves(t); v != version || price != 10 || stale {
		t.Errorf("after the upgrade: version %d, price %d, stale %v", v, price, stale)
	}
	second.place(t, "key-3-after-the-upgrade").is(t, "an order after the upgrade", http.StatusCreated, "")
	second.pay(t, "1", "").is(t, "a payment after the upgrade", http.StatusOK, "")
	second.kill(t)

	third := m.start(t, "", over(next))
	third.waitFor(t, 20)
	third.pay(t, "2", "").is(t, "a payment of an older order at another service", http.StatusConflict, "order_of_another_service")
}

// forgetSources makes Redis look as an older larder has left it.
func (m *moving) forgetSources(t *testing.T) {
	t.Helper()
	ctx, client := t.Context(), m.redis.Client()
	for _, key := range client.Keys(ctx, "larder:{r:r}:s:*").Val() {
		_, after, _ := strings.Cut(key, ":s:")
		_, name, _ := strings.Cut(after, ":")
		if name == "current" {
			client.Del(ctx, key)
			continue
		}
		client.Rename(ctx, key, "larder:{r:r}:"+name)
	}
	client.Del(ctx, "larder:{r:r}:f4:sources")
	client.HDel(ctx, "larder:{o:a}:f1:journal", "source")
	client.HDel(ctx, "larder:{r:r}:current", "source")
	for _, key := range append(client.Keys(ctx, "larder:{r:r}:v:*:record").Val(), "current") {
		strip := func(text string) string {
			var record map[string]any
			if err := json.Unmarshal([]byte(text), &record); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"source", "settings", "readAt"} {
				delete(record, name)
			}
			plain, _ := json.Marshal(record)
			return string(plain)
		}
		if key == "current" {
			client.HSet(ctx, "larder:{r:r}:current", "record", strip(client.HGet(ctx, "larder:{r:r}:current", "record").Val()))
			continue
		}
		client.Set(ctx, key, strip(client.Get(ctx, key).Val()), 0)
	}
	for _, key := range client.Keys(ctx, "larder:{o:a}:f1:order:*").Val() {
		text := client.Get(ctx, key).Val()
		at := strings.LastIndex(text, "127.0.0.1:")
		at = strings.LastIndex(text[:at], " ")
		client.Set(ctx, key, text[:at+1], 0)
	}
}

// Two instances with different max_zero on one Redis, with an unchanged menu: each serves and validates by its own
// setting at once, and there is at most one new version for each start.
func TestSettingsApplyAtOnceOnEachInstance(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	unlimited, none := over(service), over(service)
	unlimited.schedule, none.schedule = "@every 1s", "@every 1s"
	none.ordering = "max_zero: none"
	const bread = `,"ingredients":[{"ID":"x","quantity":1}]`

	first := m.start(t, "a", unlimited)
	first.waitFor(t, 10)
	first.validate(t, bread).is(t, "with max_zero unlimited", http.StatusOK, "")
	service.answerMenus(http.StatusInternalServerError)
	second := m.start(t, "b", none)
	invalid := func(when string) {
		t.Helper()
		if got := second.validate(t, bread); !strings.Contains(got.Body, `"valid":false`) || !strings.Contains(got.Body, "group_max") {
			t.Errorf("%s: max_zero none: %s", when, got.Body)
		}
		if got := first.validate(t, bread); !strings.Contains(got.Body, `"valid":true`) {
			t.Errorf("%s: max_zero unlimited: %s", when, got.Body)
		}
	}
	invalid("without the service")
	menus := func(i *instance) string { return i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body }
	if !strings.Contains(menus(second), `"max":0`) || strings.Contains(menus(first), `"max":0`) {
		t.Errorf("menus: %s\n%s", menus(first), menus(second))
	}

	service.answerMenus(http.StatusOK)
	clitest.Eventually(t, "the menu was checked ten times", func() bool { reads, _, _ := service.seen(); return len(reads) > 15 })
	version := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "version").Val()
	if version != "1" && version != "2" {
		t.Errorf("version %s after two starts, want at most 2", version)
	}
	invalid("after ten checks of an unchanged menu")
	reads, _, _ := service.seen()
	clitest.Eventually(t, "the menu was checked ten times more", func() bool { more, _, _ := service.seen(); return len(more) > len(reads)+10 })
	if after := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "version").Val(); after != version {
		t.Errorf("version %s and then %s, without a start or a change", version, after)
	}
}

// Settings of a restaurant apply at once after SIGHUP, also while the service fails.
func TestSettingsApplyAtOnceAfterSIGHUP(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	i := m.start(t, "", over(service))
	i.waitFor(t, 10)
	const bread = `,"ingredients":[{"ID":"x","quantity":1}]`
	i.validate(t, bread).is(t, "before", http.StatusOK, "")
	before := i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "")
	service.answerMenus(http.StatusInternalServerError)
	none := over(service)
	none.restaurant = "connection: a, ordering: {max_zero: none}"
	m.write(t, "", none)
	i.reload(t)
	if got := i.validate(t, bread); !strings.Contains(got.Body, `"valid":false`) {
		t.Errorf("right after SIGHUP: %s", got.Body)
	}
	clitest.Eventually(t, "readers get it too", func() bool {
		return strings.Contains(i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body, `"max":0`)
	})
	if strings.Contains(before.Body, `"max":0`) {
		t.Errorf("before: %s", before.Body)
	}
}
