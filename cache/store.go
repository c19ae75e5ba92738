package cache

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

const (
	// DefaultHistory is how many contents a restaurant's history keeps (policy S7).
	DefaultHistory = 20
	// pipelined is how many restaurants one pipeline asks for.
	pipelined = 256
)

// StoreConfig is what a Store needs beside its Redis.
type StoreConfig struct {
	History int              // contents kept of a restaurant; 0 means DefaultHistory
	Clock   func() time.Time // nil means time.Now
}

// Store is the catalogues at rest in Redis. It is safe for concurrent use by
// any number of goroutines and processes.
type Store struct {
	redis   *Redis
	keys    Keys
	history int
	clock   func() time.Time
	packer  *packer
	scripts scripts
}

// NewStore makes a Store; it asks Redis nothing.
func NewStore(r *Redis, cfg StoreConfig) *Store {
	s := &Store{
		redis: r, keys: r.Keys(), history: cfg.History, clock: cfg.Clock,
		packer: newPacker(), scripts: newScripts(),
	}
	if s.history < 1 {
		s.history = DefaultHistory
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

// Current gives the restaurant's current version.
//
// Errors: ErrNoCatalogue, ErrCorrupt, ErrUnavailable.
func (s *Store) Current(ctx context.Context, restaurant menu.RestaurantID) (Version, error) {
	found, err := s.currents(ctx, []menu.RestaurantID{restaurant})
	if err != nil {
		return Version{}, err
	}
	return found[0].version, found[0].err
}

// Currents gives the current versions of many restaurants in few round trips.
// A restaurant without a catalogue, or with a record that cannot be read, is
// absent. The error is ErrUnavailable.
func (s *Store) Currents(ctx context.Context, restaurants []menu.RestaurantID) (map[menu.RestaurantID]Version, error) {
	found, err := s.currents(ctx, restaurants)
	if err != nil {
		return nil, err
	}
	versions := make(map[menu.RestaurantID]Version, len(found))
	for i, f := range found {
		if f.err == nil {
			versions[restaurants[i]] = f.version
		}
	}
	return versions, nil
}

// found is what Redis holds of one restaurant.
type found struct {
	version Version
	err     error // ErrNoCatalogue or ErrCorrupt
}

func (s *Store) currents(ctx context.Context, restaurants []menu.RestaurantID) ([]found, error) {
	all := make([]found, 0, len(restaurants))
	fields := append([]string{"record"}, statusFields()...)
	err := s.ask(ctx, restaurants, fields, func(restaurant menu.RestaurantID, values []any) {
		raw, stored := values[0].(string)
		state := readStatus(values[1:])
		if !stored || state.version == 0 {
			all = append(all, found{err: fmt.Errorf("cache: %s: %w", restaurant, ErrNoCatalogue)})
			return
		}
		version, err := decodeRecord(restaurant, []byte(raw))
		all = append(all, found{version: version.with(state), err: err})
	})
	return all, err
}

// ask reads fields of Keys.Current of many restaurants, in order.
func (s *Store) ask(ctx context.Context, restaurants []menu.RestaurantID, fields []string, answer func(menu.RestaurantID, []any)) error {
	for len(restaurants) > 0 {
		part := restaurants[:min(pipelined, len(restaurants))]
		restaurants = restaurants[len(part):]
		pipe := s.redis.Client().Pipeline()
		answers := make([]*redis.SliceCmd, len(part))
		for i, restaurant := range part {
			answers[i] = pipe.HMGet(ctx, s.keys.Current(restaurant), fields...)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return unavailable("read current versions", err)
		}
		for i, restaurant := range part {
			answer(restaurant, answers[i].Val())
		}
	}
	return nil
}

// Versions gives the versions that the history keeps, newest first: one for
// each content, with the stop lists it had last (policy S7).
//
// Errors: ErrNoCatalogue where there is none, ErrUnavailable.
func (s *Store) Versions(ctx context.Context, restaurant menu.RestaurantID) ([]Version, error) {
	list, err := s.redis.Client().LRange(ctx, s.keys.History(restaurant), 0, -1).Result()
	if err != nil {
		return nil, unavailable("history of "+string(restaurant), err)
	}
	entries := readHistory(list)
	if len(entries) == 0 {
		return nil, fmt.Errorf("cache: history of %s: %w", restaurant, ErrNoCatalogue)
	}
	keys := make([]string, len(entries))
	for i, entry := range entries {
		keys[i] = s.keys.Record(restaurant, entry.version)
	}
	values, err := s.redis.Client().MGet(ctx, keys...).Result()
	if err != nil {
		return nil, unavailable("records of "+string(restaurant), err)
	}
	versions := make([]Version, 0, len(values))
	for _, value := range values {
		raw, _ := value.(string)
		if version, err := decodeRecord(restaurant, []byte(raw)); err == nil {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// Version gives one version: any of the history, or one that was replaced
// within the last ten minutes.
//
// Errors: ErrNoCatalogue when it is not kept, ErrCorrupt, ErrUnavailable.
func (s *Store) Version(ctx context.Context, restaurant menu.RestaurantID, version int64) (Version, error) {
	raw, err := s.redis.Client().Get(ctx, s.keys.Record(restaurant, version)).Bytes()
	if err != nil {
		return Version{}, orMiss(fmt.Sprintf("version %d of %s", version, restaurant), ErrNoCatalogue, err)
	}
	return decodeRecord(restaurant, raw)
}

// Checked notes that the current version was confirmed: only checkedAt, which
// never moves back, and the last outcome move (policy S3).
//
// Errors: ErrNoCatalogue when Redis has no version of the restaurant,
// ErrUnavailable.
func (s *Store) Checked(ctx context.Context, restaurant menu.RestaurantID, at time.Time, outcome string) error {
	return s.checked(ctx, restaurant, formatTime(at), outcome)
}

// Outcome notes how a run ended that confirmed nothing. Errors as Checked.
func (s *Store) Outcome(ctx context.Context, restaurant menu.RestaurantID, outcome string) error {
	return s.checked(ctx, restaurant, "", outcome)
}

func (s *Store) checked(ctx context.Context, restaurant menu.RestaurantID, at, outcome string) error {
	doing := "note a check of " + string(restaurant)
	done, err := s.scripts.checked.Run(ctx, s.redis.Client(), []string{s.keys.Current(restaurant)}, at, outcome).Int()
	if err != nil {
		return unavailable(doing, err)
	}
	if done == 0 {
		return fmt.Errorf("cache: %s: %w", doing, ErrNoCatalogue)
	}
	return nil
}
