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
	return b.split(ctx, key, fields, 2, life, func(part []any) { b.pipe.HSet(ctx, key, part...) })
}

// set adds the members to the set key.
func (b *batch) set(ctx context.Context, key string, members []string, life time.Duration) error {
	return b.split(ctx, key, members, 1, life, func(part []any) { b.pipe.SAdd(ctx, key, part...) })
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

// split writes the values of a key in parts of whole groups of step that fit
// the bounds.
func (b *batch) split(
	ctx context.Context, key string, values []string, step int, life time.Duration, write func(part []any),
) error {
	var part []any
	for i, value := range values {
		part = append(part, value)
		b.bytes += len(value)
		b.arguments++
		full := (i+1)%step == 0 && (b.bytes >= batchBytes || b.arguments >= batchArguments)
		if !full && i < len(values)-1 {
			continue
		}
		write(part)
		part = nil
		if life > 0 {
			b.pipe.PExpire(ctx, key, life)
		}
		if full {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
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
