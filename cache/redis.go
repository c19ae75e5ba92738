package cache

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/sirupsen/logrus"
)

const (
	dialTimeout = 2 * time.Second
	// ioTimeout bounds the wait for one answer; the largest commands here are
	// some megabytes.
	ioTimeout = 5 * time.Second
	// embeddedTick is how often time passes for keys of the embedded Redis.
	embeddedTick = 200 * time.Millisecond
)

// Redis is an opened Redis: two clients of one server, which may stand inside
// the process. It is safe for concurrent use.
type Redis struct {
	keys     Keys
	ordinary *redis.Client
	strict   *redis.Client
	embedded *miniredis.Miniredis // nil where the server is a process of its own
}

// Open makes the clients. It does not wait for a redis:// server: commands fail
// with ErrUnavailable until it answers, and work from then on. With
// "embedded" it starts a server inside the process, on a loopback port with a
// random password (trap 13), which forgets everything at Close.
//
// Errors: *ConfigError for an address that this build does not open.
func Open(_ context.Context, cfg RedisConfig, log logrus.FieldLogger) (*Redis, error) {
	cfg.SetDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	to, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	r := &Redis{keys: NewKeys(cfg.Prefix)}
	options := to.options
	if to.embedded {
		if options, err = r.startEmbedded(); err != nil {
			return nil, err
		}
	}
	r.ordinary = redis.NewClient(withLimits(*options, 2))
	r.strict = redis.NewClient(withLimits(*options, -1))
	log.WithFields(logrus.Fields{
		"event": "redis.opened", "addr": options.Addr, "db": options.DB,
		"embedded": to.embedded, "prefix": cfg.Prefix,
	}).Info("redis opened")
	return r, nil
}

func (r *Redis) startEmbedded() (*redis.Options, error) {
	server := miniredis.NewMiniRedis()
	password := rand.Text()
	server.RequireAuth(password)
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("cache: start the embedded redis: %w", err)
	}
	r.embedded = server
	return &redis.Options{Addr: server.Addr(), Password: password}, nil
}

// withLimits gives both clients the same limits; retries is -1 for none.
func withLimits(options redis.Options, retries int) *redis.Options {
	options.MaxRetries = retries
	options.DialTimeout = dialTimeout
	options.DialerRetries = 1
	options.ReadTimeout = ioTimeout
	options.WriteTimeout = ioTimeout
	options.ContextTimeoutEnabled = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &options
}

// Client is the ordinary client: it retries by itself, so only commands that
// may run twice go through it.
func (r *Redis) Client() redis.UniversalClient { return r.ordinary }

// Strict is the client that never retries (trap 2): scripts that check state,
// leases and the journal go through it.
func (r *Redis) Strict() redis.UniversalClient { return r.strict }

// Keys gives the names of all keys.
func (r *Redis) Keys() Keys { return r.keys }

// Embedded tells whether the server stands inside the process and forgets
// everything with it.
func (r *Redis) Embedded() bool { return r.embedded != nil }

// Ping asks the server once. The error is ErrUnavailable with its cause.
func (r *Redis) Ping(ctx context.Context) error {
	if err := r.strict.Ping(ctx).Err(); err != nil {
		return unavailable("ping", err)
	}
	return nil
}

// Run makes time pass for the keys of the embedded Redis, which expire by no
// clock of their own (trap 3), until ctx ends. With another server it only
// waits. It starts no goroutine.
func (r *Redis) Run(ctx context.Context) error {
	if r.embedded == nil {
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
			r.embedded.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Close closes the clients and ends the embedded server.
func (r *Redis) Close() error {
	err := errors.Join(r.ordinary.Close(), r.strict.Close())
	if r.embedded != nil {
		r.embedded.Close()
	}
	if err != nil {
		return fmt.Errorf("cache: close redis: %w", err)
	}
	return nil
}
