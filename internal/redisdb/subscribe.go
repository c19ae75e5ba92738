package redisdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/sleep"
)

const (
	// silence is how long a subscription may receive nothing before it is checked.
	silence = 20 * time.Second
	// firstPause and lastPause limit the pause before a new subscription.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Subscribe calls message for each message of a channel, in order, until ctx ends. It calls subscribed
// before the first one; messages published earlier are lost. When the connection breaks, it calls lost
// with the cause and subscribes again after a growing pause. It starts no goroutine.
func (db *DB) Subscribe(ctx context.Context, channel string, subscribed func(), message func(payload string), lost func(error)) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := db.receive(ctx, channel, func() { pause = firstPause; subscribed() }, message)
		lost(err)
		// Full jitter: the instances of a restarted Redis do not all reconnect at the same time.
		if sleep.For(ctx, rand.N(pause)+time.Millisecond) != nil {
			return
		}
	}
}

// receive receives messages over one connection until it breaks or ctx ends, and
// returns why. It pings a connection without messages, to notice a dead one.
func (db *DB) receive(ctx context.Context, channel string, subscribed func(), message func(payload string)) error {
	subscription := db.client.Subscribe(ctx)
	// Only closing the connection ends a blocked read.
	stop := context.AfterFunc(ctx, func() { _ = subscription.Close() })
	defer func() {
		if stop() {
			_ = subscription.Close()
		}
	}()
	if err := subscription.Subscribe(ctx, channel); err != nil {
		return err
	}
	quiet := false
	for {
		received, err := subscription.ReceiveTimeout(ctx, silence)
		if err != nil {
			var timeout interface{ Timeout() bool }
			if quiet || ctx.Err() != nil || !errors.As(err, &timeout) || !timeout.Timeout() {
				return err
			}
			// No message: a response to a ping shows that the connection works.
			quiet = true
			if err := subscription.Ping(ctx); err != nil {
				return err
			}
			continue
		}
		quiet = false
		switch received := received.(type) {
		case *redis.Subscription:
			subscribed()
		case *redis.Message:
			message(received.Payload)
		}
	}
}
