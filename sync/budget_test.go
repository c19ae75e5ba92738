package sync_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	stdsync "sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
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
		d.Config.Deadline = 10 * time.Minute // runs wait for each other, on a busy machine for long
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

// Policy W15a: many short elements need more memory than their bytes; ordinary menus do not.
func TestMemoryIsReservedByElements_W15a(t *testing.T) {
	t.Parallel()
	for _, body := range [][]byte{ofSize(mib), view(1000), sandbox.Bistro("r", ""), sandbox.Generate{Products: 400, Seed: 1}.Menu(0)} {
		if got, want := menusync.ViewMemory(body), int64(8*len(body)); got != want {
			t.Errorf("%.60s… has %d bytes and needs %d, want %d", body, len(body), got, want)
		}
	}
	short := func(n int) []byte {
		return []byte(`{"result":{"products":[{"id":"a","price":1}` + strings.Repeat(`,{}`, n-1) + `]}}`)
	}
	g, source := sized(t, redisdb.Embedded, 16*mib, map[string][]byte{string(bistro): short(50_000)})
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 0)
	if !strings.Contains(run.Error, "it has too many elements for sync.memory; raise sync.memory") {
		t.Errorf("error %q", run.Error)
	}
	source.bodies[string(bistro)] = short(40_000)
	g.want(g.once(), runlog.OutcomeUpdated, 1) // and the memory is free again
}

// together lets the first calls return only when all of them have arrived.
type together struct {
	*sizes
	calls atomic.Int32
	all   stdsync.WaitGroup
}

func (s *together) MenuView(ctx context.Context, restaurant string, seen upstream.Validator, most int64) (upstream.Menu, error) {
	if s.calls.Add(1) <= 3 {
		s.all.Done()
		s.all.Wait()
	}
	return s.sizes.MenuView(ctx, restaurant, seen, most)
}

// Policy W15a: a menu that finds too little free memory gives its part back, waits and is fetched again.
func TestAMenuOfManyElementsWaits_W15a(t *testing.T) {
	t.Parallel()
	dense := []byte(`{"result":{"products":[{"id":"a","price":1}` + strings.Repeat(`,{}`, 40_000) + `]}}`)
	bodies := map[string][]byte{"a": dense, "b": dense, "c": dense}
	g, source := sized(t, redisdb.Embedded, 24*mib, bodies)
	waiting := &together{sizes: source}
	waiting.all.Add(3)
	g.Instance = g.another(func(d *menusync.Deps) { d.Connections[0].Source = waiting })
	g.allAtOnce(bodies)
	if len(source.most) < 4 {
		t.Errorf("%d fetches of three menus that do not fit together, want one to be repeated", len(source.most))
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
