package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/measure"
)

// startPeers starts the peers that the scenarios need.
func (s *testbed) startPeers(ctx context.Context, files answerFiles) error {
	if s.wanted(redisName) {
		dir := filepath.Join(s.dir, "gin-redis")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		var err error
		if s.redis, err = measure.StartRedis(ctx, dir, s.servers...); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name, role, file string
		more             func() []string
	}{
		{baselineName, answers.Baseline, files.all, nil},
		{ginName, answers.Gin, files.all, nil},
		{redisName, answers.GinRedis, files.all, func() []string { return []string{"--redis", s.redis.URL} }},
		{bindName, answers.GinBind, files.bind, nil},
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

// startForeign starts nginx, HAProxy and Varnish with their own origin.
func (s *testbed) startForeign(ctx context.Context, file string) error {
	if err := s.own(ctx, originName, answers.Baseline, file); err != nil {
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

// writeFiles writes the responses as files for nginx.
func (s *testbed) writeFiles() error {
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
