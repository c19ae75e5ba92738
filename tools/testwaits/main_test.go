package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// findingsOf returns the findings in files of these names.
func findingsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, found := range findings {
		got = append(got, found.String())
	}
	return got
}

// Functions of the tests below.
const helpers = `
func within(t *testing.T, d time.Duration, so func() bool) {
	ctx, cancel := context.WithTimeout(ctx, d)
}
func pause(d time.Duration) {
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
	case <-ctx.Done():
		t.Fatal()
	}
}
func through(d time.Duration)                                    { timed(d) }
func awaits(t *testing.T, so func() bool, patience time.Duration) {}
func (x *x) Awaits(limit time.Duration)                           {}
func sized(limit int)                                             {}
func timed(d time.Duration) {
	select {
	case <-time.After(d):
		t.Fatal()
	case <-done:
	}
}
func timedOut(d time.Duration) {
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
		return
	case <-done:
	}
}
`

// Each case is the body of a test that starts in line 4, or a whole file, with the beginning
// of each finding.
func TestFindingsInGo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"sleep":             {"time.Sleep(d)", []string{"4: time.Sleep: "}},
		"sleep in a loop":   {"for ; !done(); time.Sleep(time.Millisecond) {\n}", []string{"4: time.Sleep: "}},
		"pause":             {"<-time.After(time.Minute)", []string{"4: <-time.After is a sleep: "}},
		"fake clock":        {"synctest.Test(t, func(t *testing.T) {\ntime.Sleep(d)\n<-time.After(time.Second)\n})\ntime.Sleep(d)", []string{"8: time.Sleep: "}},
		"context":           {"context.WithTimeout(ctx, 9*time.Second)\ncontext.WithTimeout(ctx, 10*time.Second)", []string{"4: context.WithTimeout with a limit of 9s: "}},
		"expired context":   {"context.WithTimeout(ctx, 0*time.Second)\ncontext.WithDeadline(ctx, time.Now().Add(-time.Second))", nil},
		"case of a select":  {"select {\ncase <-time.After(2 * time.Second):\ncase <-time.After(time.Minute):\n}", []string{"5: time.After with a limit of 2s: "}},
		"deadline":          {"c.SetDeadline(time.Now().Add(time.Second))\nc.SetReadDeadline(begun.Add(time.Second))", []string{"4: time.Now().Add with a limit of 1s: ", "5: c.SetReadDeadline with a limit of 1s: "}},
		"timer":             {"time.NewTimer(1.5 * 1e9)\ntime.NewTimer(time.Duration(1_500) * time.Millisecond)", []string{"4: time.NewTimer with a limit of 1.5s: ", "5: time.NewTimer with a limit of 1.5s: "}},
		"client":            {"c := http.Client{Timeout: time.Second}\nd := http.Server{IdleTimeout: time.Second}", []string{"4: a client with a timeout of 1s: "}},
		"elapsed":           {"if time.Since(start) > 2*time.Second {\n}\nif time.Minute < end.Sub(start) || time.Second <= end.Sub(start) {\n}", []string{"4: fails after 2s: ", "6: fails after 1s: "}},
		"elapsed, named":    {"took := time.Since(start)\nif err != nil || took >= time.Second {\n}", []string{"5: fails after 1s: "}},
		"at least":          {"took := time.Since(start)\nif err != nil || took < time.Second {\nt.Error(took)\n}\nswitch {\ncase took <= time.Second:\nt.Fatal(took)\n}", nil},
		"loop":              {"for time.Since(start) < time.Second {\n}", []string{"4: a loop that ends after 1s: "}},
		"setting":           {"if cfg.Timeout > time.Second {\n}\nrun(config{Timeout: time.Second})", nil},
		"local constant":    {"const limit = time.Second\ntime.After(limit * 2)", []string{"5: time.After with a limit of 2s: "}},
		"package constant":  {"time.After(patience / 60)\ntime.After(patience)", []string{"4: time.After with a limit of 1s: "}},
		"of another use":    {"wait := time.Minute\ntime.After(wait)\nwait = time.Second\ntime.After(wait)", []string{"7: time.After with a limit of 1s: "}},
		"unknown":           {"time.After(limit())\ntime.After(cfg.Limit)", nil},
		"function":          {"within(t, time.Second, done)\nwithin(t, time.Minute, done)\npause(time.Second)", []string{"4: within with a limit of 1s: "}},
		"port":              {"net.Listen(\"tcp\", \"127.0.0.1:8080\")\nnet.Listen(\"tcp\", \"127.0.0.1:0\")", []string{"4: port 8080 may be in use: "}},
		"server":            {"http.ListenAndServe(\":8080\", nil)\ns := http.Server{Addr: \":8081\"}", []string{"4: port 8080 may", "5: port 8081 may"}},
		"port of a program": {"run(\"--listen\", \"127.0.0.1:8080\", \"--port\", \"0\", \"--sandbox-listen=:81\")\nrun([]string{\"-port\", \"82\"})", []string{"4: port 8080 may", "4: port 81 may", "5: port 82 may"}},
		"sample":            {"load(\"http: {listen: 127.0.0.1:8080}\")\nload(\"--url\", \"http://localhost:8080\")\nparse([]string{\"LISTEN=127.0.0.1:8080\"})", nil},
		"package value":     {"time.After(brief)\ntime.After(sum)\ncontext.WithTimeout(ctx, typed)", []string{"4: time.After with a limit of 5s: ", "5: time.After with a limit of 6s: ", "6: context.WithTimeout with a limit of 5s: "}},
		"other scope":       {"func() {\nwait := time.Second\nrun(wait)\n}()\nfor _, wait := range waits {\ntime.After(wait)\n}\nfunc(brief time.Duration) {\ntime.After(brief)\n}(d)\na, brief := get()\ntime.After(brief)", nil},
		"of itself":         {"limit := time.Second\nif limit := limit; true {\ntime.After(limit)\n}\nlimit *= 60\ntime.After(limit)", []string{"6: time.After with a limit of 1s: "}},
		"conversion":        {"const n = 5\ntime.After(n * time.Second)\ntime.After(time.Duration(n) * time.Second)\ntime.After(time.Duration(int64(n) * int64(time.Second)))", []string{"5: time.After with a limit of 5s: ", "6: ", "7: "}},
		"client, set later": {"c := &http.Client{}\nc.Timeout = brief\nvar d net.Dialer\nd.Timeout = time.Minute\nserver.Client().Timeout = brief\nhttp.DefaultClient.Timeout = brief", []string{"5: a client with a timeout of 5s: ", "8: a client", "9: a client"}},
		"transport":         {"_ = http.Transport{ResponseHeaderTimeout: time.Second, IdleConnTimeout: time.Second}\nvar o redis.Options\no.ReadTimeout = time.Second", []string{"4: a client with a timeout of 1s: ", "6: a client"}},
		"settings":          {"cfg.Timeouts.Write = time.Second\ncfg.Timeout = time.Second\nserver.Config.IdleTimeout = time.Second\nvar c ordering.Config\nc.WaitTimeout = time.Second\nc.Timeout = time.Second", nil},
		"less":              {"ok := time.Since(start) < 5*time.Second\nif time.Since(start) <= 5*time.Second {\nreturn\n}\nmust(time.Minute > time.Since(start), 5*time.Second >= time.Since(start))\nif !(time.Since(start) < time.Second) {\nt.Fatal()\n}", []string{"4: fails after 5s: ", "5: fails after 5s: ", "8: fails after 5s: ", "9: fails after 1s: "}},
		"in seconds":        {"if time.Since(start).Seconds() > 5 || time.Now().Sub(start).Milliseconds() >= 500 {\n}\nif 5 < time.Since(start).Seconds() || time.Since(start).Seconds() > 50 || time.Since(start).Round(time.Second) > brief {\n}", []string{"4: fails after 500ms: ", "4: fails after 5s: ", "6: fails after 5s: "}},
		"now":               {"if time.Now().Sub(start) > brief {\n}\nif time.Now().Sub(start) > time.Minute {\n}", []string{"4: fails after 5s: "}},
		"table":             {"for _, tc := range []struct {\nname string\nwithin time.Duration\n}{{\"a\", time.Minute}, {name: \"b\", within: time.Second}, {\"c\", 0}} {\nif time.Since(start) > tc.within {\n}\n}", []string{"8: fails after 1s: "}},
		"table, named":      {"for _, tc := range []tcase{{limit: time.Minute}, {limit: time.Second}} {\ncontext.WithTimeout(ctx, tc.limit)\n}", []string{"5: context.WithTimeout with a limit of 1s: "}},
		"later":             {"if time.Now().After(start.Add(5*time.Second)) || time.Now().Before(start.Add(time.Minute)) || got.After(start.Add(time.Second)) {\n}", []string{"4: time.Now().After with a limit of 5s: "}},
		"table of a table":  {"for _, tc := range []tcase{{limit: time.Second}} {\nx := []tcase{{limit: tc.limit}}\ncontext.WithTimeout(ctx, x[0].limit)\nl := []tcase{{limit: l.limit}}\n}", []string{"6: context.WithTimeout with a limit of 1s: "}},
		"table of minutes":  {"for _, tc := range map[string]struct{ within, d time.Duration }{\"a\": {time.Minute, time.Second}} {\nif time.Since(start) > tc.within {\n}\n}", nil},
		"named limit":       {"awaits(t, done, time.Second)\nawaits(t, done, time.Minute)\nx.Awaits(brief)", []string{"4: awaits with a limit of 1s: ", "6: x.Awaits with a limit of 5s: "}},
		"timer of a helper": {"timed(time.Second)\ntimedOut(time.Second)\npause(time.Second)\nthrough(time.Second)", []string{"4: timed with a limit of 1s: ", "5: timedOut with a limit of 1s: ", "7: through with a limit of 1s: "}},
		"of a test package": {"process.Await(t, time.Second)\nprocess.Await(t, process.Patience)\nprocess.Await(t, process.Brief)\np.Stop(time.Second)\nproduct.New(time.Second)", []string{"4: process.Await with a limit of 1s: ", "6: process.Await with a limit of 2s: ", "7: p.Stop with a limit of 1s: "}},
		"sleeping process":  {"exec.Command(\"sleep\", \"60\")\nexec.CommandContext(ctx, \"sh\", \"-c\", \"echo; exec sleep 60\")\nexec.Command(\"cat\", \"sleepers\")", []string{"4: a process that sleeps: ", "5: a process that sleeps: "}},
		"formatted port":    {"net.Listen(\"tcp\", fmt.Sprintf(\":%d\", 8080))\nnet.Listen(\"tcp\", \"127.0.0.1:\"+strconv.Itoa(number))\nnet.Listen(\"tcp\", net.JoinHostPort(host, \"8080\"))\nnet.Listen(\"tcp\", address)\nnet.Listen(\"tcp\", fmt.Sprintf(\":%d\", get()))\nnet.Listen(\"tcp\", \"127.0.0.1:\"+strconv.Itoa(get()))", []string{"4: port 8080 may", "5: port 8082 may", "6: port 8080 may", "7: port 8083 may"}},
		"address":           {"net.ListenTCP(\"tcp\", &net.TCPAddr{Port: 8080})\na := net.UDPAddr{IP: ip, Port: number}\nnet.ListenUDP(\"udp\", &a)\nnet.ListenTCP(\"tcp\", &net.TCPAddr{Port: 0})\nreturn &net.TCPAddr{Port: 8080}", []string{"4: port 8080 may", "6: port 8082 may"}},
		"variable":          {"run(\"LISTEN=127.0.0.1:8080\", \"LISTEN=127.0.0.1:0\")\nstart(t, []string{\"LARDER_PORT=8080\"})\nc.Env = append(os.Environ(), \"HTTP_ADDR=:8080\", \"SUPPORT=8080\")\nc.Env = []string{\"LISTEN=:8081\"}\nt.Setenv(\"PORT\", \"8080\")", []string{"4: port 8080 may", "5: port 8080 may", "6: port 8080 may", "7: port 8081 may", "8: port 8080 may"}},
		"connection":        {"http.Get(\"http://127.0.0.1:8080/menu\")\nnet.Dial(\"tcp\", \"localhost:8080\")\nnet.Dial(\"tcp\", \"127.0.0.1:1\")\nhttp.Get(\"http://shop.example:8080\" + path)\nclient.Post(\"http://[::1]:8080/\"+path, kind, nil)\nhttptest.NewRequest(\"GET\", \"http://localhost:8080\", nil)\nhttp.Get(fmt.Sprintf(\"http://127.0.0.1:%d/%s\", get(), path))\nredis.NewClient(&redis.Options{Addr: \"localhost:6379\"})", []string{"4: port 8080 may", "5: port 8080 may", "8: port 8080 may", "11: port 6379 may"}},
		"server, set later": {"var s http.Server\ns.Addr = \":8081\"\ncfg.Addr = \":8081\"", []string{"5: port 8081 may"}},
		"exception":         {"time.Sleep(d) //testwaits:allow the service is slow", nil},
		"exception above":   {"// Some text.\n//testwaits:allow the service is slow\n// and says so\ntime.Sleep(d)\ntime.Sleep(d)", []string{"8: time.Sleep: "}},
		"on another line":   {"call() //testwaits:allow the service is slow\ntime.Sleep(d)", []string{"4: an exception without a finding: ", "5: time.Sleep: "}},
		"without a reason":  {"time.Sleep(d) //testwaits:allow", []string{"4: an exception without a reason: "}},
		"without a finding": {"//testwaits:allow the service is slow\ncall()", []string{"4: an exception without a finding: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := findingsOf(t, map[string]string{
				"a/a.go":                          "package a\n\nconst patience = time.Minute\n\nfunc b() { time.Sleep(time.Second) }\n",
				"a/b_test.go":                     "package a\n\nconst brief, sum = 5 * time.Second, brief + time.Second\nconst typed time.Duration = 5e9\nconst number, address = 8082, \"127.0.0.1:8083\"\n",
				"a/a_test.go":                     "package a\n\nfunc TestA(t *testing.T) {\n" + test.body + "\n}\n" + helpers,
				"internal/testkit/process/all.go": "package process\n\nconst Patience, Brief = time.Minute, 2 * time.Second\n\nfunc Await(t *testing.T, limit time.Duration) {}\n\nfunc (p *Process) Stop(within time.Duration) {}\n",
				"product/all.go":                  "package product\n\nfunc New(limit time.Duration) {}\n",
			})
			same := slices.EqualFunc(got, test.want, func(got, want string) bool { return strings.HasPrefix(got, "a/a_test.go:"+want) })
			if !same {
				t.Errorf("findings %q, want %q", got, test.want)
			}
		})
	}
}

