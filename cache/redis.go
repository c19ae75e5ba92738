package cache

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
)

// embeddedTick is how often time passes for keys of the embedded Redis.
const embeddedTick = 200 * time.Millisecond

// Redis is an opened Redis, of any form: two clients of the same data. It is
// safe for concurrent use.
type Redis struct {
	keys     Keys
	form     Form
	ordinary redis.UniversalClient
	strict   redis.UniversalClient
	probe    *redis.Script
	embedded *miniredis.Miniredis // of Embedded alone
}

// Open returns the clients of the configured Redis. It does not wait for a
// server: commands fail with ErrUnavailable until it answers.
//
// With "embedded" it starts a server inside the process, on a loopback port with
// a random password (other users of the machine can reach the port), which
// loses everything at Close.
//
// The error is a *ConfigError for settings that cannot work.
func Open(_ context.Context, cfg RedisConfig, log logrus.FieldLogger) (*Redis, error) {
	cfg.SetDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	to, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	if err := cfg.complete(&to.options); err != nil {
		return nil, err
	}
	r := &Redis{keys: NewKeys(cfg.Prefix), form: to.form, probe: redis.NewScript(probeSource)}
	if to.form == Embedded {
		if err := r.startEmbedded(&to.options); err != nil {
			return nil, err
		}
	}
	r.ordinary = newClient(to.form, to.options, 2)
	r.strict = newClient(to.form, to.options, noRetries)
	log.WithFields(logrus.Fields{
		"event": "redis.opened", "form": string(to.form), "addr": strings.Join(to.options.Addrs, ","),
		"db": to.options.DB, "prefix": cfg.Prefix,
	}).Info("redis opened")
	return r, nil
}

// complete adds what the URL does not say: whom to trust, and how Sentinels
// know larder.
func (c RedisConfig) complete(options *redis.UniversalOptions) error {
	options.SentinelUsername, options.SentinelPassword = c.SentinelUsername, c.SentinelPassword
	if c.CAFile == "" {
		return nil
	}
	trusted, err := c.authority()
	if err != nil {
		return err
	}
	options.TLSConfig = options.TLSConfig.Clone()
	options.TLSConfig.RootCAs = trusted
	return nil
}

// authority reads CAFile. The error is a *ConfigError.
func (c RedisConfig) authority() (*x509.CertPool, error) {
	certificates, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, &ConfigError{Key: "redis.ca_file", Msg: "cannot be read: " + err.Error()}
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(certificates) {
		return nil, &ConfigError{Key: "redis.ca_file", Msg: "holds no certificate in PEM form"}
	}
	return trusted, nil
}

func (r *Redis) startEmbedded(options *redis.UniversalOptions) error {
	server := miniredis.NewMiniRedis()
	password := rand.Text()
	server.RequireAuth(password)
	if err := server.Start(); err != nil {
		return fmt.Errorf("cache: start the embedded redis: %w", err)
	}
	r.embedded = server
	options.Addrs, options.Password = []string{server.Addr()}, password
	return nil
}

// Client is the ordinary client: it retries by itself, so only commands that
// may run twice go through it.
func (r *Redis) Client() redis.UniversalClient { return r.ordinary }

// Strict is the client that never retries, because a command whose reply was
// lost may have run: scripts that check state, leases and the journal use it.
func (r *Redis) Strict() redis.UniversalClient { return r.strict }

// Form is how the Redis stands.
func (r *Redis) Form() Form { return r.form }

// Keys gives the names of all keys.
func (r *Redis) Keys() Keys { return r.keys }

// Embedded tells whether the server stands inside the process and forgets
// everything with it.
func (r *Redis) Embedded() bool { return r.form == Embedded }

// Ping asks the server, of a cluster every master, over both clients: each has
// connections of its own, and one may still remember a failed dial when the
// other has come back. The error is ErrUnavailable with its cause, a *RefusedError
// where Redis refuses pings for the same reason as writes: one that cannot write
// to its disk does.
func (r *Redis) Ping(ctx context.Context) error {
	for _, client := range []redis.UniversalClient{r.strict, r.ordinary} {
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
// clock of their own, until ctx ends. With any other form it only waits.
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

// Close closes the clients and ends the embedded Redis.
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
