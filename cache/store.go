package cache

import (
	"context"
	"errors"
	"time"

	"larder/internal/menu"
)

// DefaultHistory is how many contents a restaurant's history keeps (policy S7).
const DefaultHistory = 20

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
}

// NewStore makes a Store; it asks Redis nothing.
func NewStore(r *Redis, cfg StoreConfig) *Store {
	return &Store{redis: r, keys: r.Keys(), history: cfg.History, clock: cfg.Clock}
}

// Publication is one version to be published.
type Publication struct {
	Restaurant menu.RestaurantID
	Name       string
	Fence      int64 // the publisher's fencing number (policy S2)
	Base       int64 // the version it was compiled against; 0 = there was none
	Catalogue  *menu.Catalogue
	View       *menu.View
	SyncedAt   time.Time
	Floor      int64 // the highest version the publisher has served
}

// Publish todo.
func (s *Store) Publish(ctx context.Context, p Publication) (Version, error) {
	return Version{}, errors.ErrUnsupported
}

// Current todo.
func (s *Store) Current(ctx context.Context, restaurant menu.RestaurantID) (Version, error) {
	return Version{}, errors.ErrUnsupported
}

// Currents todo.
func (s *Store) Currents(ctx context.Context, restaurants []menu.RestaurantID) (map[menu.RestaurantID]Version, error) {
	return nil, errors.ErrUnsupported
}

// Checked todo.
func (s *Store) Checked(ctx context.Context, restaurant menu.RestaurantID, at time.Time, outcome string) error {
	return errors.ErrUnsupported
}

// Outcome todo.
func (s *Store) Outcome(ctx context.Context, restaurant menu.RestaurantID, outcome string) error {
	return errors.ErrUnsupported
}

// Content todo.
func (s *Store) Content(ctx context.Context, hash string) (*menu.Content, error) {
	return nil, errors.ErrUnsupported
}

// SaveReasons todo.
func (s *Store) SaveReasons(ctx context.Context, connection string, raw []byte) error {
	return errors.ErrUnsupported
}

// Reasons todo.
func (s *Store) Reasons(ctx context.Context, connection string) ([]byte, time.Time, error) {
	return nil, time.Time{}, errors.ErrUnsupported
}
