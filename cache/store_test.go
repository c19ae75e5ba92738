package cache_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

var publicFields = cmpopts.IgnoreUnexported(cache.Version{})

func TestPublishedVersionReadsBack(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		if _, err := s.Current(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Fatalf("before the first publish: got %v, want ErrNoCatalogue", err)
		}
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(5, 7, "d1"))
		p.SyncedAt = noon.Add(1234567 * time.Nanosecond)
		published, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := cache.Version{
			Restaurant:  bistro,
			Name:        "The Bistro",
			Version:     1,
			Content:     published.Content,
			Stops:       menu.Stops{Products: []string{"d1"}},
			SyncedAt:    noon.Add(time.Millisecond),
			CheckedAt:   noon.Add(time.Millisecond),
			ModifiedAt:  noon.Add(time.Millisecond),
			Counts:      p.Catalogue.Counts(),
			LastOutcome: "updated",
			Bytes:       len(p.Published.Content),
			Published:   published.Published,
			PublishedAt: noon.Add(time.Millisecond),
			Settings:    new(p.Catalogue.Settings()),
		}
		current, err := s.Current(t.Context(), bistro)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]cache.Version{"Publish": published, "Current": current} {
			if diff := cmp.Diff(want, got, publicFields, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		content, err := s.Content(t.Context(), current.Content, nil)
		if err != nil {
			t.Fatal(err)
		}
		head := menu.Head{Restaurant: bistro, Version: 1, SyncedAt: noon}
		if diff := cmp.Diff(string(p.Catalogue.AppendMenu(nil, head)), string(content.WithStops(current.Stops).AppendMenu(nil, head))); diff != "" {
			t.Errorf("the stored menu differs:\n%s", diff)
		}
	})
}

func TestDocumentedKeys(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 7, "d1"))
		ctx, client := t.Context(), r.Client()

		current := client.HGetAll(ctx, cache.NewKeys(r.Prefix()).Current(bistro)).Val()
		if current["version"] != "1" || current["syncedAt"] != "2026-03-01T12:00:00.000Z" ||
			current["index"] != cache.NewKeys(r.Prefix()).Version(bistro, 1) || len(current["content"]) != 64 {
			t.Errorf("current = %v", current)
		}
		want := map[string]map[string]string{
			"products": {
				"d0": `{"externalId":"pos0","name":"Dish 0","price":7,"schemeId":"s","categoryId":"c","categoryIds":["c"],"available":true}`,
				"d1": `{"externalId":"pos1","name":"Dish 1","price":7,"schemeId":null,"categoryId":"c","categoryIds":["c"],"available":false}`,
				"d2": `{"externalId":"pos1","name":"Dish 2","price":7,"schemeId":null,"categoryId":"c","categoryIds":["c"],"available":true}`,
			},
			"externalIds": {"pos0": `["d0"]`, "pos1": `["d1","d2"]`},
			"schemes":     {"s": `[{"group":"g","name":"Sauce \"hot\"","min":1,"max":2,"options":["i1","i2"]},{"group":"h","name":"Extra","min":0,"max":null,"options":["i2"]}]`},
		}
		for name, fields := range want {
			key := cache.NewKeys(r.Prefix()).Version(bistro, 1) + ":" + name
			if diff := cmp.Diff(fields, client.HGetAll(ctx, key).Val()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", key, diff)
			}
			if life := client.TTL(ctx, key).Val(); life != -1 {
				t.Errorf("the TTL of %s is %s, want none", key, life)
			}
		}
		if got := client.SMembers(ctx, cache.NewKeys(r.Prefix()).Stopped(bistro, 1)).Val(); !slices.Equal(got, []string{"d1"}) {
			t.Errorf("stopped = %v, want [d1]", got)
		}

		cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 8))
		for _, name := range []string{"products", "externalIds", "schemes", "stopped"} {
			key := cache.NewKeys(r.Prefix()).Version(bistro, 1) + ":" + name
			if life := client.TTL(ctx, key).Val(); life < 9*time.Minute || life > 10*time.Minute {
				t.Errorf("the TTL of %s of the previous version is %s, want ten minutes", key, life)
			}
		}
		if n := client.Exists(ctx, cache.NewKeys(r.Prefix()).Stopped(bistro, 2)).Val(); n != 0 {
			t.Error("a version without stopped ids has a stopped set")
		}
	})
}

