package replica

import (
	"bytes"
	"cmp"
	"errors"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// S9: an instance compiles a version with its own settings, whatever those of its publisher are, at a read, at an order,
// and after they have changed. The ETag follows the body.
func TestMenusHaveTheSettingsOfTheInstance_S9(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	stopped := bytes.Replace(cachetest.MenuJSON(3, 1), []byte(`"isContainInStopList":[]`), []byte(`"isContainInStopList":["another"]`), 1)
	cachetest.Publish(t, s, bistro, 0, stopped)
	setup := Setup{Settings: menu.DefaultSettings()}
	replica := New(s, Config{Clock: cachetest.Noon, Setup: func(menu.RestaurantID) Setup { return setup }})
	version, before, err := replica.Current(t.Context(), bistro, "main")
	if err != nil || version != 1 || !before.Available(0) {
		t.Fatalf("Current = version %d, %v", version, err)
	}
	last := read(t, replica, bistro)
	for what, change := range []func(){
		func() { setup.Settings.StopListAnyValue = true },
		func() { setup.Name = "Trattoria" },
	} {
		change()
		if _, _, err := replica.Current(t.Context(), bistro, "main"); err != nil {
			t.Fatal(err)
		}
		now := read(t, replica, bistro)
		if now.Catalogue.Available(0) || !now.ModifiedAt.After(last.ModifiedAt) || now.Version.Version != 1 || now.Name != cmp.Or(setup.Name, last.Name) {
			t.Errorf("change %d: version %d of %q, modified at %v and before at %v; want the first dish stopped", what,
				now.Version.Version, now.Name, now.ModifiedAt, last.ModifiedAt)
		}
		last = now
	}
	if !before.Available(0) {
		t.Error("a catalogue in use has changed")
	}
	_, again, err := New(s, Config{Setup: func(menu.RestaurantID) Setup { return setup }}).Current(t.Context(), bistro, "main")
	if err != nil || again.Available(0) {
		t.Errorf("another instance at its start: %v; want the first dish stopped", err)
	}
}

// O16: a menu of another source is served, but not for orders.
func TestOrdersNeedAMenuOfTheirSource_O16(t *testing.T) {
	t.Parallel()
	db := topology.Open(t, redisdb.Embedded)
	of := func(names ...string) (*cache.Store, Config) {
		sources := func(menu.RestaurantID) []string { return names }
		return cache.NewStore(db, cache.StoreConfig{Sources: sources}), Config{
			Sources: func(string) []string { return names },
		}
	}
	old, _ := of("old c")
	cachetest.Publish(t, old, bistro, 0, cachetest.MenuJSON(3, 1))
	s, cfg := of("next c")
	replica := New(s, cfg)
	if got := read(t, replica, bistro); got.Source != "old c" {
		t.Errorf("served: %q", got.Source)
	}
	if _, _, err := replica.Current(t.Context(), bistro, "main"); !errors.Is(err, cache.ErrOtherSource) {
		t.Errorf("Current = %v, want ErrOtherSource", err)
	}
	s, cfg = of("next c", "old c")
	if _, _, err := New(s, cfg).Current(t.Context(), bistro, "main"); err != nil {
		t.Errorf("Current with former_urls = %v", err)
	}
	cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
	cachetest.Eventually(t, "the own menu replaces the other one", func() bool {
		replica.Refresh(bistro)
		return replica.apply(t.Context(), must(s.Current(t.Context(), bistro))) == nil && read(t, replica, bistro).Source == "next c"
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
