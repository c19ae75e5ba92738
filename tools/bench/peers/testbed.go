package peers

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/measure"
)

// testbed contains the processes of one mode.
type testbed struct {
	Plan
	scenarios []Scenario
	dir       string
	threads   int
	// servers and others are command prefixes: of the measured servers, and of all
	// other processes.
	servers, others []string
	origin          string // host:port of the proxies' origin
	cluster         *measure.Cluster
	redis           *measure.Redis // of the Gin handler
	children        []*process.Child
	running         map[string]server
	targets         map[string]map[string]target // by scenario and server
	files           []answers.Answer             // of nginx
	client          *http.Client
}

// close ends every process.
func (s *testbed) close() {
	for _, child := range slices.Backward(s.children) {
		child.Stop()
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// wanted reports whether a scenario needs the server.
func (s *testbed) wanted(name string) bool {
	return slices.ContainsFunc(s.scenarios, func(e Scenario) bool { return slices.Contains(e.Against, name) })
}

// build starts larder, records its responses, and starts its peers with them.
func (s *testbed) build(ctx context.Context) error {
	s.client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}}
	layout := s.Layout
	layout.Dir, layout.Servers, layout.Others = s.dir, s.servers, s.others
	s.Say("%s: starting larder and its peers", strings.ToLower(filepath.Base(s.dir)))
	var err error
	if s.cluster, err = measure.Build(ctx, layout); err != nil {
		return err
	}
	if err := s.larder(ctx, ourName); err != nil {
		return err
	}
	if s.wanted(netHTTPName) {
		if err := s.larder(ctx, netHTTPName, "LARDER_HTTP_FAST_PATH=false"); err != nil {
			return err
		}
	}
	ours, err := s.ours(ctx)
	if err != nil {
		return err
	}
	if err := s.waitIdle(ctx); err != nil {
		return err
	}
	files, err := s.writeAnswers(ours)
	if err != nil {
		return err
	}
	if err := s.startPeers(ctx, files); err != nil {
		return err
	}
	return s.makeTargets(ctx, ours)
}

// larder starts an instance and waits until it is ready.
func (s *testbed) larder(ctx context.Context, name string, env ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	l, err := s.cluster.Add(ctx, env...)
	if err != nil {
		return err
	}
	s.add(name, strings.TrimPrefix(l.URL, "http://"), l.PID())
	return l.Ready(ctx)
}

// given is a scenario with its request and larder's response.
type given struct {
	Scenario

	answer measure.Answer
}

// waitIdle waits until the instances use almost no CPU time.
func (s *testbed) waitIdle(ctx context.Context) error {
	const (
		watched = 500 * time.Millisecond
		idle    = 25 * time.Millisecond // of CPU time
	)
	pids := s.running[ourName].processes
	if other, ok := s.running[netHTTPName]; ok {
		pids = slices.Concat(pids, other.processes)
	}
	for {
		before, err := measure.TreeCPU(pids...)
		if err != nil {
			return err
		}
		if err := sleep.For(ctx, watched); err != nil {
			return err
		}
		after, err := measure.TreeCPU(pids...)
		if err != nil || after-before <= idle {
			return err
		}
	}
}

// ours sends each scenario to larder once. Before a conditional one, it adds the same
// request without the condition and without a name.
func (s *testbed) ours(ctx context.Context) ([]given, error) {
	var list []given
	for _, e := range s.scenarios {
		if e.conditional() {
			whole := e
			whole.Name, whole.Status = "", http.StatusOK
			answer, err := s.first(ctx, whole)
			if err != nil {
				return nil, err
			}
			list = append(list, given{whole, answer})
			e.Header = append(slices.Clone(e.Header), [2]string{ifNoneMatch, answer.Header.Get("ETag")})
		}
		answer, err := s.first(ctx, e)
		if err != nil {
			return nil, err
		}
		list = append(list, given{e, answer})
	}
	return list, nil
}

const ifNoneMatch = "If-None-Match"

// first returns larder's response to a scenario.
func (s *testbed) first(ctx context.Context, e Scenario) (measure.Answer, error) {
	answer, err := ask(ctx, s.client, e, s.running[ourName].address, e.Path, e.Header)
	switch {
	case err != nil:
	case answer.Status != e.Status:
		err = fmt.Errorf("larder answered %s %s with %d, not %d: %.300s", e.Method, e.Path, answer.Status, e.Status, answer.Body)
	case e.Name == Validate && !strings.HasPrefix(string(answer.Body), `{"result":{"valid":true`):
		err = fmt.Errorf("larder refuses the order: %.300s", answer.Body)
	}
	return answer, err
}
