package sync_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/sandbox"
	"larder/internal/testkit/redistest"
	"larder/internal/upstream"
	menusync "larder/sync"
	"larder/sync/runlog"
)

// sizes is an ordering service with menu views of given sizes. It sums the views
// that were requested and are not published yet.
type sizes struct {
	service

	mu     stdsync.Mutex
	bodies map[string][]byte
	most   []int64 // of each request
	held   map[string]int64
	peak   int64 // the largest sum of held
	atOnce int   // the most concurrent runs with memory
}

func (s *sizes) MenuView(_ context.Context, restaurant string, _ upstream.Validator, most int64) (upstream.Menu, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = append(s.most, most)
	s.hold(restaurant, most)
	body := s.bodies[restaurant]
	if int64(len(body)) > most {
		s.hold(restaurant, 0)
		return upstream.Menu{}, &upstream.Error{Operation: upstream.OpMenu, Status: 200, Err: upstream.ErrTooLarge}
	}
	s.hold(restaurant, int64(len(body)))
	return upstream.Menu{Body: bytes.Clone(body)}, nil
}

func (s *sizes) hold(restaurant string, size int64) {
	if s.held == nil {
		s.held = map[string]int64{}
	}
	if s.held[restaurant] = size; size == 0 {
		delete(s.held, restaurant)
	}
	sum := int64(0)
	for _, size := range s.held {
		sum += size
	}
	s.peak, s.atOnce = max(s.peak, sum), max(s.atOnce, len(s.held))
}

// Cached and Install make it a replica without memory: after Install, the run
// releases its memory.
func (s *sizes) Cached(menu.RestaurantID) (*cache.Snapshot, bool) { return nil, false }

func (s *sizes) Install(snapshot *cache.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold(string(snapshot.Restaurant), 0)
}

// sized makes a fixture whose restaurants have views of those sizes.
func sized(t *testing.T, url string, memory cache.ByteSize, bodies map[string][]byte) (*fixture, *sizes) {
	t.Helper()
	source := &sizes{bodies: bodies}
	return newFixture(t, url, func(d *menusync.Deps) {
		d.Config.Memory = memory
		d.Connections[0].Source, d.Replica = source, source
		d.Restaurants = nil
		for id := range bodies {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Connection: "main"}, Settings: menu.DefaultSettings()})
		}
	}), source
}

