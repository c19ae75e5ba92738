package cache

import (
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/menu"
)

// ReplicaConfig is what a Replica needs beside its Store.
type ReplicaConfig struct {
	// Restaurants are those to keep in memory; asked at every poll.
	Restaurants func() []menu.RestaurantID
	Memory      int64         // bytes of ready bodies; 0 means 512 MiB
	Poll        time.Duration // 0 means 5 s
	Clock       func() time.Time
	Log         logrus.FieldLogger
}

// Replica todo.
type Replica struct{}

// Snapshot is one version of a restaurant's catalogue. It never changes.
type Snapshot struct {
	Version
	Catalogue *menu.Catalogue
}

// Encoding is how a body is encoded for transfer.
type Encoding uint8

// The encodings that bodies are kept in.
const (
	Identity Encoding = iota
	Gzip
)

// Representation is one ready-made body.
type Representation struct {
	Body     []byte
	ETag     string
	Encoding Encoding
}

// NewReplica todo.
func NewReplica(store *Store, cfg ReplicaConfig) *Replica { return &Replica{} }

// Run todo.
func (r *Replica) Run(ctx context.Context) error { return errors.ErrUnsupported }

// Catalogue todo.
func (r *Replica) Catalogue(ctx context.Context, restaurant menu.RestaurantID) (*Snapshot, error) {
	return nil, errors.ErrUnsupported
}

// Peek todo.
func (r *Replica) Peek(restaurant menu.RestaurantID) (*Snapshot, bool) { return nil, false }

// Offer todo.
func (r *Replica) Offer(snapshot *Snapshot) {}

// Menu todo.
func (r *Replica) Menu(snap *Snapshot, enc Encoding) (*Representation, error) {
	return nil, errors.ErrUnsupported
}

// Product todo.
func (r *Replica) Product(snap *Snapshot, p menu.Index, enc Encoding) (*Representation, error) {
	return nil, errors.ErrUnsupported
}