func TestChainSharesContentAndIndex(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		first := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 7))
		second := cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 7, "d1"))
		third := cachetest.Publish(t, s, "diner", 0, cachetest.MenuJSON(3, 7))
		if first.Content != second.Content || first.Content != third.Content {
			t.Fatalf("contents %s, %s, %s differ", first.Content, second.Content, third.Content)
		}
		ctx, client := t.Context(), r.Client()
		if n := client.SCard(ctx, cache.NewKeys(r.Prefix()).Contents()).Val(); n != 1 {
			t.Errorf("%d contents are stored, want 1", n)
		}
		shared := cache.NewKeys(r.Prefix()).Content(first.Content)
		for _, id := range []menu.RestaurantID{"grill", "diner"} {
			if got := client.HGet(ctx, cache.NewKeys(r.Prefix()).Current(id), "index").Val(); got != shared {
				t.Errorf("index of %s = %q, want %q", id, got, shared)
			}
			if n := client.Exists(ctx, cache.NewKeys(r.Prefix()).Products(cache.NewKeys(r.Prefix()).Version(id, 1))).Val(); n != 0 {
				t.Errorf("%s has its own products", id)
			}
		}
		var dish map[string]any
		if err := json.Unmarshal([]byte(client.HGet(ctx, shared+":products", "d1").Val()), &dish); err != nil {
			t.Fatal(err)
		}
		if _, there := dish["available"]; there {
			t.Error("a shared product has the field available, which depends on the restaurant")
		}
		if got := client.SMembers(ctx, cache.NewKeys(r.Prefix()).Stopped("grill", 1)).Val(); !slices.Equal(got, []string{"d1"}) {
			t.Errorf("stopped of grill = %v, want [d1]", got)
		}
	})
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		if err := r.Client().HSet(t.Context(), cache.NewKeys(r.Prefix()).Fence(bistro), "fence", 5).Err(); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			fence, base int64
			want        error
		}{
			"a fence below the stored one":        {4, 1, cache.ErrFenced},
			"a base that does not exist":          {5, 0, cache.ErrStale},
			"a base above the current version":    {5, 2, cache.ErrStale},
			"an old fence even with an old base":  {1, 0, cache.ErrFenced},
			"the stored fence and base: accepted": {5, 1, nil},
		} {
			p := cachetest.Publication(t, "other", 0, cachetest.MenuJSON(3, 2))
			p.Restaurant, p.Fence, p.Base = bistro, c.fence, c.base
			if c.want == nil {
				continue
			}
			if _, err := s.Publish(t.Context(), p); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		if got, err := s.Current(t.Context(), bistro); err != nil || got.Version != 1 {
			t.Errorf("after the rejections: version %d, %v; want 1", got.Version, err)
		}
		p := cachetest.Publication(t, bistro, 1, cachetest.MenuJSON(3, 2))
		p.Fence = 5
		if v, err := s.Publish(t.Context(), p); err != nil || v.Version != 2 {
			t.Errorf("with the stored fence: version %d, %v; want 2", v.Version, err)
		}
		if _, err := s.Publish(t.Context(), cache.Publication{Restaurant: bistro}); err == nil {
			t.Error("a publication without a catalogue was accepted")
		}
	})
}

func TestVersionIsAboveTheServedOne(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 1))
		p.Floor = 41 // Redis lost its data; this process has served 41
		if v, err := s.Publish(t.Context(), p); err != nil || v.Version != 42 {
			t.Errorf("version %d, %v; want 42", v.Version, err)
		}
	})
}

