package cache

import (
	"context"

	"larder/internal/menu"
)

// HoldUntil says what ends a hold.
type HoldUntil string

// The two holds of policy S7a.
const (
	// HoldReleased holds until somebody releases it.
	HoldReleased HoldUntil = "released"
	// HoldNextChange also ends when the ordering service publishes another
	// menu than it did at the rollback.
	HoldNextChange HoldUntil = "next_change"
)

// Hold keeps an older content served after a rollback although the ordering
// service publishes another one. Its stop lists go through all the same. The
// zero value is none.
type Hold struct {
	Until HoldUntil
	// Of names the content that the ordering service published when the hold
	// began; package sync makes and compares it.
	Of string
}

// readHold reads the fields held, hold and holdOf of Keys.Current. Until is
// HoldReleased where it was not written by larder: what somebody holds must not
// be let go by itself.
func readHold(held, until, of string) Hold {
	if held != "1" {
		return Hold{}
	}
	if HoldUntil(until) != HoldNextChange {
		until = string(HoldReleased)
	}
	return Hold{Until: HoldUntil(until), Of: of}
}

// fields are those of Keys.Current. Redis gets a bool as 1 or 0.
func (h Hold) fields() []any {
	return []any{"held", h != Hold{}, "hold", string(h.Until), "holdOf", h.Of}
}

// Release lifts the hold at once and gives what it was; the zero Hold where
// nothing was held. It publishes nothing: a sync that begins afterwards does.
// Replicas learn of it by their next poll.
//
// The error is redisdb.ErrUnavailable.
func (s *Store) Release(ctx context.Context, restaurant menu.RestaurantID) (Hold, error) {
	answer, err := releaseScript.Run(ctx, s.redis.Client(), []string{s.keys.Current(restaurant)}).StringSlice()
	if err != nil {
		return Hold{}, unavailable("release "+string(restaurant), err)
	}
	if len(answer) == 0 {
		return Hold{}, nil
	}
	return readHold("1", answer[1], ""), nil
}
