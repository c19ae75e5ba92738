package redisdb

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// silence is how long no message may come before a subscription is tried.
const silence = 20 * time.Second

// Listen calls message for each message of a channel, one after the other, until
// ctx ends or the connection breaks, and returns why. It calls subscribed before
// the first one: messages that were published earlier are lost. A connection
// without messages is pinged now and then, so that a dead one is noticed. It
// starts no goroutine.
func (db *DB) Listen(ctx context.Context, channel string, subscribed func(), message func(payload string)) error {
	subscription := db.client.Subscribe(ctx)
	// A blocked read ends by the connection alone.
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
			// Nothing came: an answer to a ping tells silence from a dead line.
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
