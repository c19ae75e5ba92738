package peers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder/internal/bench"
	"larder/internal/bench/answers"
)

// scene are the processes of one mode.
type scene struct {
	Plan
	exercises []Exercise
	dir       string
	threads   int
	// servers and others are words before the programs of those that are
	// measured, and of all else.
	servers, others []string
	origin          string // host:port of what the proxies ask
	town            *bench.Town
	redis           *bench.Redis // that of the Gin handler
	children        []*bench.Child
	running         map[string]server
	targets         map[string]map[string]target // by exercise and server
	files           []answers.Answer             // what nginx serves as files
	client          *http.Client
}

// close ends every process.
func (s *scene) close() {
	for _, child := range slices.Backward(s.children) {
		child.Stop()
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.town != nil {
		s.town.Close()
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// wanted tells whether some exercise needs the server.
func (s *scene) wanted(name string) bool {
	return slices.ContainsFunc(s.exercises, func(e Exercise) bool { return slices.Contains(e.Against, name) })
}

// build starts larder, takes its answers, and starts its peers with them.
func (s *scene) build(ctx context.Context) error {
	s.client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}}
	layout := s.Layout
	layout.Dir, layout.Servers, layout.Others = s.dir, s.servers, s.others
	s.Say("%s: starting larder and its peers", strings.ToLower(filepath.Base(s.dir)))
	var err error
	if s.town, err = bench.Build(ctx, layout); err != nil {
		return err
	}
	if err := s.larder(ctx, ourName); err != nil {
		return err
	}
	if s.wanted(ordinaryName) {
		if err := s.larder(ctx, ordinaryName, "LARDER_HTTP_EXPRESS_LANE=false"); err != nil {
			return err
		}
	}
	ours, err := s.settled(ctx)
	if err != nil {
		return err
	}
	files, err := s.writeAnswers(ours)
	if err != nil {
		return err
	}
	if err := s.startPeers(ctx, files); err != nil {
		return err
	}
	return s.aim(ctx, ours)
}

// larder starts one larder and waits until it is ready.
func (s *scene) larder(ctx context.Context, name string, env ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	l, err := s.town.Add(ctx, env...)
	if err != nil {
		return err
	}
	s.add(name, strings.TrimPrefix(l.URL, "http://"), l.PID())
	return l.Ready(ctx)
}

const (
	// settledFor is how long larder's answers must stay the same: denser bodies
	// take the place of the quick ones when they are done.
	settledFor    = 3 * time.Second
	settledWithin = 2 * time.Minute
)

// given is an exercise as it is asked, and larder's answer.
type given struct {
	Exercise

	answer bench.Answer
}

// settled asks larder for every exercise until its answers stay the same.
func (s *scene) settled(ctx context.Context) ([]given, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settledWithin, fmt.Errorf("larder's answers went on changing for %v", settledWithin))
	defer cancel()
	var before []given
	since := time.Now()
	for time.Since(since) < settledFor {
		now, err := s.ours(ctx)
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(now, before, alike) {
			since = time.Now()
		}
		before = now
		if err := bench.Pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return before, nil
}

func alike(a, b given) bool {
	return len(a.answer.Body) == len(b.answer.Body) && a.answer.Header.Get("ETag") == b.answer.Header.Get("ETag")
}

// ours asks larder once for each exercise. Before one that names what the client
// has stands the same, nameless, without that.
func (s *scene) ours(ctx context.Context) ([]given, error) {
	var list []given
	for _, e := range s.exercises {
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

// first is larder's answer to an exercise.
func (s *scene) first(ctx context.Context, e Exercise) (bench.Answer, error) {
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

// conditionalPath begins the path of a 304 at the servers of one's own, where
// each answer has its path.
const conditionalPath = "/304"

// answerFiles are the files of ready answers.
type answerFiles struct{ all, origin, bind string }

// writeAnswers writes larder's answers for the others.
func (s *scene) writeAnswers(list []given) (files answerFiles, err error) {
	var all, origin, bind []answers.Answer
	seen := map[string]bool{}
	for i, g := range list {
		a := answers.Answer{Path: g.Path, Status: g.Status, Header: headerOf(g.answer.Header)}
		if g.conditional() {
			a.Path = conditionalPath + g.Path
		}
		if seen[a.Path] || g.Varies {
			continue
		}
		seen[a.Path] = true
		if len(g.answer.Body) > 0 {
			a.File = filepath.Join(s.dir, fmt.Sprintf("answer-%d", i))
			if err := os.WriteFile(a.File, g.answer.Body, 0o600); err != nil {
				return files, err
			}
		}
		switch {
		case g.Method != http.MethodGet:
			bind = append(bind, a)
		case g.conditional():
			all = append(all, a)
		default:
			all, s.files, origin = append(all, a), append(s.files, a), append(origin, forProxies(a))
		}
	}
	files = answerFiles{filepath.Join(s.dir, "answers.json"), filepath.Join(s.dir, "origin.json"), filepath.Join(s.dir, "bind.json")}
	for file, list := range map[string][]answers.Answer{files.all: all, files.origin: origin, files.bind: bind} {
		if err := answers.Write(file, list); err != nil {
			return files, err
		}
	}
	return files, nil
}

// headerOf lists a header without what each server makes for each answer.
func headerOf(header http.Header) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "Date" || name == "Content-Length" {
			continue
		}
		for _, value := range header[name] {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}

// forProxies is an answer that a proxy keeps for a day. What they add to it,
// such as Server and Connection, is about as long as the id of the request.
func forProxies(a answers.Answer) answers.Answer {
	var header [][2]string
	for _, h := range a.Header {
		switch strings.ToLower(h[0]) {
		case "x-request-id":
		case "cache-control":
			header = append(header, [2]string{h[0], "public, max-age=86400, stale-if-error=86400"})
		default:
			header = append(header, h)
		}
	}
	a.Header = header
	return a
}

// startPeers starts those that the exercises need.
func (s *scene) startPeers(ctx context.Context, files answerFiles) error {
	if s.wanted(redisName) {
		dir := filepath.Join(s.dir, "gin-redis")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		var err error
		if s.redis, err = bench.StartRedis(ctx, dir, s.servers...); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name, role, file string
		more             func() []string
	}{
		{floorName, "floor", files.all, nil},
		{ginName, "gin", files.all, nil},
		{redisName, "gin-redis", files.all, func() []string { return []string{"--redis", s.redis.URL} }},
		{bindName, "gin-bind", files.bind, nil},
	} {
		if !s.wanted(p.name) {
			continue
		}
		var more []string
		if p.more != nil {
			more = p.more()
		}
		if err := s.own(ctx, p.name, p.role, p.file, more...); err != nil {
			return err
		}
	}
	return s.startForeign(ctx, files.origin)
}

// startForeign starts nginx, HAProxy and Varnish before an origin of their own.
func (s *scene) startForeign(ctx context.Context, file string) error {
	if err := s.own(ctx, originName, "floor", file); err != nil {
		return err
	}
	s.origin = s.running[originName].address
	if err := s.writeFiles(); err != nil {
		return err
	}
	nginx := func(file string, set setting) []string {
		return []string{"nginx", "-p", set.Dir, "-e", "stderr", "-c", file}
	}
	for _, f := range []struct {
		name, text string
		words      func(file string, set setting) []string
	}{
		{staticName, nginxStatic, nginx},
		{proxyName, nginxProxy, nginx},
		{tunedName, nginxProxy, nginx},
		{haproxyName, haproxyFile, func(file string, _ setting) []string { return []string{"haproxy", "-db", "-q", "-f", file} }},
		{varnishName, varnishFile, func(file string, set setting) []string {
			return []string{
				"varnishd", "-F", "-j", "none", "-n", filepath.Join(set.Dir, "work"), "-a", "127.0.0.1:" + strconv.Itoa(set.Port),
				"-f", file, "-s", "malloc,256m", "-T", "none",
			}
		}},
	} {
		if !s.wanted(f.name) {
			continue
		}
		if err := s.foreign(ctx, f.name, f.text, f.words); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// writeFiles lays the answers out for nginx.
func (s *scene) writeFiles() error {
	for _, a := range s.files {
		name := static(filepath.Join(s.dir, folder(staticName)), a)
		body, err := a.Body()
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, body, 0o600))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
