package redisdb

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
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
// Ping and refuse the rest: it is full, lacks replicas or its disk, or denies larder's user a permission. Probe
// also publishes the word "probe" on the given channels; pass channels only if there is doubt, not every few
// seconds. Errors, all ErrUnavailable: *RefusedError if Redis responds and refuses, else as Ping.
func (db *DB) Probe(ctx context.Context, channels ...string) error {
	if err := db.Ping(ctx); err != nil {
		return err
	}
	args := []any{probeLife.Milliseconds()}
	for _, channel := range channels {
		args = append(args, channel)
	}
	keys, err := db.probeKeys(ctx)
	if err != nil {
		return unavailable("look for the masters", err)
	}
	for _, key := range keys {
		refused, err := probeScript.Run(ctx, db.noRetry, []string{key}, args...).StringSlice()
		switch {
		case err == nil && len(refused) == 2:
			return &RefusedError{Class: errorClass(refused[1]), Channel: refused[0], Err: errors.New(refused[1])}
		case err != nil:
			return AsRefused(unavailable("write a probe", err))
		}
	}
	return nil
}

// probeKey returns the key of a probe; it expires. Keys of different tags are on different masters of a cluster.
func (db *DB) probeKey(tag int) string {
	return db.prefix + ":{p:" + strconv.Itoa(tag) + "}:f1:probe"
}

// probeKeys returns a key on every master that has slots.
func (db *DB) probeKeys(ctx context.Context) ([]string, error) {
	cluster, ok := db.noRetry.(*redis.ClusterClient)
	if !ok {
		return []string{db.probeKey(0)}, nil
	}
	var masters atomic.Int32
	err := cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error {
		masters.Add(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var keys []string
	seen := map[*redis.Client]bool{}
	for tag := 0; tag < probeTags && len(keys) < int(masters.Load()); tag++ {
		key := db.probeKey(tag)
		master, err := cluster.MasterForKey(ctx, key) // from the client's view, without a request
		if err != nil {
			return nil, err
		}
		if !seen[master] {
			seen[master], keys = true, append(keys, key)
		}
	}
	return keys, nil
}

// AsRefused returns the *RefusedError for the error of a write, or err. Every other error of Redis
// (LOADING, CLUSTERDOWN, NOAUTH, …) counts as no response.
func AsRefused(err error) error {
	said, ok := errors.AsType[redis.Error](err)
	if !ok {
		return err
	}
	switch class := errorClass(said.Error()); class {
	case "OOM", "MISCONF", "NOREPLICAS", "READONLY", NoPermission:
		return &RefusedError{Class: class, Err: err}
	default:
		return err
	}
}

// RefusedError means that Redis responds, but refuses larder's writes. It is ErrUnavailable.
type RefusedError struct {
	Class   string // the class of the Redis error: OOM, MISCONF, NOREPLICAS, READONLY or NOPERM
	Channel string // the one that larder may not publish to; "" for a write
	Err     error  // the error of Redis, for the log only
}

// Error returns the text of Redis.
func (e *RefusedError) Error() string {
	if e.Channel != "" {
		return fmt.Sprintf("redisdb: publish to %s: %v", e.Channel, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns ErrUnavailable and the cause.
func (e *RefusedError) Unwrap() []error { return []error{ErrUnavailable, e.Err} }

// Reason returns the class and its meaning for a person. It contains no address, and of the text of Redis only the
// name of a command.
func (e *RefusedError) Reason() string {
	if e.Channel != "" {
		return e.Class + ": its user may not publish to the channel " + e.Channel
	}
	return e.Class + ": " + classText(e.Class, e.Err.Error())
}
