package peers

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

const wrkPrints = `Running 3s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   562.23us  388.81us   5.63ms   76.67%
    Req/Sec   123.80k     4.00k  130.00k    74.19%
  381512 requests in 3.10s, 858.66MB read
Requests/sec: 123155.91
Transfer/sec:    277.18MB
`

func TestReadWrk(t *testing.T) {
	t.Parallel()
	got, err := readWrk(wrkPrints)
	if err != nil || got.requests != 381512 || got.perSecond != 123155.91 || got.bytes != 858.66*(1<<20) {
		t.Errorf("%+v, %v", got, err)
	}
	for unit, factor := range map[string]float64{"B": 1, "KB": 1 << 10, "GB": 1 << 30} {
		got, err := readWrk(strings.Replace(wrkPrints, "858.66MB", "2.00"+unit, 1))
		if err != nil || got.bytes != 2*factor {
			t.Errorf("2.00%s: %v bytes, %v", unit, got.bytes, err)
		}
	}
	for want, text := range map[string]string{
		"Socket errors: connect 0, read 3": wrkPrints + "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
		"Non-2xx or 3xx responses: 12":     wrkPrints + "  Non-2xx or 3xx responses: 12\n",
		"something else":                   "unable to connect to 127.0.0.1:1 Connection refused",
		"no answer":                        "  0 requests in 3.10s, 0.00B read\nRequests/sec:      0.00\n",
	} {
		if _, err := readWrk(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestLuaPostKeepsTheBody(t *testing.T) {
	t.Parallel()
	got, err := luaPost([]byte(`{"a":"]] \" \\"}`))
	if want := "wrk.method = \"POST\"\nwrk.body = [==[{\"a\":\"]] \\\" \\\\\"}]==]\n"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := luaPost([]byte("]==]")); err == nil {
		t.Error("a body that ends the script's text was written")
	}
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	set := setting{
		Dir:     "/tmp/x",
		Port:    7001,
		Origin:  "127.0.0.1:7002",
		Threads: 2,
		Root:    true,
		Small:   []string{"/v1/p"},
		Answers: []answers.Answer{{Path: "/v1/menu", Status: 200, Header: [][2]string{
			{"Cache-Control", "public, max-age=0"},
			{"Content-Encoding", "gzip"},
			{"Content-Type", "application/json"},
			{"Etag", `W/"1-a"`},
			{"Larder-Menu-Version", "1"},
			{"Last-Modified", "now"},
			{"X-Odd", `a"b\c`},
			{"X-Request-Id", "1"},
		}}},
	}
	tuned := set
	tuned.Tuned = true
	for name, tc := range map[string]struct {
		text    string
		set     setting
		want    []string
		without []string
	}{
		"static": {nginxStatic, set, []string{
			"user root;", "worker_processes 2;", "listen 127.0.0.1:7001 ", "root /tmp/x/root;", "location = /v1/menu {", "gzip_static on;",
			`add_header Cache-Control "public, max-age=0";`, `add_header Larder-Menu-Version "1";`, `add_header X-Odd "a\"b\\c";`,
		}, []string{"Etag", "Last-Modified", "Content-Encoding", "X-Request-Id"}},
		"proxy": {nginxProxy, set, []string{"tcp_nopush on;", "proxy_pass http://127.0.0.1:7002;", "proxy_ignore_headers"}, []string{"sendfile off"}},
		"tuned": {nginxProxy, tuned, []string{"tcp_nopush off;", "location = /v1/p { sendfile off; proxy_pass http://127.0.0.1:7002; }"}, nil},
		"haproxy": {haproxyFile, set, []string{
			"nbthread 2", "bind 127.0.0.1:7001", "server origin 127.0.0.1:7002", "max-object-size 16000000",
		}, nil},
		"varnish": {varnishFile, set, []string{`.host = "127.0.0.1"; .port = "7002";`}, nil},
	} {
		got, err := render(tc.text, tc.set)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range tc.want {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, got)
			}
		}
		for _, other := range append(tc.without, "{{", "<no value>") {
			if strings.Contains(string(got), other) {
				t.Errorf("%s has %q:\n%s", name, other, got)
			}
		}
		if open, closed := strings.Count(string(got), "{"), strings.Count(string(got), "}"); open != closed {
			t.Errorf("%s: %d brackets are opened, %d closed", name, open, closed)
		}
	}
	set.Dir = "/tmp/a folder"
	if _, err := render(nginxProxy, set); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("a folder with a space: %v", err)
	}
	tuned.Answers[0].Header[0][1] = "$cost"
	if _, err := render(nginxStatic, tuned); err == nil || !strings.Contains(err.Error(), "$cost") {
		t.Errorf("a dollar sign: %v", err)
	}
}

