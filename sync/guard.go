package sync

import (
	"fmt"

	"larder/cache"
	"larder/internal/menu"
	"larder/sync/runlog"
)

// guard says what the hold on the restaurant makes of the menu that was fetched, and
// why it must not be published; a reason only where nothing is held back. ops may
// override the limit of policy S4.
func (p *pipelineRun) guard(view *menu.View, content string) (held, reason string) {
	p.run.Products = productCount(view)
	if held = string(p.holdOutcome(content)); held != "" || p.run.Force {
		return held, ""
	}
	before := p.current.Counts.Products
	// Redis has lost its data: what readers have is in memory.
	if snapshot, ok := p.runner.replica.Cached(p.target.ID); ok && snapshot.Version.Version > p.current.Version {
		before = snapshot.Counts.Products
	}
	return "", guard(before, p.run.Products, p.runner.cfg.ShrinkLimit)
}

// guard refuses a menu that is more likely a fault than a wish: an empty one,
// or one that lost more than the limit of the products served now (policy S4).
// before is 0 for a first menu, which is refused only when empty. It gives the
// reason, empty when the menu may pass.
func guard(before, after int, limit float64) string {
	instead := "nothing is published"
	if before > 0 {
		instead = "the last good menu is served on, a forced sync publishes it all the same"
	}
	switch {
	case after == 0:
		return "the menu has no products; " + instead
	case float64(before-after) > limit*float64(before):
		return fmt.Sprintf("the menu lost %d of %d products, more than the limit of %.4g %% (sync.shrink_limit); %s",
			before-after, before, limit*100, instead)
	default:
		return ""
	}
}

// holdOutcome says what the hold on the restaurant makes of a pull of this content:
// OutcomeUnchanged for what the service published at the rollback, OutcomeHeld
// for another one that must wait; empty where it may be published, because
// nothing is held or because it lifts the hold (policy S7a).
func (p *pipelineRun) holdOutcome(content string) runlog.Outcome {
	hold := p.current.Hold
	switch {
	case !p.current.Held:
		return ""
	case hold.Of == content:
		return runlog.OutcomeUnchanged
	case hold.Until == cache.HoldReleased:
		return runlog.OutcomeHeld
	default:
		return ""
	}
}

// productCount counts the products that compile keeps: each id once.
func productCount(v *menu.View) int {
	seen := make(map[string]struct{}, len(v.Products))
	for i := range v.Products {
		if id := v.Products[i].ID; id != "" {
			seen[id] = struct{}{}
		}
	}
	return len(seen)
}