// A name of a function literal outside of functions is no name of the package.
func TestFunctionLiteralsOfAPackage(t *testing.T) {
	t.Parallel()
	got := findingsOf(t, map[string]string{"a/a_test.go": `package a

const limit = time.Second

var wait = func() {
	limit := limit
	time.After(limit)
	limit = limit * 60
	time.After(limit)
}

var other = func(limit time.Duration) { time.After(limit) }

func TestA(t *testing.T) { time.After(limit) }
`})
	for i, want := range []string{"a/a_test.go:7: ", "a/a_test.go:14: "} {
		if len(got) != 2 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("findings %q, want 2, number %d in %s", got, i, want)
		}
	}
}

// Code that only tests use is checked like tests. Other code, generated folders and data are not.
func TestCheckedFiles(t *testing.T) {
	t.Parallel()
	const sleeps, pauses = "package a\n\nfunc a() { time.Sleep(d) }\n", "await page.waitForTimeout(200);\n"
	got := findingsOf(t, map[string]string{
		"a/a.go": sleeps, "a/a_test.go": sleeps, "internal/testkit/a/a.go": sleeps, "tools/bench/a/a.go": sleeps, "tools/bench/a/a_test.go": sleeps,
		".cache/a_test.go": sleeps, "a/testdata/a_test.go": sleeps,
		"tools/browser/a/a.mjs": pauses, "tools/browser/node_modules/a.mjs": pauses, "tools/api/a.mjs": pauses,
	})
	for i, want := range []string{"a/a_test.go:3: ", "internal/testkit/a/a.go:3: ", "tools/bench/a/a_test.go:3: ", "tools/browser/a/a.mjs:1: "} {
		if len(got) != 4 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("findings %q, want 4, number %d in %s", got, i, want)
		}
	}
}

