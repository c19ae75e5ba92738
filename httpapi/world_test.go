package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The restaurants and clients of the tests' world.
const (
	bistro = "bistro"  // connection main
	north  = "north-1" // connection north
	empty  = "empty"   // connection main; its menu cannot be had

	clientShop  = "shop"  // menu, orders; connection main
	clientOps   = "ops"   // everything
	clientNorth = "north" // everything, connection north alone
	clientRead  = "reader"
)

const fullMenu = `{"name": "Dinner", "categories": [{"id": "c1", "name": "Pizza"}, {"id": "c2", "name": "Sweet", "parentId": "c1"}],
"products": [
 {"id": "p1", "externalId": "e1", "categoryId": "c1", "name": "Margherita", "price": 199.90, "schemeId": "s1", "description": "tomato & basil"},
 {"id": "p/2 +%", "externalId": "e2", "categoryId": "c2", "name": "Crème brûlée", "price": 90, "description": ""},
 {"id": "p3", "externalId": "twin", "categoryId": "c1", "name": "Twin A", "price": 10},
 {"id": "p4", "externalId": "twin", "categoryId": "c1", "name": "Twin B", "price": 11},
 {"id": "p5", "externalId": "e5", "categoryId": "c1", "name": "Stopped pie", "price": 12, "isContainInStopList": ["bistro"]}],
"ingredientsSchemes": [{"id": "s1", "ingredientsGroups": [{"id": "g1", "minCount": 1, "maxCount": 2}]}],
"ingredientsGroups": [{"id": "g1", "name": "Sauce", "ingredients": ["i1", "i2"]}],
"ingredients": [{"id": "i1", "externalId": "x1", "name": "Garlic", "price": 10.5}, {"id": "i2", "externalId": "x2", "name": "Chili", "price": 0}]}`

// service is an ordering service in memory: what a test sets is what it answers.
type service struct {
	mu      sync.Mutex
	menus   map[string]string
	reasons []upstream.Reason
	create  func(body []byte) (upstream.Created, error)
	sent    [][]byte
	hold    chan struct{} // while open, menu views wait
}

func (s *service) MenuView(ctx context.Context, restaurant string, _ upstream.Validator) (upstream.Menu, error) {
	s.mu.Lock()
	raw, known, hold := s.menus[restaurant], s.menus[restaurant] != "", s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return upstream.Menu{}, ctx.Err()
		}
	}
	if !known {
		return upstream.Menu{}, &upstream.Error{Operation: "menu", Status: http.StatusBadGateway, Err: errors.New("no menu")}
	}
	return upstream.Menu{Body: []byte(raw)}, nil
}

func (s *service) RejectionReasons(context.Context) ([]upstream.Reason, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reasons, nil
}

func (s *service) CreateOrder(_ context.Context, body []byte) (upstream.Created, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, body)
	if s.create != nil {
		return s.create(body)
	}
	return upstream.Created{OrderID: "765", Status: http.StatusCreated}, nil
}

