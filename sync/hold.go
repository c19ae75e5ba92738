package sync

import (
	"context"
	"errors"

	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
)

// under tells what the hold on the restaurant makes of a pull of this content:
// OutcomeUnchanged for what the service published at the rollback, OutcomeHeld
// for another one that must wait; empty where it may be published, because
// nothing is held or because it lifts the hold (policy S7a).
func (p *pass) under(content string) Outcome {
	hold := p.current.Hold
	switch {
	case !p.current.Held:
		return ""
	case hold.Of == content:
		return OutcomeUnchanged
	case hold.Until == cache.HoldReleased:
		return OutcomeHeld
	default:
		return ""
	}
}

// held gives the menu that is held, with the stop lists that were pulled: they
// always go through (policy S7a).
func (p *pass) held(ctx context.Context, now menu.Published) (*menu.View, menu.Published, error) {
	return p.kept(ctx, p.current, func() (menu.Published, error) { return now, nil })
}

// kept gives the menu view of a version that is kept, with the stop lists of
// another.
func (p *pass) kept(ctx context.Context, v cache.Version, stops func() (menu.Published, error)) (*menu.View, menu.Published, error) {
	wrong := func(err error) (*menu.View, menu.Published, error) {
		if errors.Is(err, cache.ErrUnavailable) {
			err = unavailable(ctx, "read a kept version", err)
		}
		return nil, menu.Published{}, &stepError{doing: versionText(v.Version), err: err}
	}
	old, err := p.r.store.View(ctx, v)
	if err != nil {
		return wrong(err)
	}
	now, err := stops()
	if err != nil {
		return wrong(err)
	}
	published, err := old.WithStopsOf(now)
	if err != nil {
		return wrong(err)
	}
	answer, err := published.AppendAnswer(nil)
	if err != nil {
		return wrong(err)
	}
	view, published, err := menu.DecodePublished(answer)
	if err != nil {
		return wrong(err)
	}
	return view, published, nil
}

// Release lifts the hold of a rollback at once, and starts a sync as Start
// does, one that begins afterwards (policy S7a). Where nothing is held it only
// syncs. Errors as Start.
func (r *Runner) Release(ctx context.Context, restaurant menu.RestaurantID, by string) (Run, error) {
	if _, err := r.target(restaurant); err != nil {
		return Run{}, err
	}
	hold, err := r.store.Release(ctx, restaurant)
	if err != nil {
		return Run{}, unavailable(ctx, "release "+string(restaurant), err)
	}
	if hold != (cache.Hold{}) {
		r.log.WithFields(logrus.Fields{
			"event": "sync.released", "restaurant": string(restaurant), "hold": string(hold.Until), "by": cleanName(by),
		}).Info("hold released")
	}
	return r.Start(ctx, restaurant, Request{By: by, Fresh: true})
}
