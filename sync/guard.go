package sync

import (
	"fmt"

	"larder/cache"
	"larder/internal/menu"
)

// guard returns the effect of a hold on the fetched menu. Without a hold it returns the reason for a
// quarantine, or "". A forced run skips the check (policy S4).
func (p *pipelineRun) guard(view *menu.View, content string) (held, reason string) {
	p.run.Products = productCount(view)
	if held = p.holdEffect(content); held != "" || p.run.Force {
		return held, ""
	}
	before := p.current.Counts.Products
	// Redis has lost its data: memory has the version that readers get.
	if snapshot, ok := p.cached(); ok && snapshot.Version.Version > p.current.Version {
		before = snapshot.Counts.Products
	}
	if reason = refusal(before, p.run.Products, p.runner.cfg.ShrinkLimit); reason != "" && before > 0 {
		reason += ". The previous menu is still live. To publish anyway: larder sync --force " + string(p.target.ID)
	}
	return "", reason
}

// refusal returns the reason for a quarantine, or "" if the menu may be published (policy S4). It rejects
// menus that are probably a mistake: an empty one, or one that lost more than limit of the served
// products. before is 0 for a first menu, which is only quarantined if it is empty.
func refusal(before, after int, limit float64) string {
	switch {
	case after == 0:
		return "Menu is empty, so it was not published"
	case float64(before-after) > limit*float64(before):
		return fmt.Sprintf("Menu lost %d of %d dishes, more than %.4g %% (sync.shrink_limit), so it was not published",
			before-after, before, limit*100)
	default:
		return ""
	}
}

// The effects of a hold on a fetched content, as Redis stores them.
const (
	holdConfirms = "unchanged" // the service still publishes the content of the time of the rollback
	holdDelays   = "held"      // it publishes another content, which must wait
)

// holdEffect returns the effect of the hold on a fetched content. It returns "" if the content may
// be published, because there is no hold or because the content ends it (policy S7a).
func (p *pipelineRun) holdEffect(content string) string {
	hold := p.current.Hold
	switch {
	case !p.current.Held:
		return ""
	case hold.Of == content:
		return holdConfirms
	case hold.Until == cache.HoldReleased:
		return holdDelays
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