func TestFilesStandWhereNginxLooks(t *testing.T) {
	t.Parallel()
	a := answers.Answer{Path: "/v1/menu", Header: [][2]string{{"Content-Encoding", "gzip"}}}
	if got := static("/x", a); got != "/x/root/v1/menu.gz" {
		t.Errorf("packed: %s", got)
	}
	a.Header = nil
	if got := static("/x", a); got != "/x/root/v1/menu" {
		t.Errorf("plain: %s", got)
	}
}

func TestWhatProxiesGetIsKeptAndAsLong(t *testing.T) {
	t.Parallel()
	list := headerOf(http.Header{
		"Date":           {"now"},
		"Content-Length": {"3"},
		"X-Request-Id":   {"0123"},
		"Cache-Control":  {"max-age=0"},
		"Vary":           {"a", "b"},
	})
	if want := [][2]string{{"Cache-Control", "max-age=0"}, {"Vary", "a"}, {"Vary", "b"}, {"X-Request-Id", "0123"}}; !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
	kept := forProxies(answers.Answer{Header: list}).Header
	if len(kept) != 3 || !strings.Contains(kept[0][1], "max-age=86400") || list[0][1] != "max-age=0" {
		t.Errorf("%v", kept)
	}
}

func TestExercisesAreThoseOfTheGoals(t *testing.T) {
	t.Parallel()
	all := Scenarios(Menus{
		Small:  "s",
		Medium: "m",
		Large:  "l",
		Dish:   "d",
		Order:  []byte(`{}`),
	})
	for _, g := range Goals() {
		at := slices.IndexFunc(all, func(e Scenario) bool { return e.Name == g.Scenario })
		if at < 0 || !slices.Contains(all[at].Against, g.Peer) {
			t.Errorf("%v is not measured", g)
		}
		if g.Gate <= 0 || g.Hold < g.Gate {
			t.Errorf("%v: gate %v, limit %v", g, g.Gate, g.Hold)
		}
	}
	for _, e := range all {
		wire := string(e.request("host", e.Path, e.Header))
		if lines := strings.Count(wire, "\r\n") - 2; e.Name == Browser && lines != 12 {
			t.Errorf("a browser sends %d headers, want 12:\n%s", lines, wire)
		}
		if e.Method == http.MethodPost && !strings.HasSuffix(wire, "Content-Length: 2\r\n\r\n{}") {
			t.Errorf("%s: %q", e.Name, wire)
		}
	}
	checked, err := Plan{Checked: true, Only: []string{Medium}}.scenarios()
	if err != nil || len(checked) != 1 || slices.Contains(checked[0].Against, haproxyName) || !slices.Contains(checked[0].Against, staticName) {
		t.Errorf("%+v, %v", checked, err)
	}
	if _, err := (Plan{Only: []string{"none"}}).scenarios(); err == nil {
		t.Error("an exercise that is none was taken")
	}
}

func TestMissingProgramSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	if _, err := program("no-such-program"); err == nil || !strings.Contains(err.Error(), "tools/test-needs peers") {
		t.Errorf("%v", err)
	}
}

