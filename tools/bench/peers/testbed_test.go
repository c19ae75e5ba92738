package peers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/measure"
)

// stage returns a testbed whose generators are scripts that print a text.
func stage(t *testing.T, prints string) *testbed {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /proc, and larder-bench says that it needs one")
	}
	dir := t.TempDir()
	printed, script := filepath.Join(dir, "printed"), filepath.Join(dir, "generator")
	if err := errors.Join(
		os.WriteFile(printed, []byte(prints), 0o600),
		os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >>"+dir+"/asked\nexec cat "+printed+"\n"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	s := &testbed{
		Plan: Plan{
			Rounds:  3,
			For:     time.Second,
			Say:     func(string, ...any) {},
			Program: "peer",
		},
		dir:     dir,
		others:  []string{"/bin/sh", script},
		running: map[string]server{},
		targets: map[string]map[string]target{},
		client:  &http.Client{Transport: &http.Transport{DisableCompression: true}},
	}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// play adds a scenario of larder and nginx.
func (s *testbed) play(name string, bytes int) {
	s.scenarios = append(s.scenarios, Scenario{Name: name, Against: []string{proxyName}})
	s.targets[name] = map[string]target{}
	for _, at := range []string{ourName, proxyName} {
		s.targets[name][at] = target{
			server:  server{name: at, processes: []int{os.Getpid()}},
			address: "127.0.0.1:1",
			path:    "/" + folder(at),
			body:    bytes,
			header:  [][2]string{{"Accept-Encoding", "gzip"}},
			raw:     "request",
			status:  http.StatusOK,
		}
	}
}

