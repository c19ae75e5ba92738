package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/measure"
)

// target is a scenario of one server.
type target struct {
	server server
	// address, path, header and script are the arguments of wrk.
	address, path string
	header        [][2]string
	script        string
	// raw is the request for the generator with a fixed rate.
	raw    string
	status int
	// head and body are the sizes of the response.
	head, body int
}

// size is the size of the complete response.
func (t target) size() float64 { return float64(t.head + t.body) }

// makeTargets creates a target for each scenario and each server that answers it. It
// checks that each returns larder's response, the proxies without their origin.
func (s *testbed) makeTargets(ctx context.Context, ours []given) error {
	for _, g := range ours {
		if g.Name == "" {
			continue
		}
		s.targets[g.Name] = map[string]target{}
		for _, name := range append([]string{ourName}, g.Against...) {
			t, err := s.target(ctx, g, s.running[name])
			if err == nil {
				t, err = s.seen(ctx, g, t)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", g.Name, name, err)
			}
			s.targets[g.Name][name] = t
		}
	}
	origin := slices.IndexFunc(s.children, func(c *process.Child) bool { return c.PID() == s.running[originName].processes[0] })
	s.children[origin].Stop()
	for _, g := range ours {
		for name, t := range s.targets[g.Name] {
			if _, err := s.seen(ctx, g, t); err != nil {
				return fmt.Errorf("%s, %s, without its origin: %w", g.Name, name, err)
			}
		}
	}
	return nil
}

// target returns the request of a scenario for a server.
func (s *testbed) target(ctx context.Context, g given, at server) (target, error) {
	t := target{
		server:  at,
		address: at.address,
		path:    g.Path,
		header:  slices.Clone(g.Header),
		status:  g.Status,
	}
	if g.conditional() {
		switch at.name {
		case baselineName, ginName, redisName:
			t.path = conditionalPath + g.Path
		case staticName: // it creates its own ETag
			last := len(t.header) - 1
			whole, err := ask(ctx, s.client, g.Scenario, at.address, g.Path, t.header[:last])
			if err != nil {
				return t, err
			}
			t.header[last][1] = whole.Header.Get("ETag")
		}
	}
	file := filepath.Join(s.dir, "request-"+folder(g.Name+" "+at.name))
	if len(g.Body) > 0 {
		script, err := luaPost(g.Body)
		if err != nil {
			return t, err
		}
		t.script = file + ".lua"
		if err := os.WriteFile(t.script, []byte(script), 0o600); err != nil {
			return t, err
		}
	}
	t.raw = file
	return t, os.WriteFile(t.raw, g.request(t.address, t.path, t.header), 0o600)
}

// near is the allowed difference of lengths if the bytes differ.
const near = 0.15

// seen sends the request twice and compares the second response with larder's.
func (s *testbed) seen(ctx context.Context, g given, t target) (target, error) {
	var answer measure.Answer
	for range 2 {
		var err error
		if answer, err = ask(ctx, s.client, g.Scenario, t.address, t.path, t.header); err != nil {
			return t, err
		}
	}
	t.head, t.body = headLength(answer), len(answer.Body)
	switch {
	case answer.Status != t.status:
		return t, fmt.Errorf("answered %d, not %d: %.300s", answer.Status, t.status, answer.Body)
	case g.Varies && math.Abs(float64(len(answer.Body)-len(g.answer.Body))) > near*float64(len(g.answer.Body)):
		return t, fmt.Errorf("a body of %d bytes, larder's has %d", len(answer.Body), len(g.answer.Body))
	case !g.Varies && !bytes.Equal(answer.Body, g.answer.Body):
		return t, fmt.Errorf("another body than larder's: %d bytes in place of %d", len(answer.Body), len(g.answer.Body))
	case !g.conditional() && answer.Header.Get("Content-Encoding") != g.answer.Header.Get("Content-Encoding"):
		return t, errors.New("another Content-Encoding than larder's")
	}
	return t, nil
}