func TestHeadLengthIsThatOfTheWire(t *testing.T) {
	t.Parallel()
	a := measure.Answer{Status: 200, Header: http.Header{"Etag": {"x"}, "Vary": {"a", "b"}}}
	if got, want := headLength(a), len("HTTP/1.1 200 OK\r\nEtag: x\r\nVary: a\r\nVary: b\r\n\r\n"); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// report has one scenario: larder is twice as fast as nginx, and below the gate of
// Varnish.
func report() Report {
	series := func(name string, perSecond, micros float64) Series {
		return Series{
			Name: name,
			Body: 10,
			Head: 300,
			Runs: []Run{{perSecond, micros}, {perSecond * 1.1, micros}, {perSecond * 0.9, micros}},
		}
	}
	pinned := Mode{Name: Pinned, Scenarios: []Measured{{Name: NotModified, Series: []Series{
		series(ourName, 100_000, 8), series(proxyName, 50_000, 16), series(varnishName, 125_000, 7), series(baselineName, 200_000, 4),
	}}}}
	pinned.Latencies = []Latency{{
		Scenario: NotModified, Peer: proxyName, Rate: 25_000,
		Ours: []loadgen.Result{{P50: 50 * time.Microsecond, P99: 200 * time.Microsecond}}, Theirs: []loadgen.Result{{P50: 60 * time.Microsecond, P99: 300 * time.Microsecond}},
	}}
	unpinned := Mode{Name: Unpinned, Scenarios: []Measured{{Name: NotModified, Series: []Series{series(ourName, 90_000, 8), series(proxyName, 60_000, 12)}}}}
	r := Report{
		Rounds:      3,
		Seconds:     1,
		Connections: 64,
		Modes:       []Mode{pinned, unpinned},
		Servers:     []string{"nginx/1", "wrk 4"},
		Command:     "make it",
	}
	r.Machine = measure.Machine{
		Cores: 2,
		CPU:   "a processor",
		Go:    "go1.26",
		Redis: "Redis 7",
	}
	return r
}

func TestTableJudgesByPinnedMedians(t *testing.T) {
	t.Parallel()
	table := report().Table()
	for _, want := range []string{
		"| | bytes | larder | bare epoll loop | nginx proxy_cache | Varnish |\n",
		"| 304 | 10 | 100.0 (8.0) | 200.0 (4.0) | 50.0 (16.0) | 125.0 (7.0) |\n",
		"| 1 | 304 against nginx proxy_cache | 2.00 (2.00 to 2.00) | 1.50 (1.50 to 1.50) | 4.00 | 0.55 | 1.00 | held |\n",
		"| 4 | 304 against Varnish | 0.80 (0.80 to 0.80) |  | 1.60 | 1.00 | 2.00 | **below the gate** |\n",
		"| 6 | 304 against bare epoll loop (CPU time) | 0.50 (0.50 to 0.50) |  |  | 0.30 | 0.70 | **missed** |\n",
		"| 304 | nginx proxy_cache | 25000 | 50, 200, 0 | 60, 300, 0 | 1.50 (1.50 to 1.50) |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestGatesNameWhatIsBelowThem(t *testing.T) {
	t.Parallel()
	r := report()
	if missed := r.Missed(); !slices.Equal(missed, []string{NotModified}) {
		t.Errorf("missed %q, want the one exercise", missed)
	}
	err := r.Gates()
	if want := "limit 4, 304 against Varnish: ratio 0.80 (0.80 to 0.80) is below its gate 1.00"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q alone", err, want)
	}
	r.Modes[0].Scenarios[0].Series = slices.DeleteFunc(r.Modes[0].Scenarios[0].Series, func(s Series) bool { return s.Name == varnishName })
	if err := r.Gates(); err != nil {
		t.Errorf("no gate is missed: %v", err)
	}
	if missed := r.Missed(); len(missed) > 0 {
		t.Errorf("missed %q, want none", missed)
	}
	r.Modes = r.Modes[1:]
	if err := r.Gates(); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("without pinned runs: %v", err)
	}
	r.Modes = []Mode{{Name: Pinned}}
	if err := r.Gates(); err == nil || !strings.Contains(err.Error(), "no limit was measured") {
		t.Errorf("without any run: %v", err)
	}
}

func TestSectionTakesThePlaceOfTheOneBefore(t *testing.T) {
	t.Parallel()
	section := report().Section("peers.svg")
	page, err := Replace("before\n"+section+"\nafter\n", "new "+section)
	if err != nil || page != "before\nnew "+section+"\nafter\n" {
		t.Errorf("Replace: %v\n%s", err, page)
	}
	for _, want := range []string{"2 cores (a processor). The versions are go1.26, Redis 7, nginx/1, wrk 4.", "3 alternating rounds of 1 s", "Command: `make it`.", "](peers.svg)"} {
		if !strings.Contains(section, want) {
			t.Errorf("the section lacks %q:\n%s", want, section)
		}
	}
	if _, err := Replace("no place", section); err == nil {
		t.Error("a page without marks was written")
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	t.Parallel()
	bars := 0
	plot := xml.NewDecoder(strings.NewReader(report().Plot()))
	for {
		token, err := plot.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
			bars++
		}
	}
	if bars != 5 { // the background, and four servers
		t.Errorf("%d rectangles, want 5", bars)
	}
}

func TestVersionsAreShort(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"nginx version: nginx/1.22.1": "nginx/1.22.1",
		"varnishd (varnish-7.1.1 revision 7cee1c581bead20e88d101ab3d72afb29f14d87a)": "varnish-7.1.1",
		"HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/":         "HAProxy version 2.6.12-1+deb12u4 2026/10/17",
		"wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer":               "wrk debian/4.1.0-3+b2",
	} {
		if got := short(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