func TestHistory_S7(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{History: 3})
		numbers := func() (got []int64) {
			versions, err := s.Versions(t.Context(), bistro)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range versions {
				got = append(got, v.Version)
			}
			return got
		}
		if _, err := s.Versions(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("history of an unknown restaurant: %v, want ErrNoCatalogue", err)
		}
		one := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		two := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 1, "d1"))
		if one.Content != two.Content {
			t.Fatal("a stop list changed the content")
		}
		if got := numbers(); !slices.Equal(got, []int64{2}) {
			t.Errorf("after a stop-list change: %v, want [2]: it adds no entry", got)
		}
		if v, err := s.Version(t.Context(), bistro, 1); err != nil || v.Version != 1 || v.Stops.Products != nil {
			t.Errorf("the version before the stop-list change: %+v, %v", v, err)
		}
		for i := range int64(4) {
			cachetest.Publish(t, s, bistro, 2+i, cachetest.MenuJSON(3, 10+i))
		}
		if got := numbers(); !slices.Equal(got, []int64{6, 5, 4}) {
			t.Errorf("after four contents: %v, want [6 5 4]", got)
		}
		if life := r.Client().TTL(t.Context(), cache.NewKeys(r.Prefix()).Record(bistro, 2)).Val(); life <= 0 || life > 10*time.Minute {
			t.Errorf("the TTL of a record that left the history is %s", life)
		}
		if life := r.Client().TTL(t.Context(), cache.NewKeys(r.Prefix()).Record(bistro, 4)).Val(); life != -1 {
			t.Errorf("the TTL of a record of the history is %s, want none", life)
		}
		if _, err := s.Version(t.Context(), bistro, 77); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("an unknown version: %v, want ErrNoCatalogue", err)
		}
	})
}

func TestCheckedAtChangesWithoutAVersion(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		if err := cachetest.Checked(t.Context(), r, bistro, noon, "unchanged"); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("without a catalogue: %v, want ErrNoCatalogue", err)
		}
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		for _, step := range []struct {
			at      time.Time
			outcome string
			want    time.Time
		}{
			{noon.Add(time.Minute), "unchanged", noon.Add(time.Minute)},
			{time.Time{}, "failed", noon.Add(time.Minute)},              // confirms nothing
			{noon.Add(time.Second), "unchanged", noon.Add(time.Minute)}, // late: checkedAt does not decrease
			{noon.Add(20 * time.Hour), "unchanged", noon.Add(20 * time.Hour)},
			{noon.Add(2 * time.Minute), "unchanged", noon.Add(2 * time.Minute)}, // the other clock was wrong
		} {
			if err := cachetest.Checked(t.Context(), r, bistro, step.at, step.outcome); err != nil {
				t.Fatal(err)
			}
			got, err := s.Current(t.Context(), bistro)
			if err != nil {
				t.Fatal(err)
			}
			if !got.CheckedAt.Equal(step.want) || got.LastOutcome != step.outcome || got.Version != 1 || !got.SyncedAt.Equal(noon) {
				t.Errorf("%+v: got checkedAt %s, %q, version %d, syncedAt %s", step, got.CheckedAt, got.LastOutcome, got.Version, got.SyncedAt)
			}
		}
	})
}

