package ordering

import (
	"bytes"
	"context"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// MenuRefresh is a sync of a restaurant whose service refused an order (policy O18).
type MenuRefresh interface {
	// Start starts the sync, or joins one in progress, and returns immediately.
	Start(ctx context.Context)
	// Wait waits for the end of the sync, or of ctx. It returns the version of the menu after the sync, or 0 if it is
	// not known.
	Wait(ctx context.Context) (version int64)
}

const (
	// recheckWait limits the wait for a new menu; the mark in the record lasts longer (RecheckTime).
	recheckWait = 2 * time.Second
	// recheckStep limits a step that does not wait for a sync: looking at the menu, starting the sync, and freeing the key.
	recheckStep = 500 * time.Millisecond
	// menuPause is the pause before the menu in memory is compared again, after another instance has published.
	menuPause = 20 * time.Millisecond
)

// recheck holds what to do after a refusal that an old menu may explain (policy O18).
type recheck struct {
	refresh MenuRefresh // nil: no sync may start
	wanted  bool        // the order is checked again before it is answered
}

// recheckOf reserves a sync if the menu may be old: the service refused a new order, or answered with an error of
// the documented shape. It decides whether the order is checked again: a refused order on the v1 API, unless there is
// neither a sync to wait for nor a newer menu in memory.
func (o *Orders) recheckOf(ctx context.Context, c plannedCall, b begunCall, sent CallResult) (check recheck) {
	refused := sent.Outcome == OutcomeRefused
	failed := sent.Outcome == OutcomeUnknown && sent.Answer != nil && sent.Answer.Code != ""
	if c.spec.Operation != upstream.OpCreate || !refused && !failed {
		return check
	}
	if o.deps.RefreshMenu != nil {
		check.refresh = o.deps.RefreshMenu(b.record.Restaurant)
	}
	if c.order == nil || !c.order.Order.V1 || !refused {
		return check
	}
	ctx, cancel := context.WithTimeout(ctx, recheckStep)
	defer cancel()
	version, _, err := o.deps.Catalogues.Current(ctx, c.order.Restaurant, c.order.Connection)
	check.wanted = check.refresh != nil || err == nil && version != c.spec.MenuVersion
	return check
}

// recheckRefused starts the reserved sync. If the order is to be checked again, it waits for the sync and checks the
// order against the menu. It returns *InvalidError if the menu explains the refusal; the key is then free. Otherwise, and
// if the mark in the record has expired, the recorded refusal stays the answer.
func (o *Orders) recheckRefused(ctx context.Context, c plannedCall, b begunCall, check recheck, call Call) error {
	if check.refresh != nil {
		starting, cancel := context.WithTimeout(ctx, recheckStep)
		check.refresh.Start(starting)
		cancel()
	}
	marked := c.spec.Key == "" || call.Recheck == RecheckRunning
	if !check.wanted || call.Outcome != OutcomeRefused || !marked {
		return nil
	}
	explanation := o.explanation(ctx, *c.order, check.refresh, b.end)
	if c.spec.Key != "" {
		ctx, cancel := context.WithTimeout(ctx, recheckStep+o.cfg.WaitTimeout)
		defer cancel()
		err := o.deps.Journal.EndRecheck(ctx, b.record.Connection, b.record.Ref, call.Number, explanation != nil)
		if err != nil {
			o.log.WithError(err).WithField("event", "order.recheck_failed").WithField("ref", b.record.Ref).
				Debug("the recheck of a refused order was not recorded")
			return nil
		}
	}
	if explanation == nil {
		return nil
	}
	return &InvalidError{Ref: b.record.Ref, Answer: call.Answer, Violations: explanation.Violations, More: explanation.More}
}

// explanation waits for the new menu and checks the order. It returns the result if it explains the refusal, or nil: the
// order has a violation now, or what would be sent differs.
func (o *Orders) explanation(ctx context.Context, order checkedOrder, refresh MenuRefresh, end time.Time) *validate.Result {
	menu := o.newerMenu(ctx, order, refresh, end)
	if menu.Version == order.menu.Version {
		return nil
	}
	result, err := o.deps.Validator.Recheck(order.Order, menu, order.menu.Catalogue)
	if err != nil || len(result.Violations) == 0 && bytes.Equal(result.Order, order.result.Order) {
		return nil
	}
	return result
}

// newerMenu waits for the sync, at most recheckWait and never beyond the end of the call. It returns the menu that this
// instance then serves, with the time of the first check.
func (o *Orders) newerMenu(ctx context.Context, order checkedOrder, refresh MenuRefresh, end time.Time) validate.Request {
	if limit := time.Now().Add(recheckWait); limit.Before(end) {
		end = limit
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	var published int64
	if refresh != nil {
		published = refresh.Wait(ctx)
	}
	menu := order.menu
	for {
		version, catalogue, err := o.deps.Catalogues.Current(ctx, menu.Restaurant, order.Connection)
		if err != nil {
			return order.menu
		}
		if menu.Version, menu.Catalogue = version, catalogue; version >= published || sleep.For(ctx, menuPause) != nil {
			return menu
		}
	}
}
