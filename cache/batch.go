package cache

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// batchBytes and batchArguments bound one pipeline, and with it how long
	// the server is busy for one writer: a command of 6 MB blocks all others.
	batchBytes     = 256 << 10
	batchArguments = 2000
)

// batch writes keys of one hash tag in bounded pipelines. Each pipeline is a
// transaction, so that no key is left without its expiry when the connection
// breaks between two commands.
type batch struct {
	pipe      redis.Pipeliner
	bytes     int
	arguments int
}

func newBatch(client redis.UniversalClient) *batch { return &batch{pipe: client.TxPipeline()} }

// hash adds the fields to the hash key; life 0 keeps it for ever.
func (b *batch) hash(ctx context.Context, key string, fields pairs, life time.Duration) error {
	return b.split(ctx, fields, 2, func(part []any) {
		b.pipe.HSet(ctx, key, part...)
		b.expire(ctx, key, life)
	})
}

// set adds the members to the set key.
func (b *batch) set(ctx context.Context, key string, members []string, life time.Duration) error {
	return b.split(ctx, members, 1, func(part []any) {
		b.pipe.SAdd(ctx, key, part...)
		b.expire(ctx, key, life)
	})
}

// value writes one value with its life.
func (b *batch) value(ctx context.Context, key string, value []byte, life time.Duration) error {
	if b.bytes > 0 && b.bytes+len(value) > batchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.pipe.Set(ctx, key, value, life)
	b.bytes += len(value)
	b.arguments += 3
	return nil
}

// split cuts values into parts of whole groups of step that fit the bounds.
func (b *batch) split(ctx context.Context, values []string, step int, write func(part []any)) error {
	var part []any
	emit := func() {
		if len(part) > 0 {
			write(part)
			part = nil
		}
	}
	for i := 0; i < len(values); i += step {
		for _, value := range values[i : i+step] {
			part = append(part, value)
			b.bytes += len(value)
			b.arguments++
		}
		if b.bytes >= batchBytes || b.arguments >= batchArguments {
			emit()
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	emit()
	return nil
}

func (b *batch) expire(ctx context.Context, key string, life time.Duration) {
	if life > 0 {
		b.pipe.PExpire(ctx, key, life)
	}
}

// flush sends what is left.
func (b *batch) flush(ctx context.Context) error {
	b.bytes, b.arguments = 0, 0
	if b.pipe.Len() == 0 {
		return nil
	}
	_, err := b.pipe.Exec(ctx)
	return err
}
