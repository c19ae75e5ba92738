package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"
)

const (
	// sharedLife is how long a dense body stays in Redis after a larder took it
	// last: as long as the keys of a version that was replaced. Larders on one
	// Redis learn of a version within a second, and restart within minutes.
	sharedLife = oldLife
	// sharedPart of a Replica's memory is what it may put into Redis, or keep
	// there, within one sharedLife; twice that can be there at a time.
	sharedPart = 8
	// claimLife is how long others leave a body to the larder that makes it.
	claimLife = 10 * time.Second
	// shareWithin bounds a look into Redis for a body that can be made here.
	shareWithin = time.Second
	// shareMiss names, among the misses, a Redis that did not answer.
	shareMiss = "/dense" // no restaurant's id: '/' cannot occur in one
)

// newSharing bounds what a replica shares: nothing where no other larder can be
// on the same Redis.
func newSharing(form Form, memory int64) *rate.Limiter {
	if form == Embedded {
		return nil
	}
	part := max(memory/sharedPart, 1)
	return rate.NewLimiter(rate.Limit(float64(part)/sharedLife.Seconds()), int(part))
}

// claim is what Redis says of a dense body: at most one of the three.
type claim struct {
	found     []byte // the body
	elsewhere bool   // another larder is making it
	mine      bool   // it is ours to make, and to share
}

// claim looks for a dense body in Redis and, where there is none, takes it upon
// this larder to make it. With a Redis that does not answer every larder makes
// its own. from is the same body in another encoding.
func (r *Replica) claim(ctx context.Context, snap *Snapshot, w wish, from *Representation) claim {
	if r.shared == nil || r.missed(shareMiss) != nil {
		return claim{}
	}
	ctx, cancel := context.WithTimeout(ctx, shareWithin)
	defer cancel()
	key := r.store.keys.Dense(w.restaurant, snap.Version.Version, w.what, w.enc)
	client := r.store.redis.Client()
	body, err := r.taken(ctx, key, from)
	if err == nil && body == nil {
		var mine bool
		if mine, err = client.SetNX(ctx, r.store.keys.DenseClaim(key), 1, claimLife).Result(); err == nil && !mine {
			return claim{elsewhere: true}
		}
		if err == nil { // perhaps it was made between the two
			body, err = r.taken(ctx, key, from)
		}
		if err == nil && body != nil {
			err = client.Del(ctx, r.store.keys.DenseClaim(key)).Err()
		}
	}
	if err != nil {
		r.noteMiss(shareMiss, unavailable("look for a dense body of "+string(w.restaurant), err))
	}
	return claim{found: body, mine: err == nil && body == nil}
}

// taken gives the body under the key, nil where there is none of the version
// that from is of. What is taken stays in Redis for a while longer, unless this
// larder keeps enough there already.
func (r *Replica) taken(ctx context.Context, key string, from *Representation) ([]byte, error) {
	client := r.store.redis.Client()
	value, err := client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil //nolint:nilnil // as often as not
	}
	body := openShared(value, from.sum)
	if body != nil && r.shared.AllowN(r.cfg.Clock(), len(value)) {
		_ = client.PExpire(ctx, key, sharedLife).Err() // or it goes earlier
	}
	return body, err
}

// share puts a body that was claimed into Redis, unless this larder has put
// enough there of late, and gives up the claim.
func (r *Replica) share(ctx context.Context, snap *Snapshot, w wish, ready *Representation) {
	ctx, cancel := context.WithTimeout(ctx, shareWithin)
	defer cancel()
	key := r.store.keys.Dense(w.restaurant, snap.Version.Version, w.what, w.enc)
	value := sealShared(ready)
	pipe := r.store.redis.Client().TxPipeline()
	if r.shared.AllowN(r.cfg.Clock(), len(value)) {
		pipe.Set(ctx, key, value, sharedLife)
	}
	pipe.Del(ctx, r.store.keys.DenseClaim(key))
	if _, err := pipe.Exec(ctx); err != nil { // then each makes its own, when the claim has expired
		r.noteMiss(shareMiss, unavailable("share a dense body of "+string(w.restaurant), err))
	}
}

// sealShared is a body as it is shared: the hash of the identity body, which
// tells what it is, and its own, which tells that it is whole.
func sealShared(ready *Representation) []byte {
	own := sha256.Sum256(ready.Body)
	return bytes.Join([][]byte{ready.sum[:], own[:], ready.Body}, nil)
}

// openShared gives the body that was shared; nil where it is of something else
// or not whole: a Redis that lost its data may give a version number twice, and
// another larder may write menus otherwise.
func openShared(value []byte, sum [sha256.Size]byte) []byte {
	const head = 2 * sha256.Size
	if len(value) <= head || !bytes.Equal(value[:sha256.Size], sum[:]) {
		return nil
	}
	body := bytes.Clone(value[head:]) // without the head's room
	if own := sha256.Sum256(body); !bytes.Equal(value[sha256.Size:head], own[:]) {
		return nil
	}
	return body
}