// allAtOnce syncs every restaurant at the same time; none may fail.
func (g *fixture) allAtOnce(bodies map[string][]byte) {
	g.t.Helper()
	var group errgroup.Group
	for id := range bodies {
		group.Go(func() error {
			run, err := g.OnceOf(g.t.Context(), menu.RestaurantID(id), runlog.TriggerCron)
			if err == nil && run.Outcome == runlog.OutcomeFailed {
				err = fmt.Errorf("%s: %s", id, run.Error)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		g.t.Fatal(err)
	}
}

// ofSize returns a menu view of the given size in bytes.
func ofSize(size int) []byte {
	body := view(10)
	return append(body, bytes.Repeat([]byte(" "), size-len(body))...)
}

const mib = 1 << 20

func TestRunsShareTheirMemory(t *testing.T) {
	t.Parallel()
	bodies := map[string][]byte{}
	for i := range 40 { // every fifth has the largest allowed size
		size := 100_000 + 20_000*i
		if i%5 == 0 {
			size = 4 * mib
		}
		bodies[fmt.Sprintf("r%02d", i)] = ofSize(size)
	}
	g, source := sized(t, redisdb.Embedded, 32*mib, bodies)
	for range 2 { // first with unknown sizes, then with known ones
		g.allAtOnce(bodies)
		source.mu.Lock()
		for id, body := range source.bodies {
			source.bodies[id] = bytes.Replace(body, []byte(`"price":100`), []byte(`"price":101`), 1)
		}
		source.mu.Unlock()
	}
	if source.peak > 4*mib {
		t.Errorf("views of %d bytes at the same time; sync.memory 32MiB allows 4 MiB", source.peak)
	}
	if source.atOnce < 3 {
		t.Errorf("at most %d runs at the same time: the small ones do not share", source.atOnce)
	}
}

func TestAViewAboveItsShareIsFetchedAgain(t *testing.T) {
	t.Parallel()
	g, source := sized(t, redisdb.Embedded, 64*mib, map[string][]byte{string(bistro): ofSize(5 * mib)})
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	if want := []int64{mib, 4 * mib, 8 * mib}; !slices.Equal(source.most, want) {
		t.Errorf("the limits of the requests were %d bytes, want %d", source.most, want)
	}
	source.most = nil
	g.want(g.once(), runlog.OutcomeUnchanged, 1)
	if len(source.most) != 1 || source.most[0] < 5*mib || source.most[0] > 6*mib {
		t.Errorf("then the limits were %d bytes, want one, a little above the size of the last view", source.most)
	}

	source.bodies[string(bistro)] = ofSize(9 * mib)
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 1)
	for _, want := range []string{"too large", "larger than 8MiB", "sync.memory", "the last good menu is still served"} {
		if !strings.Contains(run.Error, want) {
			t.Errorf("error %q does not contain %q", run.Error, want)
		}
	}
	source.bodies[string(bistro)] = ofSize(6 * mib)
	g.want(g.once(), runlog.OutcomeUnchanged, 1) // other white space; and the memory is free again
}

// announcing is an ordering service over HTTP that announces the lengths of its menu views.
type announcing struct {
	mu     stdsync.Mutex
	bodies map[string][]byte
	asked  map[string]int
	hook   func(restaurant string)
}

func (a *announcing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600}`)
		return
	}
	id := r.URL.Query().Get("restaurantId")
	a.mu.Lock()
	a.asked[id]++
	body, hook := a.bodies[id], a.hook
	a.mu.Unlock()
	if hook != nil {
		hook(id)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// set replaces a menu view and returns how often it was requested before.
func (a *announcing) set(id string, body []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies[id] = body
	return a.asked[id]
}

func announcingFixture(t *testing.T, memory cache.ByteSize, ids ...string) (*fixture, *announcing) {
	t.Helper()
	service := &announcing{bodies: map[string][]byte{}, asked: map[string]int{}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	cfg := upstream.Config{Name: "main", BaseURL: server.URL, AuthURL: server.URL, ClientID: "c", ClientSecret: "secret"}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Config.Memory, d.Connections[0].Source = memory, client
		for _, id := range ids {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Connection: "main"}, Settings: menu.DefaultSettings()})
		}
	}), service
}

// A menu that grew is fetched with its announced length at the first attempt.
func TestAMenuThatGrewIsFetchedWithOneRequest(t *testing.T) {
	t.Parallel()
	g, service := announcingFixture(t, 512*mib)
	service.set(string(bistro), ofSize(20_000))
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	for i, size := range []int{1_100_000, 31 * mib, 40_000, 64 * mib} {
		before := service.set(string(bistro), bytes.Replace(ofSize(size), []byte(`"price":100`), fmt.Appendf(nil, `"price":%d`, 101+i), 1))
		g.want(g.once(), runlog.OutcomeUpdated, int64(i+2))
		if asked := service.set(string(bistro), nil) - before; asked != 1 {
			t.Errorf("%d bytes: %d requests, want one", size, asked)
		}
	}
	before := service.set(string(bistro), ofSize(64*mib+1))
	if run := g.once(); run.Outcome != runlog.OutcomeFailed || !strings.Contains(run.Error, "too large") {
		t.Errorf("a view above the limit: %+v", run)
	}
	if asked := service.set(string(bistro), nil) - before; asked != 1 {
		t.Errorf("a view above the limit: %d requests, want one", asked)
	}
}

// While other runs have the memory, a run that needs more gives its own back. It waits for what was announced.
func TestAMenuThatGrewWaitsForTheAnnouncedMemory(t *testing.T) {
	t.Parallel()
	g, service := announcingFixture(t, 16*mib, "second")
	service.set(string(bistro), ofSize(3*mib/2))
	service.set("second", ofSize(20_000))
	entered, leave := make(chan struct{}), make(chan struct{})
	service.hook = func(id string) {
		if id == "second" { // holds half of the memory
			close(entered)
			<-leave
		}
	}
	var group errgroup.Group
	group.Go(func() error {
		_, err := g.OnceOf(t.Context(), "second", runlog.TriggerCron)
		return err
	})
	<-entered
	first := make(chan struct{})
	service.mu.Lock()
	service.hook = func(id string) {
		if id == string(bistro) && service.set(id, ofSize(3*mib/2)) == 1 {
			close(first)
		}
	}
	service.mu.Unlock()
	group.Go(func() error {
		<-first
		close(leave)
		return nil
	})
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if asked := service.set(string(bistro), nil); asked > 2 {
		t.Errorf("%d requests, want at most two", asked)
	}
}

func TestWaitingForMemoryEndsWithTheRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Config.Memory = 8 * mib // one at a time, while sizes are unknown
		d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: "second", Connection: "main"}, Settings: menu.DefaultSettings()})
	})
	entered, leave := make(chan struct{}), make(chan struct{})
	g.service.set(func(s *service) {
		s.hook = func(context.Context) { close(entered); <-leave }
	})
	var group errgroup.Group
	group.Go(func() error {
		_, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron)
		return err
	})
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) //testwaits:allow the test expects its end; almost all of it is spent waiting
	defer cancel()
	run, err := g.OnceOf(ctx, "second", runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "wait for memory: other runs use all of sync.memory (8MiB); raise it") {
		t.Errorf("error %q", run.Error)
	}
	if calls := g.service.count(); calls != 1 {
		t.Errorf("%d calls of the service, want one, of the run that uses the memory", calls)
	}
	g.service.set(func(s *service) { s.hook = nil })
	close(leave)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if run, err = g.OnceOf(t.Context(), "second", runlog.TriggerCron); err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeUpdated, 1)
}

// TestRunsStayWithinSyncMemory measures the heap: large menus, all due at the same
// time, use no more than sync.memory in addition to the memory before.
func TestRunsStayWithinSyncMemory(t *testing.T) { //nolint:paralleltest // it measures the process
	const memory = 48 * mib
	bodies := map[string][]byte{}
	for i := range 8 {
		bodies[fmt.Sprintf("r%d", i)] = sandbox.Generate{Products: 2500, Seed: int64(i)}.Menu(0)
	}
	warm := sandbox.Generate{Products: 60, Seed: 99}.Menu(0)
	bodies["warm"] = warm
	g, _ := sized(t, redistest.Start(t).URL(), memory, bodies)
	if _, err := g.OnceOf(t.Context(), "warm", runlog.TriggerCron); err != nil { // allocations of the first run
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // otherwise garbage counts too
	runtime.GC()
	before := heap()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		for {
			select {
			case <-done:
				peak <- highest
				return
			default:
				highest = max(highest, heap())
				runtime.Gosched()
			}
		}
	}()
	g.allAtOnce(bodies)
	close(done)
	taken := int64(<-peak) - int64(before)
	t.Logf("8 views of %d bytes: %d MiB of heap at the peak", len(bodies["r0"]), taken/mib)
	if taken > memory {
		t.Errorf("%d bytes of heap, want at most sync.memory, %d", taken, memory)
	}
}

// heap returns the bytes of the objects on the heap, including garbage.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
