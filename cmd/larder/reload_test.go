package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// newSandboxOf returns the address of an ordering service with generated menus.
func newSandboxOf(t *testing.T, generate sandbox.Generate) string {
	t.Helper()
	kitchen := sandbox.New(sandbox.Config{})
	kitchen.SetGenerated(generate)
	server := httptest.NewServer(kitchen.Handler())
	t.Cleanup(func() {
		kitchen.Close()
		server.Close()
	})
	return server.URL
}

// scaled is a configuration file that a test writes several times.
type scaled struct {
	path string
	head string
}

func newScaled(t *testing.T, kitchen string) *scaled {
	t.Helper()
	return &scaled{path: filepath.Join(t.TempDir(), "larder.yaml"), head: fmt.Sprintf(`http: {listen: "127.0.0.1:0"}
redis: {url: embedded}
sync: {schedule: "@every 1h"}
connections:
  - {name: main, base_url: %q, auth_url: %q, client_id: demo, client_secret: demo-secret, default_menu: false}
restaurants:
`, kitchen, kitchen)}
}

// write writes restaurants to the file atomically, like deployment tools.
func (s *scaled) write(t *testing.T, restaurants ...string) {
	t.Helper()
	text := s.head + strings.Join(restaurants, "\n") + "\n"
	if len(restaurants) == 0 {
		text = strings.TrimSuffix(s.head, "restaurants:\n")
	}
	if err := os.WriteFile(s.path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.path+".new", s.path); err != nil {
		t.Fatal(err)
	}
}

// menuReaders read menus constantly and count failures.
type menuReaders struct {
	asked, failed atomic.Int64
	first         atomic.Value // string: the first failure
	stop          chan struct{}
	running       sync.WaitGroup
}

func readConstantly(t *testing.T, base string, ids ...string) *menuReaders {
	t.Helper()
	r := &menuReaders{stop: make(chan struct{})}
	for _, id := range ids {
		r.running.Go(func() {
			for {
				select {
				case <-r.stop:
					return
				default:
				}
				r.read(t, base+"/v1/restaurants/"+id+"/menu")
			}
		})
	}
	t.Cleanup(r.end)
	return r
}

func (r *menuReaders) read(t *testing.T, url string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err == nil {
		var response *http.Response
		if response, err = http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %d", response.StatusCode)
			}
		}
	}
	r.asked.Add(1)
	if err != nil {
		r.failed.Add(1)
		r.first.CompareAndSwap(nil, url+": "+err.Error())
	}
}

// end stops reading. It can be called twice.
func (r *menuReaders) end() {
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	r.running.Wait()
}

func (r *menuReaders) check(t *testing.T) {
	t.Helper()
	r.end()
	t.Logf("%d reads, %d failed", r.asked.Load(), r.failed.Load())
	if r.failed.Load() > 0 || r.asked.Load() == 0 {
		t.Errorf("%d of %d reads failed, the first: %v", r.failed.Load(), r.asked.Load(), r.first.Load())
	}
}

// Of a thousand restaurants, some are added, removed and changed, while two others are
// read constantly.
func TestSIGHUPReloadsRestaurants(t *testing.T) {
	t.Parallel()
	const all, first = 1000, 900
	generate := sandbox.Generate{Restaurants: all, Products: 3, ChainSize: 50}
	kitchen := newSandboxOf(t, generate)
	line := func(i int, more string) string {
		return fmt.Sprintf("  - {id: %q, name: %q%s}", generate.RestaurantID(i), fmt.Sprintf("Restaurant %d", i), more)
	}
	lines := func(from, to int) (list []string) {
		for i := from; i < to; i++ {
			list = append(list, line(i, ""))
		}
		return list
	}
	file := newScaled(t, kitchen)
	file.write(t, lines(0, first)...)
	p := startProcess(t, []string{"LARDER_CONFIG=" + file.path, "LARDER_LOG_FORMAT=json"}, "serve")
	base := p.url(t)
	waitReady(t, base)
	menu := func(i int) (status int) {
		status, _ = clitest.Fetch(t, base+"/v1/restaurants/"+generate.RestaurantID(i)+"/menu")
		return status
	}
	reading := readConstantly(t, base, generate.RestaurantID(500), generate.RestaurantID(501))

	// A hundred restaurants are removed, a hundred are added, and one gets another
	// schedule.
	next := lines(100, all)
	next[0] = line(100, `, schedule: "@every 7m"`)
	file.write(t, next...)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"added":100,"changed":1,"clients":0,"event":"config.reloaded","level":"info","ms":\d+,"msg":"[^"]*","removed":100,"restaurants":900`)
	if got := menu(0); got != http.StatusNotFound {
		t.Errorf("a removed restaurant answers %d, want 404", got)
	}
	clitest.Eventually(t, "the added ones are served", func() bool { return menu(900) == http.StatusOK && menu(999) == http.StatusOK })

	// With an error anywhere, nothing changes, and every error is logged.
	file.write(t, line(1, ""), line(1, ""), line(2, `, schedule: "never"`), line(3, `, colour: "x"`))
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"errors":3,"event":"config.reload_rejected"`)
	for _, fault := range []string{`larder.yaml:8:10: restaurants\[1\].id`, `larder.yaml:9:\d+: restaurants\[2\].schedule`, `larder.yaml:10:\d+: unknown key \\"colour\\"`} {
		p.log.Find(t, `"error":"[^"]*`+fault+`.*"event":"config.error"`)
	}
	if got := menu(999); got != http.StatusOK {
		t.Errorf("after a refused configuration a restaurant answers %d, want 200", got)
	}

	// Other sections need a restart. Two SIGHUPs are handled one after the other.
	file.head = strings.Replace(file.head, `redis:`, `cache: {memory: 16MiB}`+"\nredis:", 1)
	file.write(t, lines(400, 600)...)
	p.signal(t, syscall.SIGHUP)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.restart_needed".*"sections":"cache"`)
	p.log.Find(t, `"removed":700,"restaurants":200`)
	reading.check(t)

	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d after SIGHUPs and SIGTERM, want 0\n%s", status, p.log)
	}
}