func (*service) Pay(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Complete(context.Context, string) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Reject(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (s *service) setMenu(restaurant, raw string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[restaurant] = raw
}

func (s *service) answerCreate(answer func(body []byte) (upstream.Created, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.create = answer
}

// received are the order bodies that arrived.
func (s *service) received() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.sent...)
}

// plan is what a test changes of its world before it is built.
type plan struct {
	cfg      httpapi.Config
	auth     httpapi.AuthConfig
	redis    cache.RedisConfig
	volatile bool
	unsynced bool // nothing is pulled at the start
	placer   httpapi.Placer
}

// world is a whole larder behind a real listener, with an ordering service in
// memory.
type world struct {
	t       *testing.T
	url     string
	server  *httpapi.Server
	service *service
	redis   *cache.Redis
	store   *cache.Store
	replica *cache.Replica
	runner  *menusync.Runner
	logs    *logtest.Hook
	skew    atomic.Int64 // what the HTTP room's clock is ahead
}

func newWorld(t *testing.T, changes ...func(*plan)) *world {
	t.Helper()
	p := defaultPlan()
	for _, change := range changes {
		change(&p)
	}
	logger, hook := logtest.NewNullLogger()
	logger.SetLevel(logrus.DebugLevel)
	w := &world{t: t, logs: hook}
	w.service = &service{
		menus:   map[string]string{bistro: fullMenu, north: fullMenu, "": fullMenu},
		reasons: []upstream.Reason{{ID: "r1", Reason: "sold out", Type: "simple"}},
	}
	var err error
	if w.redis, err = cache.Open(t.Context(), p.redis, logger); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.redis.Close() })
	w.store = cache.NewStore(w.redis, cache.StoreConfig{})
	var runner *menusync.Runner
	w.replica = cache.NewReplica(w.store, cache.ReplicaConfig{
		Restaurants: func() []menu.RestaurantID { return runner.Catalogued() }, Log: logger,
	})
	metrics := httpapi.NewMetrics("1.2.3")
	runner = w.newRunner(metrics)
	w.runner = runner
	validator := ordering.NewValidator(ordering.DefaultConfig(), time.Now)
	if p.placer == nil {
		services := func(string) (ordering.Service, bool) { return w.service, true }
		p.placer = ordering.NewPlacer(validator, services, time.Now, ordering.Refs(time.Now))
	}
	w.server, err = httpapi.New(p.cfg, p.auth, httpapi.Deps{
		Replica: w.replica, Store: w.store, Runner: runner, Validator: validator, Placer: p.placer,
		Connections: []httpapi.Connection{{Name: "main"}, {Name: "north"}},
		Redis:       w.redis, AllowVolatile: p.volatile, Metrics: metrics, Log: logger,
		Clock: func() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !p.unsynced {
		w.pull(bistro)
		w.pull(north)
		w.pull(empty)
	}
	listener := httptest.NewServer(w.server.Handler())
	t.Cleanup(listener.Close)
	w.url = listener.URL
	return w
}

func defaultPlan() plan {
	p := plan{volatile: true}
	p.cfg.SetDefaults()
	p.auth.SetDefaults()
	p.redis.SetDefaults()
	p.auth.Clients = []httpapi.ClientConfig{
		{ID: clientShop, Secret: secretOf(clientShop), Scopes: []httpapi.Scope{"menu", "orders"}, Connection: "main"},
		{ID: clientOps, Secret: secretOf(clientOps), Scopes: []httpapi.Scope{"menu", "orders", "ops"}},
		{ID: clientNorth, Secret: secretOf(clientNorth), Scopes: []httpapi.Scope{"orders", "ops"}, Connection: "north"},
		{ID: clientRead, Secret: secretOf(clientRead), Scopes: []httpapi.Scope{"menu"}},
	}
	return p
}

func secretOf(client string) string { return client + "-0123456789abcdef" }

func (w *world) newRunner(observer menusync.Observer) *menusync.Runner {
	w.t.Helper()
	settings := menu.DefaultSettings()
	restaurant := func(id, connection string) menusync.Restaurant {
		return menusync.Restaurant{ID: menu.RestaurantID(id), Name: "The " + id, Connection: connection, Settings: settings, Schedule: "@every 24h"}
	}
	runner, err := menusync.NewRunner(menusync.Deps{
		Config:      menusync.Config{Schedule: "@every 24h"},
		Restaurants: []menusync.Restaurant{restaurant(north, "north"), restaurant(bistro, "main"), restaurant(empty, "main")},
		Connections: []menusync.Connection{
			{Name: "main", Source: w.service, DefaultMenu: true, Settings: settings}, {Name: "north", Source: w.service, Settings: settings},
		},
		Redis: w.redis, Store: w.store, Replica: w.replica, Observer: observer,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return runner
}

// pull is one pass over a restaurant.
func (w *world) pull(restaurant string) menusync.Run {
	w.t.Helper()
	run, err := w.runner.Once(w.t.Context(), menu.RestaurantID(restaurant), menusync.TriggerStartup)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// schedule runs the scheduler, which manual runs need, until the test ends.
func (w *world) schedule() {
	ctx, cancel := context.WithCancel(w.t.Context())
	var group errgroup.Group
	group.Go(func() error { return menusync.NewScheduler(w.runner).Run(ctx) })
	w.t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil {
			w.t.Error(err)
		}
	})
}

// ahead moves the HTTP room's clock.
func (w *world) ahead(d time.Duration) { w.skew.Add(int64(d)) }

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// problem is an error answer.
type problem struct {
	Type, Title, Detail, Instance, Code, Msg, RequestID, Ref string
	Status                                                   int
	Errors                                                   []struct {
		Path, Code, Msg string
		Params          map[string]any
	}
	Upstream *struct {
		Status               int
		Code, Msg, RequestID string
		Errors               []string
	}
}

// transport neither adds Accept-Encoding nor unpacks, so that tests see bytes.
func transport(t *testing.T) *http.Client {
	t.Helper()
	raw := &http.Transport{DisableCompression: true}
	t.Cleanup(raw.CloseIdleConnections)
	return &http.Client{
		Transport:     raw,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do sends a request; headers come in pairs.
func (w *world) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	return do(w.t, method, w.url+path, body, headers...)
}

func do(t *testing.T, method, address, body string, headers ...string) reply {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, content)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := transport(t).Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: text}
}

func (w *world) get(path string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodGet, path, "", headers...)
}