func TestRoundsTakeTurns(t *testing.T) {
	t.Parallel()
	s := stage(t, wrkPrints)
	s.play(Product, 2360) // what wrk got for each
	var mode Mode
	if err := s.rounds(t.Context(), &mode); err != nil {
		t.Fatal(err)
	}
	for _, series := range mode.Scenarios[0].Series {
		if len(series.Runs) != 3 || series.Runs[2].PerSecond != 123155.91 {
			t.Errorf("%+v", series)
		}
	}
	asked, err := os.ReadFile(filepath.Join(s.dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines(string(asked)) {
		order = append(order, line[strings.LastIndexByte(line, '/')+1:len(line)-1])
		if want := "wrk -t1 -c64 -d1s --timeout 10s -H Accept-Encoding: gzip http://127.0.0.1:1/"; !strings.HasPrefix(line, want) {
			t.Errorf("asked by %q, want %q", line, want)
		}
	}
	nginx := folder(proxyName)
	if want := []string{"larder", nginx, nginx, "larder", "larder", nginx}; !slices.Equal(order, want) {
		t.Errorf("turns %v, want %v", order, want)
	}
}

func TestRoundsRefuseOtherAnswers(t *testing.T) {
	t.Parallel()
	s := stage(t, wrkPrints)
	s.play(Product, 400) // wrk got 2,360 bytes for each
	if err := s.rounds(t.Context(), &Mode{}); err == nil || !strings.Contains(err.Error(), "some were others") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.rounds(ended, &Mode{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

func TestTailsAskAtHalfOfThePeersRate(t *testing.T) {
	t.Parallel()
	s := stage(t, `{"rate":30000,"answered":30000,"unanswered":0,"p50":1000,"p90":2000,"p99":3000,"p999":4000,"max":5000}`)
	s.play(Product, 400)
	mode := Mode{Scenarios: []Measured{{Name: Product, Series: []Series{{Name: proxyName, Runs: []Run{{PerSecond: 60_000}, {PerSecond: 50_000}, {PerSecond: 70_000}}}}}}}
	if err := s.measureLatencies(t.Context(), &mode); err != nil {
		t.Fatal(err)
	}
	if len(mode.Latencies) != 1 || mode.Latencies[0].Rate != 30_000 || len(mode.Latencies[0].Ours) != 3 || len(mode.Latencies[0].Theirs) != 3 || mode.Latencies[0].Ours[0].P99 != 3000 {
		t.Fatalf("%+v", mode.Latencies)
	}
	asked, err := os.ReadFile(filepath.Join(s.dir, "asked"))
	if want := "peer load --address 127.0.0.1:1 --request request --status 200 --rate 30000.0 --connections 64 --for 1.5s --warm 500ms\n"; err != nil || !strings.HasPrefix(string(asked), want) {
		t.Errorf("asked by %q, want %q; %v", asked, want, err)
	}
}

// The response of a server must be larder's.
func TestSeenRefusesAnotherAnswer(t *testing.T) {
	t.Parallel()
	s := stage(t, "")
	ours := measure.Answer{Status: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: []byte("0123456789")}
	for name, tc := range map[string]struct {
		varies bool
		status int
		coding string
		body   string
		fault  string
	}{
		"the same":           {false, 200, "gzip", "0123456789", ""},
		"another status":     {false, 503, "gzip", "0123456789", "answered 503, not 200"},
		"another body":       {false, 200, "gzip", "0123456780", "another body"},
		"another coding":     {false, 200, "br", "0123456789", "Content-Encoding"},
		"about as long":      {true, 200, "gzip", "abcdefghijk", ""},
		"much longer a list": {true, 200, "gzip", "abcdefghijklmnop", "a body of 16 bytes"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", tc.coding)
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		}))
		g := given{Scenario{
			Name:   name,
			Method: http.MethodGet,
			Path:   "/",
			Status: http.StatusOK,
			Varies: tc.varies,
		}, ours}
		got, err := s.seen(t.Context(), g, target{address: server.Listener.Addr().String(), path: "/", status: http.StatusOK})
		server.Close()
		switch {
		case tc.fault == "" && (err != nil || got.body != len(tc.body) || got.head < 20):
			t.Errorf("%s: %+v, %v", name, got, err)
		case tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)):
			t.Errorf("%s: %v, want %q", name, err, tc.fault)
		}
	}
}

// nginx creates its own ETag for a file, so a conditional request uses this ETag. At the
// peer program's servers, it uses a path.
func TestTargetNamesWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	s := stage(t, "")
	nginx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(ifNoneMatch) == "" {
			w.Header().Set("ETag", `"its-own"`)
		}
	}))
	t.Cleanup(nginx.Close)
	g := given{Scenario: Scenario{
		Name:   NotModified,
		Method: http.MethodGet,
		Path:   "/menu",
		Status: http.StatusNotModified,
		Header: [][2]string{{ifNoneMatch, "larder's"}},
	}}
	for name, want := range map[string]struct{ path, etag string }{
		ourName: {"/menu", "larder's"}, proxyName: {"/menu", "larder's"}, staticName: {"/menu", `"its-own"`}, ginName: {"/304/menu", "larder's"},
	} {
		got, err := s.target(t.Context(), g, server{name: name, address: nginx.Listener.Addr().String()})
		if err != nil || got.path != want.path || got.header[0][1] != want.etag {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		raw, err := os.ReadFile(got.raw)
		if err != nil || !strings.HasPrefix(string(raw), "GET "+want.path+" HTTP/1.1\r\n") || !strings.Contains(string(raw), want.etag) {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	if g.Header[0][1] != "larder's" {
		t.Error("the exercise itself was changed")
	}
}

func TestAnswersAreWrittenOnce(t *testing.T) {
	t.Parallel()
	s := stage(t, "")
	at := func(name, method, path string, status int, body string) given {
		return given{Scenario{
			Name:   name,
			Method: method,
			Path:   path,
			Status: status,
		}, measure.Answer{Status: status, Body: []byte(body)}}
	}
	list := at(Restaurants, http.MethodGet, "/list", 200, "[]")
	list.Varies = true
	files, err := s.writeAnswers([]given{
		at("", http.MethodGet, "/menu", 200, "menu"), at(NotModified, http.MethodGet, "/menu", 304, ""), at(Product, http.MethodGet, "/dish", 200, "dish"),
		at(Browser, http.MethodGet, "/dish", 200, "dish"), at(Medium, http.MethodGet, "/menu", 200, "menu"), at(Validate, http.MethodPost, "/order", 200, "{}"), list,
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		files.all: {"/menu", "/304/menu", "/dish"}, files.origin: {"/menu", "/dish"}, files.bind: {"/order"},
	} {
		written, err := answers.Read(file)
		var paths []string
		for _, a := range written {
			paths = append(paths, a.Path)
		}
		if err != nil || !slices.Equal(paths, want) {
			t.Errorf("%s: %v, want %v; %v", filepath.Base(file), paths, want, err)
		}
	}
	if err := s.writeFiles(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(s.dir, folder(staticName), "root", "menu")); err != nil || string(got) != "menu" {
		t.Errorf("nginx's file: %q, %v", got, err)
	}
}
