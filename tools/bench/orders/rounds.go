package orders

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"larder.local/tools/bench/loadgen"
)

// round measures every operation of one server: it places orders, repeats the
// requests, pays and completes one half of the orders, and rejects the other half.
func (b *testbed) round(ctx context.Context, s *side) error {
	first := s.key
	run, ids, err := b.create(ctx, s, b.For)
	if err != nil {
		return fmt.Errorf("%s: %w", Create, err)
	}
	b.keep(s, Create, run)
	if b.wants(Replay) {
		if err := b.replay(ctx, s, first, len(ids)); err != nil {
			return fmt.Errorf("%s: %w", Replay, err)
		}
	}
	half := len(ids) / 2
	if b.wants(Pay) && half > 0 {
		paid, err := b.change(ctx, s, Pay, first, ids[:half])
		if err != nil {
			return err
		}
		if _, err = b.change(ctx, s, Complete, first, ids[:paid]); err != nil {
			return err
		}
	}
	if b.wants(Reject) && half > 0 {
		_, err = b.change(ctx, s, Reject, first, ids[half:])
	}
	return err
}

func (b *testbed) wants(operation string) bool { return slices.Contains(b.Operations, operation) }

// keep adds a run to the report.
func (b *testbed) keep(s *side, operation string, run Run) {
	runs := b.report.Series[s.series].Runs
	runs[operation] = append(runs[operation], run)
}

// replay repeats the requests of the last orders. The ordering service must not see
// any of them.
func (b *testbed) replay(ctx context.Context, s *side, first, n int) error {
	before, err := b.clusters[0].Calls(ctx, http.MethodPost+" /orders/api/v1/orders")
	if err != nil {
		return err
	}
	plan := s.plan(http.StatusCreated, b.For/2, b.stock.create(s.token)...)
	plan.FirstKey, plan.Keys = first, n
	run, _, err := s.run(ctx, plan, runtime.NumCPU())
	if err != nil {
		return err
	}
	b.keep(s, Replay, run)
	after, err := b.clusters[0].Calls(ctx, http.MethodPost+" /orders/api/v1/orders")
	if err == nil && after != before {
		err = fmt.Errorf("%d repeated requests became new orders", after-before)
	}
	return err
}

// change changes orders for a while, and returns how many.
func (b *testbed) change(ctx context.Context, s *side, operation string, first int, ids []string) (int, error) {
	plan := s.plan(http.StatusOK, b.For/2, change(operation, s.token))
	plan.FirstKey, plan.Values = first, ids
	run, found, err := s.run(ctx, plan, runtime.NumCPU())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", operation, err)
	}
	b.keep(s, operation, run)
	return found.Answered, nil
}

// rates returns the fixed rates of the latencies, in orders per second.
func rates() []float64 { return []float64{300, 1000} }

// latencies measures both servers of each mode at fixed rates, in turn.
func (b *testbed) latencies(ctx context.Context) error {
	for _, mode := range modes() {
		for _, rate := range rates() {
			b.Say("%s: latencies at %.0f orders per second", mode.name, rate)
			var pair []*side
			var found []Latency
			for _, s := range b.sides {
				if s.mode == mode.name {
					pair = append(pair, s)
					found = append(found, Latency{Server: s.name, Mode: s.mode, Rate: rate})
				}
			}
			for round := range b.Rounds {
				for i := range pair {
					at := (i + round) % len(pair)
					result, err := b.atRate(ctx, pair[at], rate)
					if err != nil {
						return fmt.Errorf("%s, %s at %.0f orders per second: %w", pair[at].name, mode.name, rate, err)
					}
					found[at].Runs = append(found[at].Runs, result)
				}
			}
			b.report.Latencies = append(b.report.Latencies, found...)
		}
	}
	return nil
}

// atRate places orders at a fixed rate. The first half second does not count.
func (b *testbed) atRate(ctx context.Context, s *side, rate float64) (loadgen.Result, error) {
	const warm = 500 * time.Millisecond
	plan := s.plan(http.StatusCreated, b.For+warm, b.stock.create(s.token)...)
	plan.Rate, plan.Warm, plan.Sleep = rate, warm, true
	s.key += int(rate*plan.For.Seconds()) + 1
	return loadgen.Run(ctx, plan)
}

func perSecond(r Run) float64 { return r.PerSecond }
