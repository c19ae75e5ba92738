package cache

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// Checked notes a check as the script does that ends a run. A zero time
// confirms nothing.
func (s *Store) Checked(ctx context.Context, restaurant menu.RestaurantID, at time.Time, outcome string) error {
	script := redis.NewScript(CheckedLua() + "return checked(KEYS[1], ARGV[1], ARGV[2], ARGV[3])")
	confirmed, ahead := "", ""
	if !at.IsZero() {
		confirmed, ahead = menu.FormatTime(at), menu.FormatTime(at.Add(ClockSlack))
	}
	doing := "note a check of " + string(restaurant)
	done, err := script.Run(ctx, s.redis.Client(), []string{s.keys.Current(restaurant)}, confirmed, ahead, outcome).Int()
	if err != nil {
		return unavailable(doing, err)
	}
	if done == 0 {
		return fmt.Errorf("cache: %s: %w", doing, ErrNoCatalogue)
	}
	return nil
}

// DropView lets go of the restaurant's view as published, as if it had not been
// loaded yet.
func (r *Replica) DropView(restaurant menu.RestaurantID) {
	if s := r.findSlot(restaurant); s != nil {
		s.published.Store(nil)
	}
}
