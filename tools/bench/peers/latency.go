package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// Latency contains the latencies of one scenario at a fixed rate, half of the peer's
// maximum.
type Latency struct {
	Scenario string           `json:"scenario"`
	Peer     string           `json:"peer"`
	Rate     float64          `json:"rate"` // requests a second
	Ours     []loadgen.Result `json:"larder"`
	Theirs   []loadgen.Result `json:"theirs"`
}

// ratio is the peer's 99th percentile divided by larder's, of paired rounds.
func (t Latency) ratio() (measure.Ratio, bool) { return measure.RatioOf(p99s(t.Theirs), p99s(t.Ours)) }

func p99s(found []loadgen.Result) []float64 {
	values := make([]float64, len(found))
	for i, r := range found {
		values[i] = float64(r.P99)
	}
	return values
}

// measureLatencies compares latencies with nginx: with its cache, or with its files for
// the menu that its cache serves slowly.
func (s *testbed) measureLatencies(ctx context.Context, mode *Mode) error {
	for _, t := range []Latency{
		{Scenario: NotModified, Peer: proxyName},
		{Scenario: Product, Peer: proxyName},
		{Scenario: Small, Peer: proxyName},
		{Scenario: Medium, Peer: staticName},
	} {
		series, ok := mode.series(t.Scenario, t.Peer)
		if !ok {
			continue
		}
		t.Rate = measure.Median(series.rates()) / 2
		s.Say("%s: latencies of %s at %.0f requests a second", mode.Name, t.Scenario, t.Rate)
		for round := range s.Rounds {
			order := []string{ourName, t.Peer}
			if round%2 == 1 {
				slices.Reverse(order)
			}
			for _, name := range order {
				found, err := s.runAtRate(ctx, s.targets[t.Scenario][name], t.Rate)
				if err != nil {
					return fmt.Errorf("%s, %s at %.0f requests a second: %w", t.Scenario, name, t.Rate, err)
				}
				if name == ourName {
					t.Ours = append(t.Ours, found)
				} else {
					t.Theirs = append(t.Theirs, found)
				}
			}
		}
		mode.Latencies = append(mode.Latencies, t)
	}
	return nil
}

// runAtRate runs the generator at a fixed rate. The first half second does not count.
func (s *testbed) runAtRate(ctx context.Context, t target, rate float64) (found loadgen.Result, err error) {
	const warm, late = 500 * time.Millisecond, 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, s.For+warm+late)
	defer cancel()
	words := append(append([]string(nil), s.others...), s.Program, "load", "--address", t.address, "--request", t.raw,
		"--status", strconv.Itoa(t.status), "--rate", strconv.FormatFloat(rate, 'f', 1, 64),
		"--connections", strconv.Itoa(connections), "--for", (s.For + warm).String(), "--warm", warm.String())
	command := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // G204: taskset and the peer program
	var out, faults bytes.Buffer
	command.Stdout, command.Stderr = &out, &faults
	if err := command.Run(); err != nil {
		return found, fmt.Errorf("%w: %.500s", errors.Join(context.Cause(ctx), err), faults.String())
	}
	return found, json.Unmarshal(out.Bytes(), &found)
}
