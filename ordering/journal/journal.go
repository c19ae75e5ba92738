// Package journal is the durable record of every order, in Redis: what
// ordering.Journal promises (policies O7 to O9 and O12 to O14).
//
// Its one invariant: a call that may have been sent is on record. Begin
// returns only when Redis has taken the opening, and no opening is ever lost
// to another change: a change is made up here, from the order as it was read,
// and committed by one script (commit.lua), which applies all of it when the
// order has not changed since, and nothing otherwise. Redis's clock is the
// only one.
//
// All keys of a connection share one hash tag (cache.Keys, docs/redis.md), and
// every script is given all keys it touches, so that it runs on a cluster too.
// What guests say and what the service answers to them stands under keys of
// its own, with a shorter life (policy O13); no error and no log line of this
// package repeats it, or an idempotency key.
//
// The engine of orders (ordering.Orders) calls it; it holds no rule of
// validation and sends nothing to anyone but Redis.
package journal

import (
	_ "embed" // the scripts
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/redisdb"
	"larder/ordering"
)

// Journal is ordering.Journal in Redis. It is safe for concurrent use, and any
// number of processes may have one over the same Redis. Its own methods begin and
// end calls; the others are those of its parts.
type Journal struct {
	*writer // also a reader, which finds and lists records
	*guard
	*sweeper
	*secret
}

var _ ordering.Journal = (*Journal)(nil)

// New makes the journal of what r opened. Of the configuration it takes
// KeyTTL, RecordTTL and CustomerDataTTL (policies O7 and O13), AllowNonDurable,
// AllowEviction, WaitReplicas and WaitTimeout (policy O14), AcceptRestore and
// StateDir (policy O14a). It asks Redis nothing yet.
func New(r *redisdb.DB, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	return newJournal(&reader{keys: cache.NewKeys(r.Prefix()), read: r.Client(), write: r.NoRetry(), log: log}, r.Embedded(), cfg)
}

func newJournal(r *reader, embedded bool, cfg ordering.Config) *Journal {
	w := &writer{reader: r, memory: &memory{cfg: cfg, log: r.log, states: map[string]*state{}}}
	return &Journal{
		writer: w, guard: &guard{writer: w, embedded: embedded}, sweeper: &sweeper{w},
		secret: &secret{name: r.keys.JournalSecret(), client: r.write},
	}
}

// The Lua scripts. The keys of each share one hash tag, because a cluster
// refuses a script whose keys are in several slots.
var (
	//go:embed commit.lua
	commitSource string
	//go:embed read.lua
	readSource string
	//go:embed due.lua
	dueSource string
	//go:embed prune.lua
	pruneSource string
	//go:embed accept.lua
	acceptSource string

	commitScript = redis.NewScript(commitSource) //nolint:gochecknoglobals // constant
	readScript   = redis.NewScript(readSource)   //nolint:gochecknoglobals // constant
	dueScript    = redis.NewScript(dueSource)    //nolint:gochecknoglobals // constant
	acceptScript = redis.NewScript(acceptSource) //nolint:gochecknoglobals // constant
)

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
	// errMoved says that something changed between the read and the commit.
	errMoved = errors.New("changed meanwhile")
)

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

// isContract reports whether the error is one that ordering.Journal documents.
func isContract(err error) bool {
	return errors.Is(err, ordering.ErrNoOrder) || errors.Is(err, ordering.ErrKeyFree) ||
		errors.Is(err, ordering.ErrNoBody) || errors.Is(err, ordering.ErrCursor) ||
		is[*ordering.JournalError](err) || is[*ordering.KeyTakenError](err) || is[*ordering.BusyError](err) ||
		is[*ordering.StateError](err) || is[*ordering.ContradictionError](err) || is[*ordering.OrderIDTakenError](err) ||
		is[*ordering.RestoredError](err) || is[*ordering.NotReadyError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
