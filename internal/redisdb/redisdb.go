package redisdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/sirupsen/logrus"
)

// embeddedTick is how often time passes for keys of the embedded Redis.
const embeddedTick = 200 * time.Millisecond

// ErrUnavailable says that Redis could not be asked. It wraps the cause.
var ErrUnavailable = errors.New("redis is unavailable")

func unavailable(doing string, err error) error {
	return fmt.Errorf("redisdb: %s: %w: %w", doing, ErrUnavailable, err)
}

// DB is an opened Redis of any topology: two clients of the same data. It is
// safe for concurrent use.
type DB struct {
	topology Topology
	prefix   string
	client   redis.UniversalClient
	noRetry  redis.UniversalClient
	embedded *miniredis.Miniredis // nil unless the topology is Embedded
}

// Open returns the clients of the configured Redis. It does not wait for a
// server: commands fail with ErrUnavailable until it answers.
//
// With "embedded" it starts a server inside the process, on a loopback port with
// a random password (other users of the machine can reach the port), which
// loses everything at Close.
//
// The error is a *setting.Error for settings that cannot work.
func Open(cfg Config, log logrus.FieldLogger) (*DB, error) {
	cfg.SetDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	addr, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	options := addr.options
	if err := cfg.complete(&options); err != nil {
		return nil, err
	}
	logging.Disable() // go-redis's own: larder reports every failure of Redis in its own words
	db := &DB{topology: addr.topology, prefix: cfg.Prefix}
	if db.Embedded() {
		if err := db.startEmbedded(&options); err != nil {
			return nil, err
		}
	}
	db.client = newClient(addr.topology, options, defaultRetries)
	db.noRetry = newClient(addr.topology, options, noRetries)
	log.WithFields(logrus.Fields{
		"event": "redis.opened", "form": string(addr.topology), "addr": strings.Join(options.Addrs, ","),
		"db": options.DB, "prefix": cfg.Prefix,
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

// Client is the client that retries by itself: only commands that may run twice
// go through it.
func (db *DB) Client() redis.UniversalClient { return db.client }

// NoRetry is the client that never retries, because a command whose reply was
// lost may have run: scripts that check state, leases and the journal use it.
func (db *DB) NoRetry() redis.UniversalClient { return db.noRetry }

// Prefix begins the name of every key and channel.
func (db *DB) Prefix() string { return db.prefix }

// Topology returns the kind of Redis.
func (db *DB) Topology() Topology { return db.topology }

// Embedded reports whether the server is inside the process and loses
// everything with it.
func (db *DB) Embedded() bool { return db.topology == Embedded }

// Ping asks the server, of a cluster every master, over both clients: each has
// connections of its own, and one may still remember a failed dial when the
// other has recovered. The error is ErrUnavailable with its cause, a
// *RefusedError where Redis refuses pings for the same reason as writes: one that
// cannot write to its disk does.
func (db *DB) Ping(ctx context.Context) error {
	for _, client := range []redis.UniversalClient{db.noRetry, db.client} {
		if err := ping(ctx, client); err != nil {
			return refusedOr(unavailable("ping", err))
		}
	}
	return nil
}

func ping(ctx context.Context, client redis.UniversalClient) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return client.Ping(ctx).Err()
	}
	// A ping without a key would go to any node that is there.
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		return master.Ping(ctx).Err()
	})
}

// Run makes time pass for the keys of the embedded Redis, which expire by no
// clock of their own, until ctx ends. With any other topology it only waits.
func (db *DB) Run(ctx context.Context) error {
	if db.embedded == nil {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(embeddedTick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			db.embedded.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Close closes the clients and ends the embedded Redis.
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

// ServerInfo is what a Redis says of itself.
type ServerInfo struct {
	Topology Topology
	Server   string // "redis", "valkey" or "miniredis"
	Version  string // of the server; "" where it does not say
}

// String returns the info for a person: "sentinel, redis 7.0.15".
func (i ServerInfo) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %s %s", i.Topology, i.Server, i.Version))
}

// ServerInfo asks the server what it is; of several, any one. The error is
// ErrUnavailable with its cause.
func (db *DB) ServerInfo(ctx context.Context) (ServerInfo, error) {
	info := ServerInfo{Topology: db.topology, Server: "miniredis"}
	if db.Embedded() {
		return info, db.Ping(ctx)
	}
	text, err := db.noRetry.Info(ctx, "server").Result()
	if err != nil {
		return ServerInfo{}, unavailable("ask for the version", err)
	}
	info.Server, info.Version = "redis", infoField(text, "redis_version")
	if version := infoField(text, "valkey_version"); version != "" {
		info.Server, info.Version = "valkey", version
	}
	return info, nil
}

// infoField returns a field of what INFO answers, "" where it does not have it.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
