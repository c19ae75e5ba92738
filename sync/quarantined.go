package sync

import (
	"context"
	"fmt"

	"larder.local/cache"
	"larder.local/internal/menu"
)

// QuarantinedMenu is a quarantined menu: the answer of the ordering service, its view, and what the restaurant would serve.
type QuarantinedMenu struct {
	Answer    []byte
	View      *menu.View
	Catalogue *menu.Catalogue
}

// Findings returns its findings, within the limits of Runner.Findings.
func (q QuarantinedMenu) Findings() []menu.Finding {
	return bounded(menu.LintCompiled(q.View, q.Catalogue))
}

// Quarantined passes the quarantined menu of a restaurant to show, within sync.memory (policy S4a). Errors:
// *UnknownRestaurantError, cache.ErrNotQuarantined, cache.ErrCorrupt, redisdb.ErrUnavailable, ctx's, those of show.
func (r *Runner) Quarantined(ctx context.Context, restaurant menu.RestaurantID, show func(QuarantinedMenu) error) error {
	t, err := r.Target(restaurant)
	if err != nil {
		return err
	}
	answer, err := cache.Quarantined(ctx, t.store, t.ID)
	if err != nil {
		return err
	}
	held, err := r.budget.reserve(ctx, r.budget.viewMemory(answer))
	if err != nil {
		return err
	}
	defer held.release()
	view, err := menu.Decode(answer)
	if err != nil {
		return fmt.Errorf("sync: quarantined menu of %s: %w", t.ID, err)
	}
	return show(QuarantinedMenu{answer, view, menu.Compile(view, t.ID, t.Settings)})
}
