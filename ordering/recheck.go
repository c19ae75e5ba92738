package ordering

import (
	"bytes"
	"context"
	"time"

	"larder/internal/sleep"
	"larder/internal/upstream"
	"larder/ordering/validate"
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
	// recheckStep limits a step that does not wait for the menu: starting the sync, and freeing the key.
	recheckStep = 500 * time.Millisecond
	// menuPause is the pause before the menu in memory is compared again, after another instance has published.
	menuPause = 20 * time.Millisecond
)

// recheck is what an execution needs to check a refused order again (policy O18).
type recheck struct {
	checked validate.Request // the first check
	refresh MenuRefresh      // nil: no sync may start
	wanted  bool             // the order is checked again before it is answered
}

// prepareRecheck reserves a sync if the menu may be old: the service refused a new order, or answered with an error of
// the documented shape. It decides whether the order is checked again: a refused order on the v1 API, unless there is
// neither a sync to wait for nor a newer menu in memory.
func (o *Orders) prepareRecheck(ctx context.Context, e *execution) {
	refused, said := e.result.Outcome == OutcomeRefused, e.result.Answer
	failed := e.result.Outcome == OutcomeUnknown && said != nil && said.Code != ""
	if e.operation != upstream.OpCreate || !refused && !failed {
		return
	}
	if o.deps.RefreshMenu != nil {
		e.recheck.refresh = o.deps.RefreshMenu(e.record.Restaurant)
	}
	if e.place == nil || !e.place.Order.V1 || !refused {
		return
	}
	version, _, err := o.deps.Catalogues.Current(ctx, e.place.Restaurant, e.place.Connection)
	e.recheck.wanted = e.recheck.refresh != nil || err == nil && version != e.spec.MenuVersion
	e.result.Recheck = e.recheck.wanted && e.spec.Key != ""
}

// recheckRefused starts the reserved sync. If the order is to be checked again, it waits for the sync and checks the
// order against the menu. It returns *InvalidError if the menu explains the refusal; the key is then free. Otherwise, and
// if the mark in the record has expired, the recorded refusal stays the answer.
func (o *Orders) recheckRefused(ctx context.Context, e *execution, call Call) error {
	r := &e.recheck
	if r.refresh != nil {
		starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckStep)
		r.refresh.Start(starting)
		cancel()
	}
	marked := e.spec.Key == "" || call.Recheck == RecheckRunning
	if !r.wanted || call.Outcome != OutcomeRefused || !marked {
		return nil
	}
	explanation := o.explanation(ctx, e)
	if e.spec.Key != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckStep+o.cfg.WaitTimeout)
		defer cancel()
		err := o.deps.Journal.EndRecheck(ctx, e.record.Connection, e.record.Ref, call.Number, explanation != nil)
		if err != nil {
			o.log.WithError(err).WithField("event", "order.recheck_failed").WithField("ref", e.record.Ref).
				Debug("the recheck of a refused order was not recorded")
			return nil
		}
	}
	if explanation == nil {
		return nil
	}
	return &InvalidError{Ref: e.record.Ref, Answer: call.Answer, Violations: explanation.Violations, More: explanation.More}
}

// explanation waits for the new menu and checks the order. It returns the result if it explains the refusal, or nil: the
// order has a violation now, or what would be sent differs.
func (o *Orders) explanation(ctx context.Context, e *execution) *validate.Result {
	request := o.newerMenu(ctx, e)
	if request.Version == e.recheck.checked.Version {
		return nil
	}
	result, err := o.deps.Validator.Recheck(e.place.Order, request, e.recheck.checked.Catalogue)
	if err != nil || len(result.Violations) == 0 && bytes.Equal(result.Order, e.toSend) {
		return nil
	}
	return result
}

// newerMenu waits for the sync, at most recheckWait and never beyond the end of the call. It returns a request for the
// menu that this instance then serves, at the time of the first check.
func (o *Orders) newerMenu(ctx context.Context, e *execution) validate.Request {
	end := time.Now().Add(recheckWait)
	if e.end.Before(end) {
		end = e.end
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	var published int64
	if e.recheck.refresh != nil {
		published = e.recheck.refresh.Wait(ctx)
	}
	request := e.recheck.checked
	for {
		version, catalogue, err := o.deps.Catalogues.Current(ctx, request.Restaurant, e.place.Connection)
		if err != nil {
			return e.recheck.checked
		}
		if request.Version, request.Catalogue = version, catalogue; version >= published || sleep.For(ctx, menuPause) != nil {
			return request
		}
	}
}
