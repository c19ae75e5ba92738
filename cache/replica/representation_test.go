package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// largeMenu is the number of dishes of a large menu.
const largeMenu = 80

// unpacked decodes a body with independent readers, and checks that the ETag
// belongs to the result.
func unpacked(ready *encoded.Representation, version int64) (string, error) {
	var from io.Reader = bytes.NewReader(ready.Body)
	var err error
	switch ready.Encoding {
	case encoded.Gzip:
		from, err = gzip.NewReader(from)
	case encoded.Brotli:
		from = brotli.NewReader(from)
	case encoded.Zstd:
		from, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	default:
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", ready.Encoding, err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ready.Encoding, err)
	}
	if want := fmt.Sprintf(`W/"%d-%x"`, version, sha256.Sum256(body)); ready.ETag != want[:len(want)-57]+`"` {
		return "", fmt.Errorf("%s: ETag %s, want %s by the body's hash", ready.Encoding, ready.ETag, want)
	}
	return string(body), nil
}

// bodyIn returns the decoded body of version 1.
func bodyIn(t *testing.T, ready *encoded.Representation) string {
	t.Helper()
	body, err := unpacked(ready, 1)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// held returns the bistro's newest body in memory.
func held(r *Replica, what menu.Index, enc encoded.Encoding) *encoded.Representation {
	snap, ok := r.Cached("bistro")
	if !ok {
		return nil
	}
	ready, _ := r.bodies.Get(bodyKey(snap, what, enc))
	return ready
}

func publishGenerated(t *testing.T, s *cache.Store, base int64, dishes, seed int) {
	t.Helper()
	if _, err := s.Publish(t.Context(), cachetest.Generated(t, base, dishes, seed)); err != nil {
		t.Fatal(err)
	}
}

// bodiesOf returns a replica with the generated menu of the bistro in version 1.
func bodiesOf(t *testing.T) (*Replica, *cache.Snapshot) {
	t.Helper()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	raw := sandbox.Generate{Restaurants: 1, Products: largeMenu, Seed: 1}.Menu(0)
	view, published, err := menu.DecodePublished(raw)
	if err == nil {
		_, err = s.Publish(t.Context(), cache.Publication{
			Restaurant: "bistro",
			Published:  published,
			SyncedAt:   time.Now(),
			Catalogue:  menu.Compile(view, "bistro", menu.DefaultSettings()),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	replica := New(s, Config{})
	return replica, read(t, replica, bistro)
}

// The first read of an encoding builds only that body. Later reads get the same body.
// All encodings have equal content and the same ETag.
func TestFirstRead_EncodesAndKeeps(t *testing.T) {
	t.Parallel()
	replica, snap := bodiesOf(t)
	for name, c := range map[string]struct {
		what menu.Index
		get  func(enc encoded.Encoding) (*encoded.Representation, error)
	}{
		"menu": {encoded.WholeMenu, func(enc encoded.Encoding) (*encoded.Representation, error) { return replica.Menu(snap, enc) }},
		"view": {encoded.PublishedMenu, func(enc encoded.Encoding) (*encoded.Representation, error) {
			return replica.Published(t.Context(), snap, enc)
		}},
		"dish": {3, func(enc encoded.Encoding) (*encoded.Representation, error) { return replica.Product(snap, 3, enc) }},
	} {
		var body, tag string
		for _, enc := range []encoded.Encoding{encoded.Identity, encoded.Gzip, encoded.Brotli, encoded.Zstd} {
			if _, ok := replica.Ready(snap, c.what, enc); ok {
				t.Errorf("%s: %s is in memory before it is read", name, enc)
			}
			first, err := c.get(enc)
			if err != nil {
				t.Fatal(err)
			}
			said := bodyIn(t, first)
			if enc == encoded.Identity {
				body, tag = said, first.ETag
			}
			if said != body || first.ETag != tag || first.Encoding != enc {
				t.Errorf("%s: %s has another content than identity, or the ETag %s", name, enc, first.ETag)
			}
			if enc != encoded.Identity && len(first.Body) >= len(body) {
				t.Errorf("%s: %s has %d bytes of %d", name, enc, len(first.Body), len(body))
			}
			again, err := c.get(enc)
			if ready, ok := replica.Ready(snap, c.what, enc); err != nil || again != first || !ok || ready != first {
				t.Errorf("%s: %s was encoded again: %v", name, enc, err)
			}
		}
	}
	if _, ok := replica.Ready(snap, encoded.ChangesOnly, encoded.Identity); ok {
		t.Error("a list of changes is in memory")
	}
}

// Concurrent first readers share one body.
func TestFirstRead_SingleFlight(t *testing.T) {
	t.Parallel()
	replica, snap := bodiesOf(t)
	const readers = 16
	var menus, views [readers]*encoded.Representation
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range readers {
		wait.Go(func() {
			<-start
			var err error
			if menus[i], err = replica.Menu(snap, encoded.Brotli); err != nil {
				t.Error(err)
			}
			if views[i], err = replica.Published(t.Context(), snap, encoded.Brotli); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wait.Wait()
	for i := range readers {
		if menus[i] != menus[0] || views[i] != views[0] {
			t.Fatalf("reader %d got another body", i)
		}
	}
}

// A menu in memory is encoded without Redis.
func TestFirstRead_WithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := New(s, Config{})
	snap := read(t, replica, bistro)
	server.Stop()
	for _, enc := range []encoded.Encoding{encoded.Gzip, encoded.Brotli} {
		ready, err := replica.Menu(snap, enc)
		if err != nil {
			t.Fatal(err)
		}
		bodyIn(t, ready)
	}
}

// Bodies are removed with their version. Those of the next version are built when they
// are read. A late read of the old snapshot adds nothing to memory.
func TestNewVersion_RemovesBodies(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redistest.Start(t).URL()), cache.StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := New(s, Config{})
	run(t, replica)
	old := read(t, replica, bistro)
	read := func(snap *cache.Snapshot) {
		t.Helper()
		if _, err := replica.Menu(snap, encoded.Brotli); err != nil {
			t.Fatal(err)
		}
		if _, err := replica.Published(t.Context(), snap, encoded.Gzip); err != nil {
			t.Fatal(err)
		}
	}
	read(old)
	if used, _ := replica.Memory(); used == 0 {
		t.Fatal("no body is in memory")
	}
	publishGenerated(t, s, 1, largeMenu, 2)
	cachetest.Eventually(t, "version 2", func() bool { snap, _ := replica.Cached("bistro"); return snap.Version.Version == 2 })
	cachetest.Eventually(t, "no bytes of version 1 are left, and none were built for version 2 without a read", func() bool {
		used, _ := replica.Memory() // removed after version 2 is visible
		return used == 0
	})
	if _, err := replica.Menu(old, encoded.Brotli); err != nil {
		t.Fatal(err)
	}
	if used, _ := replica.Memory(); used != 0 {
		t.Errorf("a late read of version 1 keeps %d bytes", used)
	}
}

// A body that is read during publishes is complete and matches its ETag.
func TestReadersGetCompleteBodies(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redistest.Start(t).URL()), cache.StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := New(s, Config{})
	run(t, replica)
	read(t, replica, bistro)
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for ctx.Err() == nil {
				if err := readAny(ctx, replica); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for version := range int64(10) {
		publishGenerated(t, s, version+1, largeMenu, int(version)+2)
		cachetest.Eventually(t, "the version", func() bool { snap, _ := replica.Cached("bistro"); return snap.Version.Version == version+2 })
		cachetest.Eventually(t, "a body of it", func() bool { return held(replica, encoded.WholeMenu, encoded.Brotli) != nil })
	}
	stop()
	wait.Wait()
}

// readAny reads a random body of the bistro and returns an error if it is wrong.
func readAny(ctx context.Context, replica *Replica) error {
	snap, err := replica.Catalogue(ctx, "bistro")
	if err != nil {
		return err
	}
	set := encoded.Encodings(rand.N(1<<4-1) + 1)
	what := []menu.Index{encoded.WholeMenu, encoded.PublishedMenu, 3}[rand.N(3)]
	enc := set.First(what)
	ready, ok := replica.Ready(snap, what, enc)
	switch {
	case ok:
	case what == encoded.WholeMenu:
		ready, err = replica.Menu(snap, enc)
	case what == encoded.PublishedMenu:
		ready, err = replica.Published(ctx, snap, enc)
	default:
		ready, err = replica.Product(snap, what, enc)
	}
	if err != nil {
		return err
	}
	body, err := unpacked(ready, snap.Version.Version)
	switch {
	case err != nil:
		return err
	case !set.Has(ready.Encoding):
		return fmt.Errorf("%s for a client that accepts %b", ready.Encoding, set)
	case what == encoded.WholeMenu && !strings.Contains(body, `"version":`+strconv.FormatInt(snap.Version.Version, 10)):
		return fmt.Errorf("version %d has the body %.200s", snap.Version.Version, body)
	}
	return nil
}

// A cache hit reads memory and allocates nothing.
func TestCacheHitAllocatesNothing(t *testing.T) { //nolint:paralleltest // it counts allocations
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	publishGenerated(t, s, 0, 4, 1)
	replica := New(s, Config{})
	snap := read(t, replica, bistro)
	if _, err := replica.Menu(snap, encoded.Gzip); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() { replica.Ready(snap, encoded.WholeMenu, encoded.Accept(encoded.Gzip).First(encoded.WholeMenu)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