// post sends JSON.
func (w *world) post(path, body string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodPost, path, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// token asks for a client's token with all its scopes.
func (w *world) token(client string) string {
	w.t.Helper()
	form := url.Values{"client_id": {client}, "client_secret": {secretOf(client)}, "grant_type": {"client_credentials"}}
	got := w.do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if got.status != http.StatusOK || json.Unmarshal(got.body, &answer) != nil || answer.AccessToken == "" {
		w.t.Fatalf("token of %s: %d %s", client, got.status, got.body)
	}
	return answer.AccessToken
}

// as is the Authorization header of a client, to be appended to a request.
func (w *world) as(client string) []string {
	w.t.Helper()
	return []string{"Authorization", "Bearer " + w.token(client)}
}

// into reads the `result` of an answer.
func (r reply) into(t *testing.T, result any) {
	t.Helper()
	var envelope struct{ Result json.RawMessage }
	if err := json.Unmarshal(r.body, &envelope); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

// is checks the status of a success.
func (r reply) is(t *testing.T, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("got status %d, want %d; body %s", r.status, status, r.body)
	}
	return r
}

// refused checks that the answer is a whole problem document of this status
// and code.
func (r reply) refused(t *testing.T, status int, code string) problem {
	t.Helper()
	var got problem
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("status %d, want %d %s: not a problem document: %v in %q", r.status, status, code, err, r.body)
	}
	if r.status != status || got.Code != code {
		t.Fatalf("got %d %s (%s), want %d %s", r.status, got.Code, got.Detail, status, code)
	}
	if media := r.header.Get("Content-Type"); media != "application/problem+json; charset=utf-8" {
		t.Errorf("%s: Content-Type %q", code, media)
	}
	if got.Status != status || got.Title == "" || got.Detail == "" || got.Msg != got.Detail || got.Instance == "" || got.Type != "urn:larder:problem:"+code {
		t.Errorf("%s: incomplete problem: %s", code, r.body)
	}
	if got.RequestID == "" || got.RequestID != r.header.Get("X-Request-Id") {
		t.Errorf("%s: requestId %q, X-Request-Id %q", code, got.RequestID, r.header.Get("X-Request-Id"))
	}
	if cc := r.header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("%s: Cache-Control %q", code, cc)
	}
	return got
}
