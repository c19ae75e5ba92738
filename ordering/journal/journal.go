package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"larder/cache"
	"larder/internal/redisdb"
	"larder/ordering"
)

// Journal is ordering.Journal in Redis. It is safe for concurrent use, and any
// number of processes may have one over the same Redis.
type Journal struct {
	keys     cache.Keys
	embedded bool
	// read retries failed commands; write never does, because a command whose
	// reply was lost may have run.
	read, write redis.UniversalClient
	scripts     scripts
	cfg         ordering.Config
	log         logrus.FieldLogger

	flight singleflight.Group
	mu     sync.Mutex
	secret secret
	states map[string]*state // by connection
}

var _ ordering.Journal = (*Journal)(nil)

// New makes the journal of what r opened. Of the configuration it takes
// KeyTTL, RecordTTL and CustomerDataTTL (policies O7 and O13), AllowNonDurable,
// AllowEviction, WaitReplicas and WaitTimeout (policy O14), AcceptRestore and
// StateDir (policy O14a). It asks Redis nothing yet.
func New(r *redisdb.DB, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	return &Journal{
		keys: cache.NewKeys(r.Prefix()), embedded: r.Embedded(), read: r.Client(), write: r.Strict(),
		scripts: newScripts(), cfg: cfg, log: log, states: map[string]*state{},
	}
}

// The causes that a *ordering.JournalError may have beside Redis's own errors.
var (
	// ErrCorrupt says that Redis holds something that the journal did not write.
	ErrCorrupt = errors.New("unreadable record")
	// ErrAborted says that the opening was given up before it came in.
	ErrAborted = errors.New("the opening was aborted")
	// ErrRefTaken says that there is a record under the new order's ref.
	ErrRefTaken = errors.New("the reference is taken")
	// ErrReplicas says that fewer replicas than required have acknowledged a change in time.
	ErrReplicas = errors.New("too few replicas have the record in time")
)

// errMoved says that something changed between the read and the commit.
var errMoved = errors.New("changed meanwhile")

// failed makes what went wrong a *ordering.JournalError. It passes the errors
// of the contract through.
func failed(doing string, err error) error {
	if err == nil || isContract(err) {
		return err
	}
	return &ordering.JournalError{Err: fmt.Errorf("%s: %w", doing, err)}
}

// unreplicated is failed for a change that is made whether replicas have it or not.
func unreplicated(doing string, err error) error {
	if errors.Is(err, ErrReplicas) {
		return fmt.Errorf("%w: %s: %w", ordering.ErrUnreplicated, doing, err)
	}
	return failed(doing, err)
}

// isContract tells whether the error is one that ordering.Journal documents.
func isContract(err error) bool {
	for _, sentinel := range []error{ordering.ErrNoOrder, ordering.ErrKeyFree, ordering.ErrNoBody, ordering.ErrCursor} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	var (
		journal       *ordering.JournalError
		taken         *ordering.KeyTakenError
		busy          *ordering.BusyError
		state         *ordering.StateError
		contradiction *ordering.ContradictionError
		orderID       *ordering.OrderIDTakenError
		restored      *ordering.RestoredError
		notReady      *ordering.NotReadyError
	)
	return errors.As(err, &journal) || errors.As(err, &taken) || errors.As(err, &busy) ||
		errors.As(err, &state) || errors.As(err, &contradiction) || errors.As(err, &orderID) ||
		errors.As(err, &restored) || errors.As(err, &notReady)
}

// millis is a length of time in whole milliseconds.
func millis(d time.Duration) int64 { return d.Milliseconds() }

// update changes an order as plan says, by commit or apply, and again from the
// start when something else changed it meanwhile. A plan of nil changes nothing.
// It returns the order after the change.
func (j *Journal) update(
	ctx context.Context, commit func(context.Context, *change) (*order, error), at place, plan func(o *order) (*change, error),
) (*order, error) {
	for {
		o, err := j.order(ctx, j.write, at)
		if err != nil {
			return nil, err
		}
		c, err := plan(o)
		if err != nil || c == nil {
			return o, err
		}
		next, err := commit(ctx, c)
		if !errors.Is(err, errMoved) {
			return next, err
		}
	}
}