func TestFindingsInBrowserScenarios(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"waitForTimeout":    {"await page.click('a');\nawait page.waitForTimeout(200);", []string{"2: a sleep: "}},
		"promise":           {"await new Promise((resolve) => setTimeout(resolve, 50));\nawait new Promise(r => {\n  setTimeout(r, 50);\n});", []string{"1: a sleep: ", "2: a sleep: "}},
		"timers/promises":   {"await setTimeout(50);", []string{"1: a sleep: "}},
		"no sleep":          {"setTimeout(() => element.open('dish'));\nawait page.waitForFunction(() => ready);", nil},
		"other sleeps":      {"import { setTimeout as sleep } from 'node:timers/promises';\nconst sleep = promisify(setTimeout);\nawait scheduler.wait(50);", []string{"1: a sleep: ", "2: a sleep: ", "3: a sleep: "}},
		"timeout":           {"await page.click('a', { timeout: 3e3 });\nawait page.click('a', {timeout: 60_000});\nawait page.click('a', { timeout: 0 });\nawait page.click('a', {\n  timeout: 5 * 1000,\n});\npage.setDefaultTimeout(5000);", []string{"1: a limit of 3s: ", "5: a limit of 5s: ", "7: a limit of 5s: "}},
		"named timeout":     {"const timeout = 5_000;\nconst limit = 20_000;\nf({ timeout });\nf({ signal: AbortSignal.timeout(timeout), timeout: limit });\nf({ timeout: unknown });", []string{"3: a limit of 5s: ", "4: a limit of 5s: "}},
		"race":              {"await new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 3000));\nsetTimeout(reject, 60_000);", []string{"1: a limit of 3s: "}},
		"eventually":        {"await eventually(async () => {\n  return f('a)', [1, 2]) > 3;\n}, 'it is shown', 3_000);\nawait eventually(() => f(1, 2, 3), `a`, 60_000);\nawait eventually(() => f(1, 2, 3), 'a');", []string{"1: a limit of 3s: "}},
		"port":              {"const port = 8081;\nserver.listen(8080, '127.0.0.1');\nserver.listen(port);\nserver.listen({ host, port: 8082 });\nserver.listen(0);\nserver.listen(given);\nawait fetch('http://127.0.0.1:8083/');", []string{"2: port 8080 may", "3: port port may", "4: port 8082 may", "7: port 8083 may"}},
		"exception":         {"await page.waitForTimeout(200); //testwaits:allow the browser reports no end", nil},
		"exception above":   {"//testwaits:allow the browser reports no end\n// of this\nawait page.waitForTimeout(200);", nil},
		"without a reason":  {"await page.waitForTimeout(200); //testwaits:allow ", []string{"1: an exception without a reason: "}},
		"without a finding": {"await page.click('a'); //testwaits:allow the browser is slow", []string{"1: an exception without a finding: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := findingsOf(t, map[string]string{"tools/browser/a.mjs": test.text})
			if !slices.EqualFunc(got, test.want, func(got, want string) bool { return strings.HasPrefix(got, "tools/browser/a.mjs:"+want) }) {
				t.Errorf("findings %q, want %q", got, test.want)
			}
		})
	}
}
