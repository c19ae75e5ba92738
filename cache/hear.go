package cache

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/menu"
	"larder/internal/sleep"
)

const (
	// firstPause and lastPause bound the wait before notices are subscribed to
	// again.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	// heeders is how many load what notices told of, so that one large menu
	// keeps no other waiting; each takes at most heeded restaurants at a time.
	heeders = 2
	heeded  = 64
)

// listenAlways subscribes to notices, again whenever the connection is lost.
func (r *Replica) listenAlways(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		heard, err := r.listen(ctx)
		if heard {
			pause = firstPause
		}
		r.cfg.Log.WithFields(logrus.Fields{"event": "replica.notices_lost", "pause": pause.String()}).
			WithError(err).Debug("notices are lost; subscribing again")
		// Full jitter: the replicas of a Redis that restarts do not all come at once.
		if sleep.For(ctx, rand.N(pause)+time.Millisecond) != nil { //nolint:gosec // no secret
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// listen takes notices over one connection until it breaks or ctx ends. It
// tells whether it was ever subscribed.
func (r *Replica) listen(ctx context.Context) (heard bool, err error) {
	err = r.store.redis.Listen(ctx, r.store.keys.Notices(), func() {
		heard = true
		r.lookSoon() // what was published before is not told
	}, r.noticed)
	return heard, err
}

// noticed takes one notice: what memory does not hold yet is loaded soon.
func (r *Replica) noticed(payload string) {
	n, ok := readNotice(payload)
	if !ok || !r.cfg.Keeps(n.restaurant) {
		return
	}
	r.forgetMiss(n.restaurant)
	if now := r.seated(n.restaurant); now != nil && now.snapshot.Version.Version == n.version {
		return // a lower version is checked: Redis may have lost the one that is served here
	}
	r.told.add(n.restaurant)
}

// heedAlways loads what notices told of. Whatever fails is left to the poll,
// which also says so.
func (r *Replica) heedAlways(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.told.wake:
			_ = r.refresh(ctx, r.told.take(heeded))
		}
	}
}

// lookSoon asks for a poll before its time.
func (r *Replica) lookSoon() {
	select {
	case r.look <- struct{}{}:
	default: // asked already
	}
}

// notice says that a restaurant has a new version: "version restaurant".
type notice struct {
	version    int64
	restaurant menu.RestaurantID
}

// String is the notice as it is sent.
func (n notice) String() string {
	return strconv.FormatInt(n.version, 10) + " " + string(n.restaurant)
}

// readNotice reads a notice; false for anything else on the channel.
func readNotice(payload string) (notice, bool) {
	number, restaurant, found := strings.Cut(payload, " ")
	version, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || version < 1 || restaurant == "" {
		return notice{}, false
	}
	return notice{version, menu.RestaurantID(restaurant)}, true
}
