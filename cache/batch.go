package cache

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// batchBytes and batchArguments limit one pipeline, and so the time that it
	// blocks other clients of the server: a command of 6 MB blocks all of them.
	batchBytes     = 256 << 10
	batchArguments = 2000
)

// batch writes keys of one hash tag in limited pipelines. Each pipeline is a transaction, so that a
// broken connection leaves no key without its expiry. After an error it writes nothing more.
type batch struct {
	ctx       context.Context //nolint:containedctx // of the one function that fills the batch
	pipe      redis.Pipeliner
	bytes     int
	arguments int
	err       error
}

func newBatch(ctx context.Context, client redis.UniversalClient) *batch {
	return &batch{ctx: ctx, pipe: client.TxPipeline()}
}

// add adds values to a key with a command such as hset, in parts within the limits. step values stay together. A life of 0
// means no expiry.
func (b *batch) add(command, key string, values []string, step int, life time.Duration) {
	part := []any{command, key}
	for i, value := range values {
		if i == 0 && b.bytes+len(value) > batchBytes {
			b.send()
		}
		part = append(part, value)
		b.bytes += len(value)
		b.arguments++
		full := (i+1)%step == 0 && (b.bytes >= batchBytes || b.arguments >= batchArguments)
		if !full && i < len(values)-1 {
			continue
		}
		b.pipe.Do(b.ctx, part...)
		part = []any{command, key}
		if life > 0 {
			b.pipe.PExpire(b.ctx, key, life)
		}
		if full {
			b.send()
		}
	}
}

func (b *batch) send() {
	b.bytes, b.arguments = 0, 0
	switch {
	case b.err != nil:
		b.pipe.Discard()
	case b.pipe.Len() > 0:
		_, b.err = b.pipe.Exec(b.ctx)
	}
}

// flush executes the rest and returns the error of the batch.
func (b *batch) flush() error {
	b.send()
	return b.err
}