// signIn signs in to the console. cookie is the one of the session, without its attributes.
func signIn(t *testing.T, base, id, secret string) (status int, cookie string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/ops/session", strings.NewReader(`{"client": "`+id+`", "secret": "`+secret+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	cookie, _, _ = strings.Cut(response.Header.Get("Set-Cookie"), ";")
	return response.StatusCode, cookie
}

// An operator whose client is removed from the configuration loses access after the
// next SIGHUP. An added client gets access.
func TestSIGHUPReloadsClients(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	one, head := fmt.Sprintf("  - {id: %q}", generate.RestaurantID(0)), file.head
	client := func(id string) {
		file.head = fmt.Sprintf("auth: {clients: [{id: %s, secret: of-the-operators, scopes: [ops]}]}\n", id) + head
		file.write(t, one)
	}
	client("anna")
	p := startProcess(t, []string{"LARDER_CONFIG=" + file.path, "LARDER_LOG_FORMAT=json"}, "serve")
	base := p.url(t)
	signIn := func(id string) (status int, cookie string) { return signIn(t, base, id, "of-the-operators") }
	summary := func(cookie string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/ops/summary", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", strings.Split(cookie, ";")[0])
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	_, session := signIn("anna")
	if got := summary(session); got != http.StatusOK {
		t.Fatalf("signed in: %d, want 200", got)
	}
	client("bert")
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"clients":2,"event":"config.reloaded"`)
	if got := summary(session); got != http.StatusUnauthorized {
		t.Errorf("the session of a client that is gone: %d, want 401", got)
	}
	if got, _ := signIn("anna"); got != http.StatusUnauthorized {
		t.Errorf("signing in with a client that is gone: %d, want 401", got)
	}
	if got, session := signIn("bert"); got != http.StatusOK || summary(session) != http.StatusOK {
		t.Errorf("signing in with the new client: %d, want 200", got)
	}
}

func TestDemoOutlivesSIGHUP(t *testing.T) {
	t.Parallel()
	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "demo", "--log-level", "info", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0")
	base := p.url(t)
	waitReady(t, base)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.nothing_to_reload"`)
	waitReady(t, base)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
}

// Where other machines can reach larder, SIGHUP does not apply a configuration with a guessable secret. The running
// clients stay (policy H8).
func TestSIGHUPRejectsAWeakSecret_H8(t *testing.T) {
	t.Parallel()
	const strong, weak = "q8Zr0tKcV2mXw5Ea", "restaurant-password"
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	head := strings.Replace(file.head, "demo-secret", strong, 1)
	client := func(id, secret string) {
		file.head = fmt.Sprintf("auth: {clients: [{id: %s, secret: %q, scopes: [ops]}]}\n", id, secret) + head
		file.write(t, fmt.Sprintf("  - {id: %q}", generate.RestaurantID(0)))
	}
	client("anna", strong)
	p := startProcess(t, []string{"LARDER_CONFIG=" + file.path, "LARDER_LOG_FORMAT=json", "LARDER_HTTP_TRUSTED_PROXIES=127.0.0.1"}, "serve")
	base := p.url(t)
	if got, _ := signIn(t, base, "anna", strong); got != http.StatusOK {
		t.Fatalf("anna before: %d", got)
	}
	client("bert", weak)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `auth\.clients\[0\]\.secret: can be guessed.*"event":"config\.error"`)
	p.log.Find(t, `"event":"config\.reload_rejected"`)
	if got, _ := signIn(t, base, "anna", strong); got != http.StatusOK {
		t.Errorf("anna after a rejected reload: %d, want 200", got)
	}
	if got, _ := signIn(t, base, "bert", weak); got != http.StatusUnauthorized {
		t.Errorf("bert, with a weak secret: %d, want 401", got)
	}
	client("bert", strong)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.reloaded"`)
	if got, _ := signIn(t, base, "bert", strong); got != http.StatusOK {
		t.Errorf("bert, with a strong secret: %d, want 200", got)
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
	_, tag := i.menu(t, "")
	if status, _ := i.menu(t, tag); status != http.StatusNotModified {
		t.Errorf("the ETag before SIGHUP: status %d", status)
	}
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
	if status, changed := i.menu(t, tag); status != http.StatusOK || changed == tag {
		t.Errorf("the ETag after SIGHUP: status %d, %s", status, changed)
	}
	if strings.Contains(before.Body, `"max":0`) {
		t.Errorf("before: %s", before.Body)
	}
}

// menu requests the menu with If-None-Match.
func (i *instance) menu(t *testing.T, tag string) (status int, etag string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.base+"/v1/restaurants/r/menu", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-None-Match", tag)
	response, err := i.shop.Authorized.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header.Get("ETag")
}
