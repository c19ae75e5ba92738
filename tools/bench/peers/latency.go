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

	"larder/tools/bench/loadgen"
)

// Tail are the latencies of one scenario at a fixed rate: half of what the peer
// reaches.
type Tail struct {
	Exercise string           `json:"exercise"`
	Peer     string           `json:"peer"`
	Rate     float64          `json:"rate"` // requests a second
	Ours     []loadgen.Result `json:"larder"`
	Theirs   []loadgen.Result `json:"theirs"`
}

// ratio is the peer's 99th percentile by larder's, of paired rounds.
func (t Tail) ratio() (Ratio, bool) { return ratioOf(p99s(t.Theirs), p99s(t.Ours)) }

func p99s(found []loadgen.Result) []float64 {
	values := make([]float64, len(found))
	for i, r := range found {
		values[i] = float64(r.P99)
	}
	return values
}

// tails measures latencies beside nginx: its cache, and its files for the menu
// that its cache serves badly.
func (s *testbed) tails(ctx context.Context, mode *Mode) error {
	for _, t := range []Tail{
		{Exercise: NotModified, Peer: proxyName},
		{Exercise: Product, Peer: proxyName},
		{Exercise: Small, Peer: proxyName},
		{Exercise: Medium, Peer: staticName},
	} {
		series, ok := mode.series(t.Exercise, t.Peer)
		if !ok {
			continue
		}
		t.Rate = median(series.rates()) / 2
		s.Say("%s: latencies of %s at %.0f requests a second", mode.Name, t.Exercise, t.Rate)
		for round := range s.Rounds {
			turns := []string{ourName, t.Peer}
			if round%2 == 1 {
				slices.Reverse(turns)
			}
			for _, name := range turns {
				found, err := s.pace(ctx, s.targets[t.Exercise][name], t.Rate)
				if err != nil {
					return fmt.Errorf("%s, %s at %.0f requests a second: %w", t.Exercise, name, t.Rate, err)
				}
				if name == ourName {
					t.Ours = append(t.Ours, found)
				} else {
					t.Theirs = append(t.Theirs, found)
				}
			}
		}
		mode.Tails = append(mode.Tails, t)
	}
	return nil
}

// pace runs the generator at a fixed rate; its first half second is not counted.
func (s *testbed) pace(ctx context.Context, t target, rate float64) (found loadgen.Result, err error) {
	const warm, late = 500 * time.Millisecond, 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, s.For+warm+late)
	defer cancel()
	words := append(append([]string(nil), s.others...), s.Program, "pace", "--address", t.address, "--request", t.raw,
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
