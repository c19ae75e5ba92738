package sync

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"larder/cache"
	"larder/internal/upstream"
)

// reasonsSuffix makes the id under which a connection's rejection reasons have
// their lease and their records; '/' cannot occur in a connection's name.
const reasonsSuffix = "/reasons"

// pullReasons keeps a connection's rejection reasons as the service lists
// them; those kept before stay when it does not answer.
func (p *pass) pullReasons(ctx context.Context) error {
	began := time.Now()
	reasons, err := p.t.source.RejectionReasons(ctx)
	p.run.Steps.Fetch = since(began)
	if err != nil {
		return fmt.Errorf("%w: %w", errService,
			&stepError{doing: "fetch the rejection reasons of connection " + p.t.Connection, err: err})
	}
	if reasons == nil {
		reasons = []upstream.Reason{}
	}
	list, err := json.Marshal(reasons)
	if err != nil {
		return err
	}
	began = time.Now()
	before, _, err := p.r.store.Reasons(ctx, p.t.Connection)
	if err != nil && !errors.Is(err, cache.ErrNoReasons) {
		return unavailable(ctx, "read the rejection reasons", err)
	}
	if err := p.r.store.SaveReasons(ctx, p.t.Connection, list); err != nil {
		return unavailable(ctx, "keep the rejection reasons", err)
	}
	p.run.Steps.Publish = since(began)
	p.run.Bytes, p.run.Outcome = len(list), OutcomeUpdated
	if bytes.Equal(before, list) {
		p.run.Outcome = OutcomeUnchanged
	}
	return nil
}
