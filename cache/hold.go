package cache

import (
	"context"

	"larder.local/internal/menu"
)

// HoldUntil is what ends a hold.
type HoldUntil string

// The two kinds of hold (policy S7a).
const (
	// HoldReleased holds until a person releases it.
	HoldReleased HoldUntil = "released"
	// HoldNextChange also ends when the ordering service publishes another menu than it did at the rollback.
	HoldNextChange HoldUntil = "next_change"
)

// Hold keeps an older content current after a rollback, even if the ordering service publishes another
// one. Its stop lists are published anyway. The zero value means no hold.
type Hold struct {
	Until HoldUntil
	// Of identifies the content that the ordering service published when the hold
	// began. Package sync sets and compares it.
	Of string
}

// readHold reads the fields held, hold and holdOf of Keys.Current. An unknown Until
// becomes HoldReleased, so that a hold never ends by mistake.
func readHold(held, until, of string) Hold {
	if held != "1" {
		return Hold{}
	}
	if HoldUntil(until) != HoldNextChange {
		until = string(HoldReleased)
	}
	return Hold{Until: HoldUntil(until), Of: of}
}

// fields returns the fields of Keys.Current. Redis stores a bool as 1 or 0.
func (h Hold) fields() []any {
	return []any{"held", h != Hold{}, "hold", string(h.Until), "holdOf", h.Of}
}

// UnreadableHold reports whether a rollback of another version of larder holds a menu, which this one cannot read (policy
// O20). The error is redisdb.ErrUnavailable.
func UnreadableHold(ctx context.Context, s *Store, restaurant menu.RestaurantID) (held bool, err error) {
	for _, key := range []func(menu.RestaurantID) string{s.keys.Current, s.keys.Published} {
		err := s.queryCurrent(ctx, []menu.RestaurantID{restaurant}, key, []string{"form", "held", "source"},
			func(_ menu.RestaurantID, values []any) {
				of := fieldValues(values)
				own := of.text(2) == "" || of.text(2) == s.sources.current(restaurant)
				held = held || own && of.text(0) != catalogueForm && of.text(1) == "1"
			})
		if err != nil {
			return false, err
		}
	}
	return held, nil
}

// Release ends the hold immediately and returns it; the zero Hold if there was none. It publishes nothing: a sync
// that starts afterwards does. Replicas see the change at their next poll. The error is redisdb.ErrUnavailable.
func (s *Store) Release(ctx context.Context, restaurant menu.RestaurantID) (Hold, error) {
	answer, err := releaseScript.Run(ctx, s.redis.Client(), []string{s.keys.Current(restaurant), s.keys.Published(restaurant)}).StringSlice()
	if err != nil {
		return Hold{}, unavailable("release "+string(restaurant), err)
	}
	if len(answer) == 0 {
		return Hold{}, nil
	}
	return readHold("1", answer[1], ""), nil
}
