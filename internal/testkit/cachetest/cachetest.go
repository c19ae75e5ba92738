// Package cachetest creates menus and publishes them for the tests of cache and
// cache/replica.
//
// Every publication is compiled from the JSON that it stores, as package sync does
// it. The internal tests of cache cannot use this package, which imports cache;
// they compile the menus of viewtest themselves.
package cachetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/viewtest"
)

// Bistro is the restaurant of most tests.
const Bistro menu.RestaurantID = "bistro"

// Noon is the sync time of a Publication.
func Noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Publication decodes and compiles a menu for publishing.
func Publication(tb testing.TB, restaurant menu.RestaurantID, base int64, raw []byte) cache.Publication {
	tb.Helper()
	view, published, err := menu.DecodePublished(raw)
	if err != nil {
		tb.Fatalf("decode: %v", err)
	}
	return cache.Publication{
		Restaurant: restaurant,
		Name:       "The Bistro",
		Fence:      1,
		Base:       base,
		Published:  published,
		Catalogue:  menu.Compile(view, restaurant, menu.DefaultSettings()),
		SyncedAt:   Noon(),
	}
}

// Publish publishes a menu over base. It fails the test on an error.
func Publish(tb testing.TB, s *cache.Store, restaurant menu.RestaurantID, base int64, raw []byte) cache.Version {
	tb.Helper()
	version, err := s.Publish(tb.Context(), Publication(tb, restaurant, base, raw))
	if err != nil {
		tb.Fatalf("publish: %v", err)
	}
	return version
}

// Generated returns a publication of a menu of n dishes for Bistro, with prices
// from seed.
func Generated(tb testing.TB, base int64, n, seed int) cache.Publication {
	tb.Helper()
	view, published, err := menu.DecodePublished(viewtest.Menu(n, func(dish int) int { return seed + dish }))
	if err != nil {
		tb.Fatal(err)
	}
	return cache.Publication{
		Restaurant: Bistro,
		Base:       base,
		Published:  published,
		SyncedAt:   time.Now(),
		Catalogue:  menu.Compile(view, Bistro, menu.DefaultSettings()),
	}
}

// UpdateStops saves other stop lists with the current version of Bistro.
func UpdateStops(t *testing.T, s *cache.Store, at time.Time, raw []byte) cache.Version {
	t.Helper()
	current, err := s.Current(t.Context(), Bistro)
	if err != nil {
		t.Fatal(err)
	}
	version, err := s.UpdateStopLists(t.Context(), current, 1, "", Publication(t, Bistro, 0, raw).Published.Stops, at)
	if err != nil {
		t.Fatalf("update: %v", err)
	}
	return version
}

// Checked records a check as the script that finishes a run does. A zero time
// confirms nothing. Errors: cache.ErrNoCatalogue, redisdb.ErrUnavailable.
func Checked(ctx context.Context, r *redisdb.DB, restaurant menu.RestaurantID, at time.Time, outcome string) error {
	script := redis.NewScript(cache.CheckedLua() + "return checked(KEYS[1], ARGV[1], ARGV[2], ARGV[3])")
	confirmed, ahead := "", ""
	if !at.IsZero() {
		confirmed = menu.FormatTime(at)
		ahead = menu.FormatTime(at.Add(cache.ClockSlack))
	}
	done, err := script.Run(ctx, r.Client(), []string{cache.NewKeys(r.Prefix()).Current(restaurant)}, confirmed, ahead, outcome).Int()
	if err != nil {
		return fmt.Errorf("note a check of %s: %w: %w", restaurant, redisdb.ErrUnavailable, err)
	}
	if done == 0 {
		return fmt.Errorf("note a check of %s: %w", restaurant, cache.ErrNoCatalogue)
	}
	return nil
}

// Eventually waits until the condition is true.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-ticker.C:
		}
	}
}
