package cache

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

	"larder/internal/menu"
	"larder/internal/redistest"
	"larder/internal/sandbox"
)

// largeMenu is a number of dishes whose menu is not small.
const largeMenu = 80

// runs starts the loops of a replica for the time of the test.
func runs(t *testing.T, r *Replica) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// soon waits until the condition holds.
func soon(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-tick.C:
		}
	}
}

// unpacked decodes a body with readers of its own, and checks that the tag is
// that of what comes out.
func unpacked(ready *Representation, version int64) (string, error) {
	var from io.Reader = bytes.NewReader(ready.Body)
	var err error
	switch ready.Encoding {
	case Gzip:
		from, err = gzip.NewReader(from)
	case Brotli:
		from = brotli.NewReader(from)
	case Zstd:
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
		return "", fmt.Errorf("%s: ETag %s of a body whose hash says %s", ready.Encoding, ready.ETag, want)
	}
	return string(body), nil
}

// bodyIn is what a representation of version 1 says.
func bodyIn(t *testing.T, ready *Representation) string {
	t.Helper()
	body, err := unpacked(ready, 1)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// held is what memory holds of the bistro's newest menu or view.
func held(r *Replica, what menu.Index, enc Encoding) *Representation {
	snap, ok := r.Peek("bistro")
	if !ok {
		return nil
	}
	ready, _ := r.bodies.get(snap.key(what, enc))
	return ready
}

func isDense(r *Replica, what menu.Index, enc Encoding) func() bool {
	return func() bool { ready := held(r, what, enc); return ready != nil && ready.dense }
}

// snapOf is the current version of the bistro.
func snapOf(t *testing.T, r *Replica) *Snapshot {
	t.Helper()
	snap, err := r.Catalogue(t.Context(), "bistro")
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func publishGenerated(t *testing.T, s *Store, base int64, dishes, seed int) {
	t.Helper()
	if _, err := s.Publish(t.Context(), generated(t, base, dishes, seed)); err != nil {
		t.Fatal(err)
	}
}

// The first read does not wait for the dense body; a later one gets it, of the
// same tag, and whoever has the first keeps it whole.
func TestABodyBecomesDense(t *testing.T) {
	t.Parallel()
	s := NewStore(openForTest(t, Embedded), StoreConfig{})
	raw := sandbox.Generate{Restaurants: 1, Products: largeMenu, Seed: 1}.Menu(0)
	view, published, err := menu.DecodePublished(raw)
	if err == nil {
		_, err = s.Publish(t.Context(), Publication{
			Restaurant: "bistro", Published: published, SyncedAt: time.Now(), Catalogue: menu.Compile(view, "bistro", menu.DefaultSettings()),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	replica := NewReplica(s, ReplicaConfig{})
	snap := snapOf(t, replica)
	for name, c := range map[string]struct {
		what menu.Index
		get  func(enc Encoding) (*Representation, error)
	}{
		"menu": {WholeMenu, func(enc Encoding) (*Representation, error) { return replica.Menu(snap, enc) }},
		"view": {PublishedMenu, func(enc Encoding) (*Representation, error) { return replica.Published(t.Context(), snap, enc) }},
	} {
		for _, enc := range []Encoding{Gzip, Brotli} {
			first, err := c.get(enc)
			if err != nil {
				t.Fatal(err)
			}
			if first.dense {
				t.Errorf("%s: the first reader waited for %s", name, enc)
			}
			before := bodyIn(t, first)
			w := wish{"bistro", c.what, enc}
			if replica.densify(t.Context(), w) {
				t.Errorf("%s: another larder makes the embedded redis's %s", name, enc)
			}
			after, ok := replica.Ready(snap, c.what, Accept(enc))
			if !ok || !after.dense || after == first || len(after.Body) >= len(first.Body) || after.ETag != first.ETag {
				t.Fatalf("%s %s: dense %+v in place of %d bytes", name, enc, after.dense, len(first.Body))
			}
			if got := bodyIn(t, after); got != before || bodyIn(t, first) != before {
				t.Errorf("%s %s: another body than before", name, enc)
			}
			if again, err := c.get(enc); err != nil || again != after {
				t.Errorf("%s %s: made again: %v", name, enc, err)
			}
		}
	}
	if got, want := replica.DenseBodies(), (DenseBodies{Made: 4}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestReadyPrefersWhatIsSmallest(t *testing.T) {
	t.Parallel()
	s := NewStore(openForTest(t, Embedded), StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := NewReplica(s, ReplicaConfig{})
	snap := snapOf(t, replica)
	all := Accept(Gzip, Brotli, Zstd)
	for _, what := range []menu.Index{WholeMenu, PublishedMenu, ChangesOnly, 0} {
		if ready, ok := replica.Ready(snap, what, all); ok {
			t.Errorf("%d: %s is ready and nobody made it", what, ready.Encoding)
		}
	}
	// A reader of gzip came first: it serves those too who take better, until
	// that is made, for which they ask once.
	if _, err := replica.Menu(snap, Gzip); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if ready, ok := replica.Ready(snap, WholeMenu, all); !ok || ready.Encoding != Gzip {
			t.Fatalf("ready: %v %t, want gzip", ready, ok)
		}
	}
	if got := fmt.Sprint(replica.wishes.take(9)); got != fmt.Sprint([]wish{{"bistro", WholeMenu, Gzip}, {"bistro", WholeMenu, Brotli}}) {
		t.Errorf("wished for %s", got)
	}
	if _, ok := replica.Ready(snap, WholeMenu, Accept(Zstd)); ok {
		t.Error("gzip was ready for who takes zstd alone")
	}
	for _, c := range []struct {
		made Encoding
		dish Encoding // of a dish
	}{{Zstd, Gzip}, {Brotli, Gzip}} {
		if _, err := replica.Menu(snap, c.made); err != nil {
			t.Fatal(err)
		}
		if ready, ok := replica.Ready(snap, WholeMenu, all); !ok || ready.Encoding != c.made {
			t.Errorf("ready: %v, want %s", ready.Encoding, c.made)
		}
	}
	if got := all.First(0); got != Gzip {
		t.Errorf("a dish is made in %s, want gzip", got)
	}
	for set, want := range map[Encodings]Encoding{all: Brotli, Accept(Zstd, Gzip): Zstd, Accept(Gzip): Gzip, 0: Identity} {
		if got := set.First(WholeMenu); got != want {
			t.Errorf("of %q a menu is made in %s, want %s", set, got, want)
		}
	}
}

// Of all larders on one Redis one compresses; the others take it.
func TestDenseBodiesAreShared(t *testing.T) {
	t.Parallel()
	OnEveryForm(t, func(t *testing.T, r *Redis) {
		s := NewStore(r, StoreConfig{})
		publishGenerated(t, s, 0, largeMenu, 1)
		replicas := []*Replica{NewReplica(s, ReplicaConfig{}), NewReplica(s, ReplicaConfig{}), NewReplica(s, ReplicaConfig{})}
		var bodies []string
		total := DenseBodies{}
		for _, replica := range replicas {
			runs(t, replica)
			if _, err := replica.Menu(snapOf(t, replica), Brotli); err != nil { // all at once
				t.Fatal(err)
			}
		}
		for _, replica := range replicas {
			soon(t, "a dense menu", isDense(replica, WholeMenu, Brotli))
			bodies = append(bodies, bodyIn(t, held(replica, WholeMenu, Brotli)))
			count := replica.DenseBodies()
			total.Made, total.Taken = total.Made+count.Made, total.Taken+count.Taken
		}
		if bodies[0] != bodies[1] || bodies[1] != bodies[2] {
			t.Error("the larders answer different menus")
		}
		want := DenseBodies{Made: 1, Taken: 2}
		if r.Embedded() {
			want = DenseBodies{Made: 3}
		}
		if total != want {
			t.Errorf("together %+v, want %+v", total, want)
		}
		key := r.Keys().Dense("bistro", 1, WholeMenu, Brotli)
		life := r.Client().PTTL(t.Context(), key).Val()
		if want.Taken > 0 && (life <= 0 || life > sharedLife) {
			t.Errorf("%s lives %s, want at most %s", key, life, sharedLife)
		}
		if n := r.Client().Exists(t.Context(), key).Val(); n != min(want.Taken, 1) {
			t.Errorf("%d bodies are in redis", n)
		}
		if n := r.Client().Exists(t.Context(), r.Keys().DenseClaim(key)).Val(); n != 0 {
			t.Error("a claim was left")
		}
	})
}

func TestWhatIsNoSharedBodyIsNotTaken(t *testing.T) {
	t.Parallel()
	r := openForTest(t, redistest.Start(t).URL())
	s := NewStore(r, StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	maker := NewReplica(s, ReplicaConfig{})
	if _, err := maker.Menu(snapOf(t, maker), Brotli); err != nil {
		t.Fatal(err)
	}
	w := wish{"bistro", WholeMenu, Brotli}
	if maker.densify(t.Context(), w) {
		t.Fatal("claimed by nobody")
	}
	key := r.Keys().Dense("bistro", 1, WholeMenu, Brotli)
	good := r.Client().Get(t.Context(), key).Val()
	other := "another menu's hash, of 32 bytes" + good[sha256.Size:]
	for name, value := range map[string]string{
		"of another menu": other, "cut": good[:len(good)-1], "broken": good[:len(good)-1] + "\x00\x01", "empty": "", "hashes alone": good[:2*sha256.Size],
	} {
		if err := r.Client().Set(t.Context(), key, value, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		taker := NewReplica(s, ReplicaConfig{})
		quickly, err := taker.Menu(snapOf(t, taker), Brotli)
		if err != nil {
			t.Fatal(err)
		}
		taker.densify(t.Context(), w)
		if got := bodyIn(t, held(taker, WholeMenu, Brotli)); got != bodyIn(t, quickly) || taker.DenseBodies().Made != 1 {
			t.Errorf("%s: %+v", name, taker.DenseBodies())
		}
		if now := r.Client().Get(t.Context(), key).Val(); now != good {
			t.Errorf("%s: it stays in redis", name)
		}
	}
}

// While one larder makes a body the others leave it to that one, for a while.
func TestAClaimIsRespectedAndEnds(t *testing.T) {
	t.Parallel()
	r := openForTest(t, redistest.Start(t).URL())
	s := NewStore(r, StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := NewReplica(s, ReplicaConfig{})
	if _, err := replica.Menu(snapOf(t, replica), Brotli); err != nil {
		t.Fatal(err)
	}
	claim := r.Keys().DenseClaim(r.Keys().Dense("bistro", 1, WholeMenu, Brotli))
	if err := r.Client().Set(t.Context(), claim, 1, claimLife).Err(); err != nil {
		t.Fatal(err)
	}
	w := wish{"bistro", WholeMenu, Brotli}
	if !replica.densify(t.Context(), w) || isDense(replica, WholeMenu, Brotli)() {
		t.Error("a body was made that another larder is making")
	}
	runs(t, replica)
	if err := r.Client().Del(t.Context(), claim).Err(); err != nil { // as its expiry does
		t.Fatal(err)
	}
	soon(t, "made here", isDense(replica, WholeMenu, Brotli))
}

func TestDenseBodiesWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := NewStore(openForTest(t, server.URL()), StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := NewReplica(s, ReplicaConfig{})
	snap := snapOf(t, replica)
	server.Stop()
	if _, err := replica.Menu(snap, Gzip); err != nil {
		t.Fatal(err)
	}
	runs(t, replica)
	soon(t, "made without redis", isDense(replica, WholeMenu, Gzip))
	if got := replica.DenseBodies(); got != (DenseBodies{Made: 1}) {
		t.Errorf("%+v", got)
	}
}

// What a larder puts into Redis is bounded, however many menus are read.
func TestSharingIsBounded(t *testing.T) {
	t.Parallel()
	r := openForTest(t, redistest.Start(t).URL())
	s := NewStore(r, StoreConfig{})
	const restaurants, memory = 30, 256 << 10
	now := time.Now()
	replica := NewReplica(s, ReplicaConfig{Memory: memory, Clock: func() time.Time { return now }})
	made := 0
	for i := range restaurants {
		p := generated(t, 0, largeMenu, i)
		p.Restaurant = menu.RestaurantID("r" + strconv.Itoa(i))
		if _, err := s.Publish(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		snap, err := replica.Catalogue(t.Context(), p.Restaurant)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replica.Menu(snap, Gzip); err != nil {
			t.Fatal(err)
		}
		if replica.densify(t.Context(), wish{p.Restaurant, WholeMenu, Gzip}) {
			t.Error("a claim was left")
		}
		made++
	}
	var there int64
	for i := range restaurants {
		there += r.Client().StrLen(t.Context(), r.Keys().Dense(menu.RestaurantID("r"+strconv.Itoa(i)), 1, WholeMenu, Gzip)).Val()
	}
	if there == 0 || there > memory/sharedPart || replica.DenseBodies().Made != int64(made) {
		t.Errorf("%d bytes of %d bodies are in redis, want some and at most %d", there, made, memory/sharedPart)
	}
}

// What is read is made anew of a new version, dense too; what is read no more
// is made once more and then no longer.
func TestWhatIsReadIsMadeDenseAnew(t *testing.T) {
	t.Parallel()
	s := NewStore(openForTest(t, redistest.Start(t).URL()), StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := NewReplica(s, ReplicaConfig{})
	runs(t, replica)
	snap := snapOf(t, replica)
	if _, err := replica.Menu(snap, Brotli); err != nil {
		t.Fatal(err)
	}
	if _, err := replica.Published(t.Context(), snap, Gzip); err != nil {
		t.Fatal(err)
	}
	at := func(version int64) func() bool {
		return func() bool { snap, _ := replica.Peek("bistro"); return snap.Version.Version == version }
	}
	publishGenerated(t, s, 1, largeMenu, 2)
	soon(t, "version 2", at(2))
	soon(t, "its menu", isDense(replica, WholeMenu, Brotli))
	soon(t, "its view", isDense(replica, PublishedMenu, Gzip))
	if held(replica, WholeMenu, Gzip) != nil || held(replica, PublishedMenu, Brotli) != nil {
		t.Error("encodings that nobody reads were made")
	}
	if held(replica, WholeMenu, Brotli).used.Load() || held(replica, PublishedMenu, Gzip).used.Load() {
		t.Error("a body that nobody has read counts as read")
	}
	publishGenerated(t, s, 2, largeMenu, 3)
	soon(t, "version 3", at(3))
	if left := replica.stale.take(9); len(left) != 0 || held(replica, WholeMenu, Brotli) != nil {
		t.Errorf("%v is made anew, which nobody has read since", left)
	}
}

// Whoever reads while versions and denser bodies come gets a body that is whole
// and of its tag.
func TestReadersGetWholeBodiesWhileTheyBecomeDense(t *testing.T) {
	t.Parallel()
	s := NewStore(openForTest(t, redistest.Start(t).URL()), StoreConfig{})
	publishGenerated(t, s, 0, largeMenu, 1)
	replica := NewReplica(s, ReplicaConfig{})
	runs(t, replica)
	snapOf(t, replica)
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
		soon(t, "the version", func() bool { snap, _ := replica.Peek("bistro"); return snap.Version.Version == version+2 })
		soon(t, "a dense body", isDense(replica, WholeMenu, Brotli))
	}
	stop()
	wait.Wait()
}

// readAny reads a body of the bistro, whichever, and says what is wrong with it.
func readAny(ctx context.Context, replica *Replica) error {
	snap, err := replica.Catalogue(ctx, "bistro")
	if err != nil {
		return err
	}
	set := Encodings(rand.N(1<<encodings-1) + 1)
	what := []menu.Index{WholeMenu, PublishedMenu, 3}[rand.N(3)]
	ready, ok := replica.Ready(snap, what, set)
	switch enc := set.First(what); {
	case ok:
	case what == WholeMenu:
		ready, err = replica.Menu(snap, enc)
	case what == PublishedMenu:
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
		return fmt.Errorf("%s for who takes %s", ready.Encoding, set)
	case what == WholeMenu && !strings.Contains(body, `"version":`+strconv.FormatInt(snap.Version.Version, 10)):
		return fmt.Errorf("version %d answers %.200s", snap.Version.Version, body)
	}
	return nil
}

func TestEncodingsHaveTheirNames(t *testing.T) {
	t.Parallel()
	if got := Accept(Identity, Gzip, Brotli, Zstd).String(); got != "identity, gzip, br, zstd" {
		t.Errorf("got %s", got)
	}
}

// A hot read looks into memory and does nothing else.
func TestReadyAllocatesNothing(t *testing.T) { //nolint:paralleltest // it counts allocations
	s := NewStore(openForTest(t, Embedded), StoreConfig{})
	publishGenerated(t, s, 0, 4, 1)
	replica := NewReplica(s, ReplicaConfig{})
	snap := snapOf(t, replica)
	if _, err := replica.Menu(snap, Gzip); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() { replica.Ready(snap, WholeMenu, Accept(Gzip, Zstd)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzOpenShared(f *testing.F) {
	ready := &Representation{Body: []byte("a body"), sum: sha256.Sum256([]byte("what it says"))}
	f.Add(sealShared(ready))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, value []byte) {
		body := openShared(value, ready.sum)
		if body == nil {
			return
		}
		if again := sealShared(&Representation{Body: body, sum: ready.sum}); !bytes.Equal(again, value) {
			t.Errorf("%x was taken for a body", value)
		}
	})
}