func TestCurrentVersionsOfManyRestaurants(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		ids := make([]menu.RestaurantID, 600)
		for i := range ids {
			ids[i] = menu.RestaurantID(fmt.Sprintf("r%d", i))
		}
		cachetest.Publish(t, s, ids[0], 0, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, ids[599], 0, cachetest.MenuJSON(3, 2))
		if err := r.Client().HSet(t.Context(), cache.NewKeys(r.Prefix()).Current(ids[300]), "record", "{", "version", 1, "form", "f4").Err(); err != nil {
			t.Fatal(err)
		}
		if err := r.Client().Set(t.Context(), cache.NewKeys(r.Prefix()).Current(ids[301]), "not a record", 0).Err(); err != nil {
			t.Fatal(err)
		}
		found, err := s.Find(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			switch got := found[ids[i]]; {
			case i == 0 || i == 599:
				if got.Err != nil || got.Version.Version != 1 || got.Version.Restaurant != ids[i] {
					t.Errorf("%s: %+v, want its version", ids[i], got)
				}
			case i == 300 || i == 301:
				if !errors.Is(got.Err, cache.ErrCorrupt) {
					t.Errorf("%s: %v, want ErrCorrupt", ids[i], got.Err)
				}
			case !errors.Is(got.Err, cache.ErrNoCatalogue):
				t.Errorf("%s: %v, want ErrNoCatalogue", ids[i], got.Err)
			}
		}
		if _, err := s.Current(t.Context(), ids[300]); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("an unreadable record: %v, want ErrCorrupt", err)
		}
		if _, err := s.Current(t.Context(), ids[301]); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("a string instead of a record: %v, want ErrCorrupt", err)
		}
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		now := noon
		s := cache.NewStore(r, cache.StoreConfig{History: 1, Clock: func() time.Time { return now }})
		cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 1))
		old := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, "grill", 1, cachetest.MenuJSON(3, 2))
		kept := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		// The content still has users, because their histories name it.
		if n := r.Client().SCard(t.Context(), cache.NewKeys(r.Prefix()).ContentUsers(old.Content)).Val(); n != 2 {
			t.Errorf("%d restaurants have ever used the content, want 2", n)
		}
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{23 * time.Hour, 0}, {25 * time.Hour, 1}, {25 * time.Hour, 0}} {
			if err := r.Client().Del(t.Context(), cache.NewKeys(r.Prefix()).Swept()).Err(); err != nil {
				t.Fatal(err)
			}
			now = noon.Add(step.after)
			if got, err := s.Sweep(t.Context()); err != nil || got != step.want {
				t.Errorf("sweep after %s: %d, %v; want %d", step.after, got, err, step.want)
			}
		}
		if got, err := s.Sweep(t.Context()); err != nil || got != 0 {
			t.Errorf("a second sweep in a day: %d, %v", got, err)
		}
		if _, err := s.Content(t.Context(), old.Content, nil); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("the unused content: %v, want ErrNoCatalogue", err)
		}
		if n := r.Client().Exists(t.Context(), cache.NewKeys(r.Prefix()).Products(cache.NewKeys(r.Prefix()).Content(old.Content))).Val(); n != 0 {
			t.Error("the unused content's index still exists")
		}
		if _, err := s.Content(t.Context(), kept.Content, nil); err != nil {
			t.Errorf("the content in use: %v", err)
		}
	})
}

// If-Modified-Since has a resolution of one second. A client with a version must not
// get 304 for a later version of the same second.
func TestVersionsOfOneSecondHaveDifferentModificationTimes(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		var before cache.Version
		for base, step := range []struct{ synced, modified time.Duration }{
			{100 * time.Millisecond, 100 * time.Millisecond},
			{900 * time.Millisecond, time.Second},
			{950 * time.Millisecond, 2 * time.Second},
			{2500 * time.Millisecond, 3 * time.Second},
			{4500 * time.Millisecond, 4500 * time.Millisecond},
		} {
			p := cachetest.Publication(t, bistro, int64(base), cachetest.MenuJSON(3, int64(base+1)))
			p.SyncedAt = noon.Add(step.synced)
			v, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.Current(t.Context(), bistro)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []cache.Version{v, stored} {
				if !got.SyncedAt.Equal(noon.Add(step.synced)) || !got.ModifiedAt.Equal(noon.Add(step.modified)) ||
					!got.PublishedAt.Equal(got.ModifiedAt) {
					t.Errorf("version %d: synced %s, modified %s, published %s; want modified %s after noon",
						got.Version, got.SyncedAt, got.ModifiedAt, got.PublishedAt, step.modified)
				}
			}
			before = v
		}
		// Stop lists that are updated in the same second get a later time too.
		stops := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 5, "d1")).Published.Stops
		later, err := s.UpdateStopLists(t.Context(), before, 1, "", stops, before.PublishedAt)
		if err != nil || !later.PublishedAt.Equal(noon.Add(5*time.Second)) {
			t.Errorf("updated at %s, %v; want the next second", later.PublishedAt, err)
		}
	})
}
