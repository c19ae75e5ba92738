package redisdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/sirupsen/logrus"

	"larder.local/internal/sleep"
)

// embeddedTick is the interval at which keys of the embedded Redis expire.
const embeddedTick = 200 * time.Millisecond

// ErrUnavailable means that a call of Redis failed. It wraps the cause.
var ErrUnavailable = errors.New("redis is unavailable")

func unavailable(doing string, err error) error {
	return fmt.Errorf("redisdb: %s: %w: %w", doing, ErrUnavailable, err)
}

// DB is an opened Redis of any topology: two clients of the same data. It is safe for concurrent use.
type DB struct {
	topology Topology
	prefix   string
	address  string // host:port of every configured server
	client   redis.UniversalClient
	noRetry  redis.UniversalClient
	embedded *miniredis.Miniredis // nil unless the topology is Embedded
}

// Open returns the clients of the configured Redis. It does not wait for a server: commands fail with
// ErrUnavailable until it responds.
//
// With "embedded" it starts a server inside the process, which loses all data at Close. The server has
// a loopback port with a random password, because other users of the machine can reach the port.
//
// The error is a *setting.Error for invalid settings.
func Open(cfg Config, log logrus.FieldLogger) (*DB, error) {
	cfg.SetDefaults()
	addr, err := cfg.parse()
	if err != nil {
		return nil, err
	}
	options := addr.options
	logging.Disable() // go-redis's own log: larder reports every failure of Redis itself
	db := &DB{topology: addr.topology, prefix: cfg.Prefix}
	if db.Embedded() {
		if err := db.startEmbedded(&options); err != nil {
			return nil, err
		}
	}
	db.address = strings.Join(options.Addrs, ",")
	db.client = newClient(addr.topology, options, defaultRetries)
	db.noRetry = newClient(addr.topology, options, noRetries)
	log.WithFields(logrus.Fields{
		"event":  "redis.opened",
		"form":   string(addr.topology),
		"addr":   db.address,
		"db":     options.DB,
		"prefix": cfg.Prefix,
	}).Info("redis opened")
	return db, nil
}

func (db *DB) startEmbedded(options *redis.UniversalOptions) error {
	server := miniredis.NewMiniRedis()
	password := rand.Text()
	server.RequireAuth(password)
	if err := server.Start(); err != nil {
		return fmt.Errorf("redisdb: start the embedded redis: %w", err)
	}
	db.embedded = server
	options.Addrs, options.Password = []string{server.Addr()}, password
	return nil
}

// Client returns the client that retries. Use it only for commands that may run twice.
func (db *DB) Client() redis.UniversalClient { return db.client }

// NoRetry returns the client that never retries, because a command without a response may have run. Use
// it for scripts that check state, for leases and for the journal.
func (db *DB) NoRetry() redis.UniversalClient { return db.noRetry }

// Prefix returns the start of the name of every key and channel.
func (db *DB) Prefix() string { return db.prefix }

// Address returns host:port of each configured server, Sentinel or node, separated by commas.
func (db *DB) Address() string { return db.address }

// Topology returns the kind of Redis.
func (db *DB) Topology() Topology { return db.topology }

// Embedded reports whether the server is inside the process and loses its data with it.
func (db *DB) Embedded() bool { return db.topology == Embedded }

// Ping pings the server, or every master of a cluster, with both clients. Each client has its own
// connections, and one may still have a failed dial when the other has recovered. The error is
// ErrUnavailable with its cause. It is a *RefusedError if Redis refuses pings as it refuses writes, for
// example because it cannot write to its disk.
func (db *DB) Ping(ctx context.Context) error {
	ping := func(ctx context.Context, master redis.UniversalClient) error { return master.Ping(ctx).Err() }
	for _, client := range []redis.UniversalClient{db.noRetry, db.client} {
		if err := EachMaster(ctx, client, ping); err != nil {
			return AsRefused(unavailable("ping", err))
		}
	}
	return nil
}

// EachMaster calls fn with the server, or with one master of a cluster after the other. It is for commands without a key,
// which would go to any node. It returns the errors, joined.
func EachMaster(ctx context.Context, client redis.UniversalClient, fn func(context.Context, redis.UniversalClient) error) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return fn(ctx, client)
	}
	var one sync.Mutex // ForEachMaster calls in parallel
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return fn(ctx, master)
	})
}

// Run expires the keys of the embedded Redis, which has no clock of its own, until
// ctx ends. With any other topology it only waits.
func (db *DB) Run(ctx context.Context) error {
	if db.embedded == nil {
		<-ctx.Done()
		return nil
	}
	for last := time.Now(); sleep.For(ctx, embeddedTick) == nil; {
		now := time.Now()
		db.embedded.FastForward(now.Sub(last))
		last = now
	}
	return nil
}

// Close closes the clients and stops the embedded Redis.
func (db *DB) Close() error {
	err := errors.Join(db.client.Close(), db.noRetry.Close())
	if db.embedded != nil {
		db.embedded.Close()
	}
	if err != nil {
		return fmt.Errorf("redisdb: close: %w", err)
	}
	return nil
}

// ServerInfo describes the server, or any one of several, for a person: "sentinel, redis 7.0.15".
// The error is ErrUnavailable with its cause.
func (db *DB) ServerInfo(ctx context.Context) (string, error) {
	if db.Embedded() {
		return "embedded, miniredis", db.Ping(ctx)
	}
	text, err := db.noRetry.Info(ctx, "server").Result()
	fields := InfoFields(text)
	server, version := "redis", fields["redis_version"]
	switch why := RefusedCommand(err); {
	case why != "":
		version = "of an unknown version (" + RefusalText("INFO", why) + ")"
	case err != nil:
		return "", unavailable("ask for the version", err)
	case fields["valkey_version"] != "":
		server, version = "valkey", fields["valkey_version"]
	}
	return strings.TrimSpace(fmt.Sprintf("%s, %s %s", db.topology, server, version)), nil
}

// InfoFields returns the fields of a response to INFO.
func InfoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
