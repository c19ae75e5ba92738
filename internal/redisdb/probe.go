package redisdb

import (
	"context"
	_ "embed" // the script
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// probeLife is how long a probe's key exists.
	probeLife = time.Minute
	// probeTags limits the search for a key on each master of a cluster.
	probeTags = 1024
)

//go:embed probe.lua
var probeSource string

var probeScript = redis.NewScript(probeSource)

// Probe checks whether Redis, or every master of a cluster, accepts larder's writes. A Redis may respond to
// Ping and refuse the rest: it is full, lacks replicas or its disk, or denies larder's user a right. Probe
// also tests all rights if it gets larder's channels; pass them only if there is doubt, not every few
// seconds. Errors, all ErrUnavailable: *RefusedError if Redis responds and refuses, else as Ping.
func (db *DB) Probe(ctx context.Context, channels ...string) error {
	keys, err := db.probeKeys(ctx)
	if err != nil {
		return AsRefused(unavailable("look for the masters", err))
	}
	for key, server := range keys {
		if len(channels) == 0 || db.Embedded() {
			break
		}
		if err := db.testRights(ctx, server, key, channels); err != nil {
			return err
		}
	}
	if err := db.Ping(ctx); err != nil {
		return err
	}
	for key := range keys {
		if err := probeScript.Run(ctx, db.noRetry, []string{key}, probeLife.Milliseconds()).Err(); err != nil {
			return AsRefused(unavailable("write a probe", err))
		}
	}
	return nil
}

// MayUse returns a *RefusedError if larder's user may not use each key in scripts. It changes nothing. Other errors are
// ErrUnavailable.
func (db *DB) MayUse(ctx context.Context, keys ...string) error {
	if db.Embedded() {
		return nil
	}
	pipe := db.noRetry.Pipeline()
	for _, key := range keys {
		pipe.Do(ctx, "EVAL", "return 1", 1, key)
	}
	replies, err := pipe.Exec(ctx)
	for _, reply := range replies {
		said, ok := errors.AsType[redis.Error](reply.Err())
		if ok && errorClass(said.Error()) == NoPermission {
			refused := &RefusedError{Class: NoPermission, someKeys: true, Err: unavailable("test the keys", said)}
			if right := missingRight(said.Error()); right != "" {
				refused.Rights = []string{strings.ReplaceAll(right, "PREFIX", db.prefix)}
			}
			return refused
		}
	}
	if err != nil {
		return unavailable("test the keys", err)
	}
	return nil
}

// probeKeys returns a key on every master that has slots, with the master.
func (db *DB) probeKeys(ctx context.Context) (map[string]redis.Cmdable, error) {
	keys := map[string]redis.Cmdable{}
	err := EachMaster(ctx, db.noRetry, func(ctx context.Context, master redis.UniversalClient) error {
		for tag := range probeTags {
			// Keys of different tags are on different masters of a cluster.
			key, owner := db.prefix+":{p:"+strconv.Itoa(tag)+"}:f1:probe", master
			if cluster, ok := db.noRetry.(*redis.ClusterClient); ok {
				var err error
				if owner, err = cluster.MasterForKey(ctx, key); err != nil { // from the client's view, without a request
					return err
				}
			}
			if owner == master {
				keys[key] = master
				break
			}
		}
		return nil
	})
	return keys, err
}

// AsRefused returns the *RefusedError for the error of a write, or err. Every other error of Redis
// (LOADING, CLUSTERDOWN, NOAUTH, …) counts as no response.
func AsRefused(err error) error {
	said, ok := errors.AsType[redis.Error](err)
	if !ok {
		return err
	}
	switch class := errorClass(said.Error()); class {
	case "OOM", "MISCONF", "NOREPLICAS", "READONLY", "MOVED", "CROSSSLOT", NoPermission:
		return &RefusedError{Class: class, Err: err}
	default:
		return err
	}
}

// RefusedError means that Redis responds, but refuses larder's writes or other commands. It is ErrUnavailable.
type RefusedError struct {
	Class  string   // the class of the Redis error: OOM, MISCONF, NOREPLICAS, READONLY, MOVED, CROSSSLOT or NOPERM
	Rights []string // which larder's user lacks, as far as testRights has found them
	Err    error    // the error of Redis, for the log only

	someKeys bool // only the keys given to MayUse are known to be refused
}

// Error returns the text of Redis.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns ErrUnavailable and the cause.
func (e *RefusedError) Unwrap() []error { return []error{ErrUnavailable, e.Err} }

// OrdersUnaffected reports whether larder's user lacks only what orders do not need: to publish and subscribe, or keys
// given to MayUse.
func (e *RefusedError) OrdersUnaffected() bool {
	return e.someKeys || len(e.Rights) > 0 && !slices.ContainsFunc(e.Rights, func(right string) bool {
		return right != "+publish" && right != "+subscribe" && !strings.HasPrefix(right, "'&")
	})
}

// Reason returns the class and its meaning for a person. It contains no address, and of the text of Redis only the
// name of a command.
func (e *RefusedError) Reason() string {
	if len(e.Rights) > 0 {
		return e.Class + ": " + rightsText(strings.Join(e.Rights, " "))
	}
	return e.Class + ": " + classText(e.Class, e.Err.Error())
}
