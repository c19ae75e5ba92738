// Package journal implements ordering.Journal, the durable record of every order, in Redis
// (policies O7 to O9 and O12 to O14).
//
// Its one invariant: a call that may have been sent is recorded. Begin returns only when Redis has
// the call, and no concurrent change can lose it. A transaction is built here from the order as it
// was read, and committed by one script, commit.lua. The script applies the whole transaction if
// the order has not changed since, and otherwise nothing. Only Redis's clock is used.
//
// All keys of a connection share one hash tag (cache.Keys, docs/redis.md), and every script declares all its keys, so
// that scripts run on a cluster too. Guest data and the service's answers have their own keys with a shorter lifetime
// (policy O13). No error and no log line of this package contains them, or an idempotency key.
//
// Its caller is ordering.Orders. The package validates nothing and talks only to Redis.
package journal

import (
	"cmp"
	"embed"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Journal is an ordering.Journal in Redis. It is safe for concurrent use, and any number of
// processes may use the same Redis.
type Journal struct {
	store      *store      // reads and commits records
	durability *durability // the settings of Redis, and WAIT for its replicas
	history    *history    // whether Redis was restored or has lost orders
}

var _ ordering.Journal = (*Journal)(nil)

// UseSources makes records know their service (policy O16). It must be called before any other method. Without it, all
// records of a connection have the same service.
func (j *Journal) UseSources(s *upstream.Sources) { j.store.sources = s }

// OnlyRead is UseSources for a command that only looks: ForeignOrders then adds no connection to those that larder has had, and
// Ready stores nothing but a test write that expires. So an acknowledgement of a replica sets no rule (policy O14).
func (j *Journal) OnlyRead(s *upstream.Sources) { j.store.sources, j.store.onlyReads = s, true }

// New returns a Journal that stores its records in r. It uses these settings: KeyTTL, RecordTTL and
// CustomerDataTTL (policies O7 and O13), AllowNonDurable, AllowEviction, WaitReplicas and
// WaitTimeout (policy O14), AcceptRestore and StateDir (policy O14a). New does not access Redis.
func New(r *redisdb.DB, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	return newJournal(r.Prefix(), r.Client(), r.NoRetry(), r.Embedded(), cfg, log)
}

func newJournal(prefix string, read, write redis.UniversalClient, embedded bool, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	cfg.AcceptRestore = cmp.Or(cfg.AcceptRestore, &embedded)
	h := &history{cfg: &cfg, log: log, states: map[string]*state{}}
	s := &store{cfg: &cfg, history: h, prefix: prefix, keys: cache.NewKeys(prefix), read: read, write: write, log: log}
	d := &durability{cfg: &cfg, embedded: embedded, store: s, history: h, observed: map[string]observed{}}
	return &Journal{store: s, durability: d, history: h}
}

// The Lua scripts. The keys of each script share one hash tag, because a cluster rejects a script
// whose keys are in several slots.
//
//nolint:gochecknoglobals // they never change
var (
	//go:embed *.lua
	luaFiles embed.FS

	// Each script checks the format before anything else (policy O20). Only restored.lua does it itself: it reads the state anyway.
	formatSource = redisdb.Lua(luaFiles, "format.lua") + "local other = unreadable(KEYS[1], KEYS[2]) if other then return other end\n"
	commitSource = redisdb.Lua(luaFiles, "format.lua") + redisdb.Lua(luaFiles, "restored.lua") + redisdb.Lua(luaFiles, "commit.lua")
	pruneSource  = formatSource + redisdb.Lua(luaFiles, "prune.lua")
	dueScript    = redisdb.Script(luaFiles, "due.lua", formatSource)
	acceptScript = redisdb.Script(luaFiles, "accept.lua", formatSource)

	commitHash = redis.NewScript(commitSource).Hash()
)

// Causes of a *ordering.JournalError, besides Redis's own errors.
var (
	// errCorrupt means that Redis contains something that the journal did not write.
	errCorrupt = errors.New("unreadable record")
	// errAborted means that the call was aborted before Begin reached Redis.
	errAborted = errors.New("the call was aborted before it was opened")
	// errRefTaken means that a record with the new order's ref exists.
	errRefTaken = errors.New("a record with this ref exists")
	// errReplicas means that fewer replicas than required have acknowledged a change in time.
	errReplicas = errors.New("too few replicas acknowledged the record in time")
	// errMoved means that something changed between the read and the commit.
	errMoved = errors.New("changed concurrently")
)

// keyError is errMoved because the idempotency key exists. value is its value.
type keyError struct{ value string }

func (e *keyError) Error() string { return errMoved.Error() + ": the key is taken" }
func (e *keyError) Unwrap() error { return errMoved }

// failed wraps an error in a *ordering.JournalError, unless ordering.Journal documents it. connection may be empty.
func failed(doing, connection string, err error) error {
	documented := errors.Is(err, ordering.ErrNoOrder) || errors.Is(err, ordering.ErrKeyFree) ||
		errors.Is(err, ordering.ErrNoBody) || errors.Is(err, ordering.ErrCursor) ||
		is[*ordering.JournalError](err) || is[*ordering.KeyTakenError](err) || is[*ordering.BusyError](err) ||
		is[*ordering.StateError](err) || is[*ordering.ContradictionError](err) || is[*ordering.OrderIDTakenError](err) ||
		is[*ordering.RestoredError](err) || is[*ordering.SourceError](err) || is[*ordering.NotReadyError](err)
	if err == nil || documented {
		return err
	}
	return &ordering.JournalError{Err: fmt.Errorf("%s: %w", doing, unreadable(location{connection: connection}, err))}
}

// unreplicated is failed for a change that is made even if too few replicas have it.
func unreplicated(doing, connection string, err error) error {
	if errors.Is(err, errReplicas) {
		return fmt.Errorf("%w: %s: %w", ordering.ErrUnreplicated, doing, err)
	}
	return failed(doing, connection, err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
